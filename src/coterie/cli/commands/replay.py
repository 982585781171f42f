"""coterie replay: its options."""

from __future__ import annotations

from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import Datasets, Force, Labelled, Out, Told, Truth, reads, split


@guarded
@reads
def replay(
    path: Labelled,
    truth: Truth = None,
    only: Datasets = None,
    duplicates: Told = None,
    policies: Annotated[
        str, typer.Option(help="Who chooses the labels, separated by commas.")
    ] = "random,balanced,uncertainty,information",
    start: Annotated[
        int, typer.Option(min=0, help="Labels of each item that are known at the start.")
    ] = 1,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Labels asked for at once (default: 2 % of all).")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Replays of each policy.")] = 3,
    model: Annotated[
        str, typer.Option("--model", "-m", help="The model that is fitted after every batch.")
    ] = "quick",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes at once.")] = 1,
    out: Out = None,
    force: Force = False,
) -> None:
    """Prove a policy on real labels: reveal them as it asks for them, and score every batch."""
    from coterie.cli import replay as command
    from coterie.studies.replay import Settings

    command.run(
        path,
        truth=truth,
        only=split(only),
        policies=split(policies) or [],
        seeds=seeds,
        settings=Settings(start, batch, model, duplicates=duplicates),
        jobs=jobs,
        out=out,
        force=force,
    )
