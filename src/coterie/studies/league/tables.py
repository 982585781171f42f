"""The league as tables and sentences, the same on a terminal, in Markdown and on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby

from coterie.metrics.scorer import FLOOR
from coterie.studies.league.bootstrap import LEAST, Interval
from coterie.studies.league.league import SAME, League, Row, Standing
from coterie.studies.league.lineup import REFERENCE
from coterie.studies.table import Table
from coterie.words.numbers import NOTHING, decimal, in_percent, reach, seconds, signed

UNITS = {"timeout_seconds": ("timeout", "seconds"), "memory_gigabytes": ("memory", "gigabytes")}
"""Settings whose names in a record end in their unit: what people read instead."""

BEYOND = "Better or worse than the vote, beyond chance"


def points(difference: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign: +1.25."""
    return signed(None if difference is None else 100 * difference)


def gain(difference: Interval | None) -> str:
    """Write the mean of a difference in percentage points: +1.25."""
    return points(None if difference is None else difference.mean)


def interval(difference: Interval | None) -> str:
    """Write an interval in percentage points: −0.50 to +2.10."""
    if difference is None or difference.low is None or difference.high is None:
        return NOTHING
    return reach(100 * difference.low, 100 * difference.high)


def settings(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Write settings as names and words.

    Examples
    --------
    >>> settings({"sweeps": None, "timeout_seconds": 600.0})
    [('sweeps', "the model's own"), ('timeout', '600 seconds')]
    """
    written = []
    for key, value in values.items():
        name, unit = UNITS.get(key, (key, ""))
        text = "the model's own" if value is None else str(value)
        text = f"{value:g}" if isinstance(value, float) else text
        written.append((name, f"{text} {unit}".strip()))
    return written


def standing_table(league: League) -> Table:
    """One row per model: means over the common data sets."""
    header = [
        "model", "scored", "accuracy", "vs vote", "95 % interval", "balanced", "log loss",
        "calibration", "seconds", "worst against the vote",
    ]  # fmt: skip
    rows = [_standing_cells(s) for s in league.standings]
    return Table("On average", header, rows, left=(0, len(header) - 1))


def _standing_cells(s: Standing) -> list[str]:
    return [
        s.model,
        f"{s.scored}" if not s.failed else f"{s.scored} of {s.scored + s.failed}",
        in_percent(s.accuracy),
        gain(s.difference),
        interval(s.difference),
        in_percent(s.balanced_accuracy),
        decimal(s.log_loss, 3),
        decimal(s.calibration_error, 3),
        seconds(s.seconds),
        NOTHING if s.worst is None else f"{points(s.worst[1])} on {s.worst[0]}",
    ]


def row_table(league: League) -> Table:
    """One row per data set and model; data sets without a truth are left out."""
    header = [
        "data set", "model", "items", "accuracy", "vs vote", "95 % interval", "balanced",
        "log loss", "calibration", "coteries", "seconds",
    ]  # fmt: skip
    shown = [row for row in league.rows if row.dataset not in league.without_truth]
    table = Table("Data set by data set", header, [_row_cells(row) for row in shown], left=(0, 1))
    nobody = all(row.coteries is None for row in shown)
    return table.without("coteries") if nobody else table


def _row_cells(row: Row) -> list[str]:
    s = row.score
    if s is None:
        return [row.dataset, row.model, NOTHING, row.status, *[NOTHING] * 7]
    return [
        row.dataset,
        row.model,
        f"{s.items:,}",
        in_percent(s.accuracy),
        gain(row.difference),
        interval(row.difference),
        in_percent(s.balanced_accuracy),
        decimal(s.log_loss, 3),
        decimal(s.calibration_error, 3),
        decimal(row.coteries),
        seconds(row.seconds),
    ]


def beyond_chance_table(league: League) -> Table:
    """One row per model: where its interval against the vote lies above zero, and below."""
    rows = []
    for model in league.models:
        against = [row for row in league.rows if row.model == model and row.difference is not None]
        cells = [_named(against, sign) for sign in (1, -1)]
        if any(cells):
            rows.append([model, *(cell or NOTHING for cell in cells)])
    return Table(BEYOND, ["model", "better on", "worse on"], rows, left=(0, 1, 2))


def _named(against: list[Row], sign: int) -> str:
    """Name the data sets whose interval lies on this side of zero, the furthest first."""
    found = []
    for row in against:
        mean, low, high = row.difference or (0.0, None, None)
        if low is not None and high is not None and min(sign * low, sign * high) > 0:
            found.append((-sign * mean, row.dataset))
    return ", ".join(dataset for _, dataset in sorted(found))


def failure_table(league: League) -> Table:
    """One row per data set and reason: what was not scored, and why."""
    rows = []
    for (dataset, status, reason), several in groupby(
        league.failures, lambda row: (row.dataset, row.status, row.reason)
    ):
        models = [row.model for row in several]
        who = "all" if len(models) == len(league.models) else ", ".join(models)
        rows.append([dataset, who, f"{status}: {reason}" if reason else status])
    return Table("Not scored", ["data set", "models", "why"], rows, left=(0, 1, 2))


def note_table(league: League) -> Table:
    """One row per warning that a fit or a data set gave."""
    rows = [[row.dataset, row.model, note] for row in league.rows for note in row.notes]
    return Table("Warnings", ["data set", "model", "warning"], rows, left=(0, 1, 2))


def details(league: League) -> list[Table]:
    """Everything but the means: who wins where, every row, what was not scored, warnings."""
    tables = (
        beyond_chance_table(league), row_table(league), failure_table(league), note_table(league)
    )  # fmt: skip
    return [table for table in tables if table.rows]


def explanation(league: League) -> str:
    """Say over what the means run and how to read them."""
    n_common, n_known = len(league.common), len(league.datasets) - len(league.without_truth)
    sets = "data set" if n_common == 1 else "data sets"
    scored = (
        f"{n_common} {sets}"
        if n_common == n_known
        else f"the {n_common} {sets}, of {n_known} with a truth, on which all models have a score"
    )
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
    first = leaders(league)
    if not first:
        return "No model was scored on any data set."
    standing = next(s for s in league.standings if s.model in first)
    names = " and ".join(s.model for s in league.standings if s.model in first)
    lead = f"Highest mean accuracy: {names}, {in_percent(standing.accuracy)} %"
    difference = standing.difference
    if difference is None:
        return f"{lead}; no model is better than the vote on average."
    by = f"{points(difference.mean)} points against the vote"
    if difference.low is None:
        return f"{lead}, {by}."
    holds = "which holds zero" if difference.low <= 0 else "which lies above zero"
    return f"{lead}, {by} (95 % interval {interval(difference)}, {holds})."


def n_items(league: League, dataset: str) -> int:
    """Give the number of scored items of a data set; 0 if no model was scored."""
    scores = [league.score(dataset, model) for model in league.models]
    return next((s.items for s in scores if s is not None), 0)


def glossary() -> list[tuple[str, str]]:
    """Say what the columns mean."""
    return [
        ("items", "those scored: with a label and a truth"),
        ("accuracy", "share of items whose most probable class is the true one; k classes that "
         "tie count 1/k each, as if one were drawn"),
        ("vs vote", f"accuracy less that of the vote ({REFERENCE}) on the same items, in "
         "percentage points"),
        ("95 % interval", "paired bootstrap: of a data set, over its items; of the mean, over the "
         f"data sets; none for fewer than {LEAST}"),
        ("balanced", "accuracy within each true class, averaged over the classes"),
        ("log loss", "mean of -log of the probability of the truth, in nats; probabilities below "
         f"{FLOOR:g} count as that, so that a truth called impossible costs "
         f"{-math.log(FLOOR):.1f} and not infinity"),
        ("calibration", "expected calibration error, ten bins: how far confidence and accuracy "
         "lie apart"),
        ("coteries", "posterior mean of the number of groups among the annotators"),
        ("seconds", "of the processor, for the fit alone, on one thread; reading, scoring "
         "and compiling are not counted"),
    ]  # fmt: skip
