"""The commands of the command line, by name: their options are in commands/, a file each."""

from __future__ import annotations

from typing import Annotated

import typer

from coterie.cli.commands.aggregate import aggregate
from coterie.cli.commands.demo import demo
from coterie.cli.commands.judges import judges
from coterie.cli.commands.reproduce import reproduce
from coterie.cli.compare import compare
from coterie.cli.datasets import datasets
from coterie.cli.export import export
from coterie.cli.options import Commands, ListsModels
from coterie.cli.plan import plan
from coterie.cli.replay import replay
from coterie.cli.report import report
from coterie.cli.simulate import simulate
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
app.command(cls=ListsModels)(aggregate)
app.command(cls=ListsModels)(demo)
app.command()(simulate)
app.command()(datasets)
app.command(cls=ListsModels)(compare)
app.command()(report)
app.command()(plan)
app.command()(replay)
app.command()(export)
app.command(cls=ListsModels)(judges)
app.command(
    hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)(reproduce)
