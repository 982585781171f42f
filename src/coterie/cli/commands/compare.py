"""coterie compare: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import (
    Datasets,
    Force,
    Labelled,
    Seed,
    Told,
    Truth,
    a_path,
    reads,
    split,
)


@guarded
@reads
def compare(
    path: Labelled,
    models: Annotated[
        str | None,
        typer.Option(help="Any of {models}, or module:Class, separated by commas (default: all)."),
    ] = None,
    truth: Truth = None,
    only: Datasets = None,
    out: Annotated[
        Path | None,
        a_path(
            "--out",
            "-o",
            help="Folder for JSON, a page and Markdown, or to go on in.",
        ),
    ] = None,
    duplicates: Told = None,
    time: Told = None,
    seed: Seed = 0,
    sweeps: Annotated[
        int | None,
        typer.Option(help="Sweeps of sampling models at most, 30 % burn-in (default: their own)."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one model on one data set.")] = 600,
    memory: Annotated[float, typer.Option(help="Gigabytes for the same (Linux).")] = 4,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Processes at once (default: one per core).")
    ] = None,
    force: Force = False,
) -> None:
    """Set models side by side on data with a truth: a league against the vote."""
    from coterie.cli import compare as command

    command.run(
        command.Data(path, truth, split(only), duplicates, time),
        command.Field(split(models), seed, sweeps),
        command.Means(timeout, memory, jobs),
        command.Target(out, force),
    )
