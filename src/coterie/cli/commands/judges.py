"""coterie judges: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import (
    Annotators,
    Anonymise,
    Classes,
    Duplicates,
    ExtraAnswers,
    Force,
    From,
    Keep,
    Model,
    Option,
    Out,
    Question,
    Seed,
    Threshold,
    Title,
    Truth,
    Workflow,
    a_path,
    split,
)
from coterie.models.registry import DEFAULT


@guarded
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
    from_: From = None,
    question: Question = None,
    option: Option = None,
    keep: Keep = None,
    anonymise: Anonymise = False,
    annotators: Annotators = None,
    workflow: Workflow = None,
    item: Annotated[str | None, typer.Option(help="Column or field of the items.")] = None,
    annotator: Annotated[str | None, typer.Option(help="Column of the judges.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the verdicts.")] = None,
    threshold: Threshold = None,
    classes: Classes = None,
    extra_answers: ExtraAnswers = None,
    duplicates: Duplicates = "error",
    out: Out = None,
    title: Title = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Look at a panel of LLM judges: its worth, copies, biases, whom to keep, how far to trust."""
    from coterie.cli import judges as command

    reading = {
        "gold": gold,
        "format": from_,
        "question": question,
        "option": option,
        "keep": split(keep) or (),
        "anonymise": anonymise,
        "annotators": annotators,
        "workflow": workflow,
        "item": item,
        "annotator": annotator,
        "label": label,
        "threshold": threshold,
        "classes": split(classes),
        "extra_answers": split(extra_answers),
        "duplicates": duplicates,
    }
    asked = command.Asked(model, seed, truth, prices, tolerance, columns, first)
    command.run(panel, reading, asked, command.Target(out, title, force))
