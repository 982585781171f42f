"""coterie plan: a saved result as what to do next."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.markup import escape

from coterie.assign.plan import Plan, make_plan
from coterie.cli import show
from coterie.errors import DataError
from coterie.files.atomic import check_free, write_set
from coterie.io.tables import table_of_file
from coterie.io.write import check_format, table_writer, targets
from coterie.posterior import load
from coterie.words.visible import quoted

NAMES = ("tasks", "people", "forecast")


def run(
    source: Path,
    budget: float,
    *,
    annotators: list[str] | None,
    costs: Path | None,
    target: float,
    most_per_item: int | None,
    out: Path | None,
    format: str,
    force: bool,
) -> None:
    """Plan what to do after a saved run; say it, and write the tables."""
    check_format(format)
    posterior = load(source / "run.coterie" if source.is_dir() else source)
    paths = {} if out is None else targets(out, NAMES, format)
    if out is not None:
        check_free(out, paths.values(), force=force)
    cost = None if costs is None else read_costs(costs)
    plan = make_plan(
        posterior, budget, annotators=annotators, cost=cost, target=target,
        most_per_item=most_per_item,
    )  # fmt: skip
    if out is not None:
        tables = tables_of(plan)
        writers = {path: table_writer(tables[name], format) for name, path in paths.items()}
        write_set(out, writers, force=force)
    console = show.console()
    for line in plan.lines:
        console.print(escape(line), soft_wrap=True)
    if out is not None:
        show.files(list(paths.values()))


def tables_of(plan: Plan) -> dict[str, pd.DataFrame]:
    """Give the tables of a plan by the names of their files."""
    return {"tasks": plan.tasks, "people": plan.people, "forecast": plan.forecast.curve}


def read_costs(path: Path) -> dict[str, float]:
    """Read what a label of each annotator costs: a file of two columns, annotator and cost."""
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
        name = str(who.values[l])
        try:
            price = float(cost.values[c])
        except ValueError:
            raise DataError(
                f"the cost {quoted(cost.values[c])} in {table.row(row)} is not a number"
            ) from None
        if found.setdefault(name, price) != price:
            raise DataError(f"{table.row(row)} gives {name!r} another cost; keep one row of each")
    return found
