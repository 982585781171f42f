"""The league for people and machines: tables on a terminal, a page, Markdown, JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import coterie
from coterie.files.atomic import check_free, text_writer, write_set
from coterie.files.values import as_json
from coterie.metrics import Score
from coterie.metrics.scorer import FLOOR, NUMBERS
from coterie.metrics.scores import pool_tables, pooled_gap
from coterie.report import base
from coterie.studies.fits import REFERENCE
from coterie.studies.league import LEAST, SAME, Interval, League, Row, Standing
from coterie.studies.table import Table, escape, listing
from coterie.words.numbers import NOTHING, decimal, in_percent, reach, seconds, signed
from coterie.words.visible import visible

FORMAT = 2
"""Of the JSON; counts up when a field changes its meaning or goes."""
CURVES = "compare-calibration.svg"
NAMES = ("compare.json", "compare.html", "compare.md", CURVES)


class About(NamedTuple):
    """How a league was made: the command, its settings, and the folders that hold no data set."""

    command: str
    settings: Mapping[str, Any]
    passed_over: tuple[str, ...] = ()

    def words(self) -> list[tuple[str, str]]:
        """Write the settings as names and words: timeout, 600 seconds."""
        written = []
        for key, value in self.settings.items():
            name, _, unit = key.partition("_")
            text = f"{value:g}" if isinstance(value, float) else str(value)
            text = "the model's own" if value is None else text
            written.append((name, f"{text} {unit}".strip()))
        return written


# ---- numbers and sentences


def points(difference: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign: +1.25."""
    return signed(None if difference is None else 100 * difference)


def interval(difference: Interval | None) -> str:
    """Write an interval in percentage points: −0.50 to +2.10."""
    if difference is None or difference.low is None or difference.high is None:
        return NOTHING
    return reach(100 * difference.low, 100 * difference.high)


def kind(difference: Interval | None) -> str:
    """Say whether an interval lies above zero (better), below (worse), or holds it (even)."""
    if difference is None or difference.low is None or difference.high is None:
        return "even"
    return "better" if difference.low > 0 else "worse" if difference.high < 0 else "even"


def explanation(league: League) -> str:
    """Say over what the means run and how to read them."""
    n_common, n_known = len(league.common), len(league.datasets) - len(league.without_truth)
    scored = f"{n_common} data set{'' if n_common == 1 else 's'}"
    if n_common != n_known:
        scored = f"the {scored}, of {n_known} with a truth, on which all models have a score"
    return (
        f"Means over {scored}, each counting once. Accuracies in %, ties shared; differences to "
        f"the vote ({REFERENCE}) in percentage points, on the same items, with paired bootstrap "
        "intervals."
    )


def leaders(league: League, measure: str = "accuracy") -> set[str]:
    """Name the models with the best mean of a measure: of losses and errors the lowest."""
    means = {s.model: getattr(s, measure) for s in league.standings if s.accuracy is not None}
    pick = min if measure in ("log_loss", "calibration_error") else max
    best = pick(means.values(), default=0.0)
    return {model for model, mean in means.items() if abs(mean - best) <= SAME}


def headline(league: League) -> str:
    """Say in a sentence who leads, and whether that is more than chance."""
    first = [s for s in league.standings if s.model in leaders(league)]
    if not first:
        return "No model was scored on any data set."
    names = " and ".join(s.model for s in first)
    lead = f"Highest mean accuracy: {names}, {in_percent(first[0].accuracy)} %"
    difference = first[0].difference
    if difference is None:
        return f"{lead}; no model is better than the vote on average."
    by = f"{points(difference.mean)} points against the vote"
    if difference.low is None:
        return f"{lead}, {by}."
    holds = "which holds zero" if difference.low <= 0 else "which lies above zero"
    return f"{lead}, {by} (95 % interval {interval(difference)}, {holds})."


# ---- tables


NUMBERS_OF = ["accuracy", "vs vote", "95 % interval", "balanced", "log loss", "calibration"]


def _numbers(of: Score | Standing, difference: Interval | None) -> list[str]:
    return [
        in_percent(of.accuracy),
        points(difference and difference.mean),
        interval(difference),
        in_percent(of.balanced_accuracy),
        decimal(of.log_loss, 3),
        decimal(of.calibration_error, 3),
    ]


