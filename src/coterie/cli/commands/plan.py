"""coterie plan: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Format, Out, a_path, place, split


@guarded
def plan(
    run: Annotated[
        Path,
        typer.Argument(
            help="A run.coterie, or the folder that holds one.", parser=place, metavar="PATH"
        ),
    ],
    budget: Annotated[
        float,
        typer.Option("--budget", "-b", min=0, help="What may be spent: labels, or money by costs."),
    ],
    annotators: Annotated[
        str | None,
        typer.Option(
            help="Who is available, separated by commas, new people too (default: all who have"
            " labels)."
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        a_path(
            "--costs",
            help="What a label costs: a table of annotators and costs. Those who are not in the run"
            " are new people who can be asked.",
        ),
    ] = None,
    target: Annotated[
        float, typer.Option(min=0.01, max=1, help="The accuracy that is wanted.")
    ] = 0.95,
    most_per_item: Annotated[
        int | None, typer.Option(min=1, help="Labels to ask for of one item at most.")
    ] = None,
    out: Out = None,
    format: Format = "csv",
    force: Force = False,
) -> None:
    """Say what to do next: whom to ask about what, what it will bring, what to do about people."""
    from coterie.cli import plan as command

    command.run(
        run,
        budget,
        annotators=split(annotators),
        costs=costs,
        target=target,
        most_per_item=most_per_item,
        out=out,
        format=format,
        force=force,
    )
