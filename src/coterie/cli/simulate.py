"""coterie simulate: a synthetic crowd as files, with its truth and its groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Format, Seed, a_path, numbers


@guarded
def simulate(
    out: Annotated[Path, a_path("--out", "-o", help="Folder for the files.")],
    scenario: Annotated[
        str,
        typer.Argument(
            help="mixed, experts, novices, biased, spammers, adversaries, unsure, copycats, "
            "easy-hard, kinds or drifting."
        ),
    ] = "mixed",
    items: Annotated[int, typer.Option(help="Number of items.")] = 300,
    annotators: Annotated[int, typer.Option(help="Number of annotators.")] = 30,
    classes: Annotated[int, typer.Option(help="Number of classes.")] = 3,
    labels_per_item: Annotated[
        int | None, typer.Option(help="Labels of each item; 6 by default.")
    ] = None,
    sparsity: Annotated[
        float | None, typer.Option(help="Or: the share of pairs without a label.")
    ] = None,
    class_balance: Annotated[
        str | None, typer.Option(help="Proportions of the classes: 0.7,0.2,0.1")
    ] = None,
    seed: Seed = 0,
    format: Format = "csv",
    force: Force = False,
) -> None:
    """Write a synthetic crowd: labels, and the truth and groups behind them."""
    from coterie import simulation
    from coterie.cli import show
    from coterie.files.atomic import check_free, write_set
    from coterie.io.write import other_formats, table_writer, targets

    balance = None if class_balance is None else numbers(class_balance)
    paths = targets(out, ("labels", "truth", "groups"), format)
    others = other_formats(paths.values())
    check_free(out, [*paths.values(), *others], force=force)
    crowd = simulation.simulate(
        scenario,
        items=items,
        annotators=annotators,
        classes=classes,
        labels_per_item=labels_per_item,
        sparsity=sparsity,
        class_balance=balance,
        random_state=seed,
    )
    labels = crowd.annotations.to_frame()
    if crowd.kinds is not None:  # beside the labels, where --kinds looks for them
        labels = labels.assign(kind=labels["item"].map(crowd.kinds))
    truth, groups = crowd.truth.rename("label").reset_index(), crowd.groups.reset_index()
    tables = zip(paths.values(), (labels, truth, groups), strict=True)
    write_set(out, {path: table_writer(one, format) for path, one in tables}, others, force=force)
    show.console().print(str(crowd), markup=False, soft_wrap=True)
    show.files(list(paths.values()))
