"""coterie plan: a saved result as what to do next."""

from __future__ import annotations

from pathlib import Path

from typer import Option

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Format, Out, Saved, a_path, split


@guarded
def plan(
    run: Saved,
    budget: float = Option(
        ..., "--budget", "-b", min=0, help="What may be spent: labels, or money by costs."
    ),
    annotators: str | None = Option(
        None,
        help="Who is available, separated by commas, new people too (default: all who have"
        " labels).",
    ),
    costs: Path | None = a_path(
        None,
        "--costs",
        help="What a label costs: a table of annotators and costs. Those who are not in the run"
        " are new people who can be asked.",
    ),
    target: float = Option(0.95, min=0.01, max=1, help="The accuracy that is wanted."),
    most_per_item: int | None = Option(None, min=1, help="Labels to ask for of one item at most."),
    out: Out = None,
    format: Format = "csv",
    force: Force = False,
) -> None:
    """Say what to do next: whom to ask about what, what it will bring, what to do about people."""
    from coterie.assign.plan import make_plan
    from coterie.cli import show
    from coterie.files.atomic import check_free, write_set
    from coterie.io.write import check_format, table_writer, targets
    from coterie.posterior import load

    check_format(format)
    posterior = load(run)
    paths = {} if out is None else targets(out, ("tasks", "people", "forecast"), format)
    if out is not None:
        check_free(out, paths.values(), force=force)
    found = make_plan(
        posterior,
        budget,
        annotators=split(annotators),
        cost=None if costs is None else read_costs(costs),
        target=target,
        most_per_item=most_per_item,
    )
    if out is not None:
        tables = zip(paths.values(), (found.tasks, found.people, found.forecast.curve), strict=True)
        write_set(out, {path: table_writer(one, format) for path, one in tables}, force=force)
    for line in found.lines:
        show.line(line)
    show.files(list(paths.values()))


def read_costs(path: Path) -> dict[str, float]:
    """Read what a label of each annotator costs: a file of two columns, annotator and cost."""
    from coterie.errors import DataError
    from coterie.io.tables import table_of_file
    from coterie.words.visible import quoted

    table = table_of_file(path)
    if len(table.columns) != 2:
        raise DataError(
            f"{path} has {len(table.columns)} columns; expected two, annotator and cost"
        )
    who, cost = table.read([0, 1])
    found: dict[str, float] = {}
    for row, (l, c) in enumerate(zip(who.codes.tolist(), cost.codes.tolist(), strict=True)):
        if l < 0 or c < 0:
            raise DataError(f"{table.row(row)} has no annotator or no cost; fill in both")
        name, told = str(who.values[l]), cost.values[c]
        try:
            price = float(told)
        except ValueError:
            raise DataError(
                f"the cost {quoted(told)} in {table.row(row)} is not a number"
            ) from None
        if found.setdefault(name, price) != price:
            raise DataError(f"{table.row(row)} gives {name!r} another cost; keep one row of each")
    return found