def standing_table(league: League) -> Table:
    """One row per model: means over the common data sets."""
    header = ["model", "scored", *NUMBERS_OF, "seconds", "worst against the vote"]
    rows = []
    for s in league.standings:
        scored = f"{s.scored}" if not s.failed else f"{s.scored} of {s.scored + s.failed}"
        worst = NOTHING if s.worst is None else f"{points(s.worst[1])} on {s.worst[0]}"
        rows.append([s.model, scored, *_numbers(s, s.difference), seconds(s.seconds), worst])
    return Table("On average", header, rows, left=(0, len(header) - 1))


def row_table(league: League) -> Table:
    """One row per data set and model; data sets without a truth are left out."""
    header = ["data set", "model", "items", *NUMBERS_OF, "coteries", "seconds"]
    shown = [row for row in league.rows if row.dataset not in league.without_truth]
    rows = []
    for row in shown:
        cells = [row.dataset, row.model, NOTHING, row.status, *[NOTHING] * 7]
        if row.score is not None:
            cells[2:9] = [f"{row.score.items:,}", *_numbers(row.score, row.difference)]
            cells[9:] = [decimal(row.coteries), seconds(row.seconds)]
        rows.append(cells)
    table = Table("Data set by data set", header, rows, left=(0, 1))
    return table.without("coteries") if all(row.coteries is None for row in shown) else table


def details(league: League) -> list[Table]:
    """Everything but the means: who wins beyond chance, every row, what failed, warnings."""
    beyond, failed = [], []
    for model in league.models:
        rows = league.of(model=model)
        sides = [_beyond_chance(rows, side) or NOTHING for side in ("better", "worse")]
        beyond += [[model, *sides]] if sides != [NOTHING, NOTHING] else []
    why = groupby(league.failures, lambda row: (row.dataset, row.status, row.reason))
    for (dataset, status, reason), several in why:
        models = [row.model for row in several]
        who = "all" if len(models) == len(league.models) else ", ".join(models)
        failed.append([dataset, who, f"{status}: {reason}" if reason else status])
    notes = [[row.dataset, row.model, note] for row in league.rows for note in row.notes]
    header = ["model", "better on", "worse on"]
    tables = (
        Table("Better or worse than the vote, beyond chance", header, beyond, (0, 1, 2)),
        row_table(league),
        Table("Not scored", ["data set", "models", "why"], failed, (0, 1, 2)),
        Table("Warnings", ["data set", "model", "warning"], notes, (0, 1, 2)),
    )
    return [table for table in tables if table.rows]


def _beyond_chance(rows: Sequence[Row], side: str) -> str:
    """Name the data sets whose interval lies on this side of zero, the furthest first."""
    found = [(abs(row.difference.mean), row.dataset) for row in rows
             if row.difference is not None and kind(row.difference) == side]  # fmt: skip
    return ", ".join(dataset for _, dataset in sorted(found, key=lambda one: (-one[0], one[1])))


def pooled(league: League) -> dict[str, pd.DataFrame]:
    """Pool the bins of the common data sets, each set counting once, by model."""
    found = {}
    for model in league.models:
        rows = [league.row(dataset, model) for dataset in league.common]
        tables = [r.score.calibration for r in rows if r.score is not None and r.score.items]
        if tables:
            found[model] = pool_tables(tables)
    return found


def pooled_table(league: League) -> Table:
    """One row per bin, and one of the errors: how often each model is right when so sure."""
    tables = pooled(league)
    bins = {
        tuple(bin_)
        for t in tables.values()
        for bin_ in t.loc[t["items"] > 0, ["low", "high"]].to_numpy()
    }
    rows = []
    for low, high in sorted(bins):
        cells = [table[table["low"] == low].iloc[0] for table in tables.values()]
        said = [
            f"{in_percent(one['accuracy'])} ({100 * one['weight']:.0f} %)" if one["items"] else "–"
            for one in cells
        ]
        rows.append([f"{100 * low:.0f} to {100 * high:.0f} %", *said])
    errors = [["error", *(decimal(pooled_gap(table), 3) for table in tables.values())]]
    return Table("Pooled calibration", ["sure", *tables], [*rows, *(errors if rows else [])])


# ---- the page


