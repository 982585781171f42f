"""coterie judges: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Model, Only, Out, Seed, Title, Truth, a_path, reads
from coterie.io.reading import Reading
from coterie.models.registry import DEFAULT

ASKED = Only(
    "from_ question option keep anonymise annotators workflow item annotator label threshold"
    " classes extra_answers duplicates",
    {
        "item": "Column or field of the items.",
        "annotator": "Column of the judges.",
        "label": "Column of the verdicts.",
    },
)


@guarded
@reads
def judges(
    panel: Annotated[
        list[str],
        typer.Argument(
            help="Verdicts: an evaluation's export (file, folder, several), or a table of labels."
        ),
    ],
    model: Model = DEFAULT,
    gold: Annotated[
        str | None, typer.Option(help="Known labels, clamped: a file, or a column of PANEL.")
    ] = None,
    truth: Truth = None,
    prices: Annotated[
        str | None, typer.Option(help="What judges cost: gpt-4=10,claude=8 (others cost 1).")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, max=1, help="Share of items that a smaller panel may change.")
    ] = 0.05,
    columns: Annotated[
        Path | None,
        a_path("--columns", help="A table of items with numbers, such as a length."),
    ] = None,
    first: Annotated[
        str | None, typer.Option(help="The verdict for what is shown first (default: the lower).")
    ] = None,
    *,
    reading: Annotated[Reading, ASKED],
    out: Out = None,
    title: Title = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Look at a panel of LLM judges: its worth, copies, biases, whom to keep, how far to trust."""
    from coterie.cli import judges as command

    asked = command.Asked(model, seed, truth, prices, tolerance, columns, first)
    command.run(panel, reading, asked, command.Target(out, title, force))
