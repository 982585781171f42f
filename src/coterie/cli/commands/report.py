"""coterie report: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Image, Items, Text, Title, Truth, a_path, place


@guarded
def report(
    run: Annotated[
        Path,
        typer.Argument(
            help="A run.coterie, or the folder that holds one.", parser=place, metavar="PATH"
        ),
    ],
    out: Annotated[
        Path | None,
        a_path("--out", "-o", help="The page; by default beside the run."),
    ] = None,
    truth: Truth = None,
    title: Title = None,
    text: Text = None,
    image: Image = None,
    items: Items = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Labels that can be asked for: says what to do next."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a saved result as a page to pass around: one HTML file that needs nothing else."""
    from coterie.cli import report as command
    from coterie.cli.item_columns import Beside

    command.run(run, out, truth, title, force, Beside(text, image, items), budget)
