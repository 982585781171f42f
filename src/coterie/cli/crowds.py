"""Crowds to try things on: coterie simulate and coterie demo make them, coterie datasets lists."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from typer import Argument, Option

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Format, Model, Out, Seed, a_path, numbers
from coterie.models.registry import DEFAULT, make_model


@guarded
def simulate(
    out: Path = a_path(..., "--out", "-o", help="Folder for the files."),
    scenario: str = Argument(
        "mixed",
        help="mixed, experts, novices, biased, spammers, adversaries, unsure, copycats, "
        "easy-hard, kinds or drifting.",
    ),
    items: int = Option(300, help="Number of items."),
    annotators: int = Option(30, help="Number of annotators."),
    classes: int = Option(3, help="Number of classes."),
    labels_per_item: int | None = Option(None, help="Labels of each item; 6 by default."),
    sparsity: float | None = Option(None, help="Or: the share of pairs without a label."),
    class_balance: str | None = Option(None, help="Proportions of the classes: 0.7,0.2,0.1"),
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


@guarded
def demo(model: Model = DEFAULT, out: Out = None, seed: Seed = 0, force: Force = False) -> None:
    """Aggregate a built-in synthetic crowd whose truth is known, and show the result."""
    from coterie import simulation
    from coterie.cli import results, show
    from coterie.metrics import adjusted_rand_index
    from coterie.models.majority import score_beside_vote

    estimator = make_model(model, random_state=seed)
    paths = results.places(out, estimator, "csv", force=force)
    crowd = simulation.simulate("mixed", annotators=60, labels_per_item=15, random_state=seed)
    show.console().print(f"A synthetic crowd: {crowd.annotations.describe()}")
    start = perf_counter()
    posterior = estimator.fit(crowd.annotations).posterior_
    took = perf_counter() - start
    scored = score_beside_vote(posterior, crowd.truth)
    scores = scored.by_model(posterior.model)
    record = {
        **results.describe(posterior, took, seed=seed),
        "scores": scored.own.numbers(),
        "input": {"simulated": "mixed", **results.sizes(crowd.annotations)},
    }
    with results.keeping(posterior, scores):
        results.write(posterior, paths, record, scored, force=force)
    remark = ""
    if posterior.abilities.coteries:
        found = posterior.annotators().set_index("annotator")["coterie"].dropna()
        groups = ", ".join(f"{n} {name}" for name, n in crowd.groups.value_counts().items())
        index = adjusted_rand_index(found, crowd.groups)
        remark = f"Planted: {groups}; adjusted Rand index of the coteries {index:.2f}"
        remark += " (1: the same)."
    show.result(posterior, scores, list(paths.values()), remark)


@guarded
def datasets() -> None:
    """List the real data sets that coterie can load, with licence and citation."""
    from coterie.cli import show
    from coterie.datasets import describe

    out, frame = show.console(), describe()
    show.print_frame(frame[["name", "items", "annotators", "labels", "classes"]], "Data sets", out)
    for row in frame.itertuples():
        out.print()
        out.print(f"{row.name}: {row.note}", markup=False, soft_wrap=True)
        out.print(f"  licence: {row.licence}", markup=False, soft_wrap=True)
        out.print(f"  cite: {row.citation}", markup=False, soft_wrap=True)
    out.print()
    out.print('In Python: coterie.datasets.load("rte")', markup=False)