def scale(ends: Sequence[float]) -> tuple[float, float, float]:
    """Give the ends of a scale that holds these values and zero, and the step of its ticks."""
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    step = next((s for s in (0.5, 1, 2, 5, 10, 20, 50) if (high - low) * 100 / s <= 6), 100) / 100
    # Whole steps outwards, at least one to each side: zero is never at the edge.
    below = min(-1, math.floor(round(low / step, 9)))
    above = max(1, math.ceil(round(high / step, 9)))
    return round(below * step, 9), round(above * step, 9), step


def make_pages(league: League, about: About) -> dict[str, str]:
    """Write the league as HTML that loads nothing and needs no script, Markdown, and a picture.

    Every name and message is escaped.
    """
    differences = {
        model: [(row.dataset, row.difference) for row in league.of(model=model) if row.difference]
        for model in league.models
    }
    ends = [
        end for pairs in differences.values() for _, one in pairs for end in one if end is not None
    ]
    low, high, step = scale(ends)
    asked = (details, explanation, headline, leaders, pooled_table, row_table, standing_table)
    names: dict[str, Any] = {function.__name__: function for function in asked}
    names |= {"league": league, "about": about, "version": coterie.__version__, "picture": CURVES}
    names |= {"reference": REFERENCE, "least": LEAST, "floor": FLOOR, "loss": -math.log(FLOOR)}
    names |= {
        "charts": {
            model: sorted(pairs, key=lambda pair: -pair[1].mean)
            for model, pairs in differences.items()
            if pairs
        },
        "ends": (low, high),
        "ticks": [low + step * k for k in range(round((high - low) / step) + 1)],
        "curves": [
            (model, pooled_gap(table), table[table["items"] > 0].to_dict("records"))
            for model, table in pooled(league).items()
        ],
        "alone": False,  # the picture stands in the page
    }
    filters = (in_percent, decimal, seconds, points, interval, kind, escape, visible, listing)

    def fill(template: str, *styles: str, **more: Any) -> str:
        return base.make_page(
            template, ["coterie.studies"], styles=styles, filters=filters, **names | more
        )

    page, picture = fill("league.html", "study.css", "league.css"), fill("curves.svg", alone=True)
    return {"compare.html": page, "compare.md": fill("league.md"), CURVES: picture}


def make_record(league: League, about: About) -> dict[str, Any]:
    """Give everything there is: settings, one entry per model, one per data set and model.

    Accuracies are shares between 0 and 1; a number that does not exist is null.
    """
    standings = [vars(one).copy() for one in league.standings]
    for one in standings:
        one["difference"] = one["difference"] and one["difference"]._asdict()
        if one["worst"] is not None:
            one["worst"] = {"dataset": one["worst"][0], "difference": one["worst"][1]}
    rows = []
    for row in league.rows:
        numbers = dict.fromkeys(NUMBERS) if row.score is None else row.score.numbers()
        difference = row.difference and row.difference._asdict()
        rows.append({name: getattr(row, name) for name in Row._fields[:4]} | numbers)
        rows[-1] |= {"coteries": row.coteries, "seconds": row.seconds}
        rows[-1] |= {"difference": difference, "notes": list(row.notes)}
    return {
        "format": FORMAT,
        "version": coterie.__version__,
        "command": about.command,
        "settings": dict(about.settings),
        "reference": REFERENCE,
        "log_loss_floor": FLOOR,
        "models": list(league.models),
        "datasets": list(league.datasets),
        "common": list(league.common),
        "without_truth": list(league.without_truth),
        "passed_over": list(about.passed_over),
        "standings": standings,
        "pooled_calibration": {
            model: {"error": pooled_gap(table), "bins": table.dropna().to_dict("records")}
            for model, table in pooled(league).items()
        },
        "rows": rows,
    }


def check_target(out: Path, *, force: bool) -> None:
    """Refuse, before any work is done, to write where an earlier league lies."""
    check_free(out, [out / name for name in NAMES], force=force)


def write_league(league: League, about: About, out: Path, *, force: bool = True) -> list[Path]:
    """Write ``compare.json``, ``compare.html``, ``compare.md`` and its picture, all or none."""
    texts = {"compare.json": as_json(make_record(league, about)), **make_pages(league, about)}
    writers = {out / name: text_writer(texts[name]) for name in NAMES}
    write_set(out, writers, force=force)
    return list(writers)
