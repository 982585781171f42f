"""The commands and their options. Everything heavy is imported inside the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.version import __version__

app = typer.Typer(
    name="coterie",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Labels you can trust from noisy annotators, and the groups among them.",
)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


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


Model = Annotated[str, typer.Option("--model", "-m", help="majority or ds.")]
Seed = Annotated[int, typer.Option("--seed", help="Same seed, same result.")]


@app.command()
@guarded
def aggregate(
    labels: Annotated[str, typer.Argument(help="CSV, TSV (.gz too), Parquet, JSONL; - reads CSV.")],
    model: Model = "ds",
    gold: Annotated[
        str | None, typer.Option(help="Known labels, clamped: a file, or a column of LABELS.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="True labels that only score the result: a file.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the results.")] = None,
    item: Annotated[str | None, typer.Option(help="Column of the items.")] = None,
    annotator: Annotated[str | None, typer.Option(help="Column of the annotators.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels.")] = None,
    classes: Annotated[
        str | None, typer.Option(help="The possible truths, separated by commas.")
    ] = None,
    extra_answers: Annotated[
        str | None, typer.Option(help="Answers that are never true: unsure,skip")
    ] = None,
    duplicates: Annotated[
        str,
        typer.Option(help="An annotator's repeated labels of an item: error, first, last, keep."),
    ] = "error",
    seed: Seed = 0,
    format: Annotated[str, typer.Option("--format", help="csv, parquet or json.")] = "csv",
    force: Annotated[bool, typer.Option("--force", help="Overwrite earlier results.")] = False,
) -> None:
    """Turn labels into a consensus: one row an item, one row an annotator."""
    from coterie.cli import aggregate as command

    columns = command.Columns(item, annotator, label)
    vocabulary = command.Vocabulary(_split(classes), _split(extra_answers), duplicates)
    command.run(
        labels,
        columns,
        vocabulary,
        command.Known(gold, truth),
        command.Job(model, seed, out, format, force),
    )


@app.command()
@guarded
def demo(model: Model = "ds", seed: Seed = 0) -> None:
    """Aggregate a built-in synthetic crowd whose truth is known, and show the result."""
    from coterie.cli import demo as command

    command.run(model, seed)


def _split(words: str | None) -> list[str] | None:
    return None if words is None else [word.strip() for word in words.split(",") if word.strip()]
