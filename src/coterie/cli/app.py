"""The commands of the command line, by name; each has its options and its work in its file."""

from __future__ import annotations

from typing import Annotated

import typer

from coterie.cli.aggregate import aggregate
from coterie.cli.compare import compare
from coterie.cli.crowds import datasets, demo, simulate
from coterie.cli.export import export
from coterie.cli.guard import complain
from coterie.cli.judges import judges
from coterie.cli.options import Commands, ListsModels
from coterie.cli.plan import plan
from coterie.cli.replay import replay
from coterie.cli.report import report
from coterie.version import __version__

app = typer.Typer(
    name="coterie",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Labels you can trust from noisy annotators, and the groups among them.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coterie {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


# in the order in which the help lists them
for command in (aggregate, demo, simulate, datasets, compare, report, plan, replay, export, judges):
    lists_models = command in (aggregate, demo, compare, judges)
    app.command(cls=ListsModels if lists_models else None)(command)


@app.command(
    hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def reproduce() -> None:
    """Say where the paper's tables and figures are made."""
    complain(
        "Error",
        "the paper's tables and figures are not made by the package; "
        "take the project's source and run: make paper",
    )
    raise typer.Exit(2)
