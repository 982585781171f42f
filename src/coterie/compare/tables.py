"""The league as tables of text, the same on a terminal and in Markdown."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from coterie.compare.bootstrap import Interval
from coterie.compare.job import Outcome
from coterie.compare.league import League, Row, Standing
from coterie.compare.lineup import REFERENCE

NOTHING = "–"


class Grid(NamedTuple):
    """A table of text; ``align`` says of each column whether it goes left (l) or right (r)."""

    header: list[str]
    rows: list[list[str]]
    align: str


def percent(share: float | None) -> str:
    """Write a share as a percentage: 75.93."""
    return NOTHING if share is None else f"{100 * share:.2f}"


def points(difference: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign: +1.25."""
    if difference is None:
        return NOTHING
    rounded = round(100 * difference, 2)
    return "0.00" if rounded == 0 else f"{rounded:+.2f}".replace("-", "−")


def interval(difference: Interval | None) -> str:
    """Write an interval in percentage points: −0.50 to +2.10."""
    if difference is None or difference.low is None:
        return NOTHING
    return f"{points(difference.low)} to {points(difference.high)}"


def decimal(number: float | None) -> str:
    """Write a number with three decimals."""
    return NOTHING if number is None else f"{number:.3f}"


def seconds(number: float | None) -> str:
    """Write seconds with as many digits as matter: 0.003, 12.3, 345."""
    if number is None:
        return NOTHING
    return f"{number:.3f}" if number < 1 else f"{number:.1f}" if number < 100 else f"{number:,.0f}"


def standing_grid(league: League) -> Grid:
    """One row a model: means over the common data sets."""
    header = [
        "model", "scored", "accuracy", "vs vote", "95 % interval", "balanced", "log loss",
        "calibration", "seconds", "worst against the vote",
    ]  # fmt: skip
    return Grid(header, [_standing_cells(s) for s in league.standings], "lrrrrrrrrl")


def _standing_cells(s: Standing) -> list[str]:
    total = s.scored + s.failed
    return [
        s.model,
        f"{s.scored}" if not s.failed else f"{s.scored} of {total}",
        percent(s.accuracy),
        points(None if s.difference is None else s.difference.mean),
        interval(s.difference),
        percent(s.balanced_accuracy),
        decimal(s.log_loss),
        decimal(s.calibration_error),
        seconds(s.seconds),
        NOTHING if s.worst is None else f"{points(s.worst[1])} on {s.worst[0]}",
    ]


def row_grid(league: League) -> Grid:
    """One row a data set and model; data sets without a truth are left out."""
    header = [
        "data set", "model", "items", "accuracy", "vs vote", "95 % interval", "balanced",
        "log loss", "calibration", "coteries", "seconds",
    ]  # fmt: skip
    shown = [row for row in league.rows if row.outcome.dataset not in league.without_truth]
    rows = [_row_cells(row) for row in shown]
    if all(row.scores is None or row.scores.coteries is None for row in shown):
        header.remove("coteries")
        rows = [cells[:9] + cells[10:] for cells in rows]
    return Grid(header, rows, "ll" + "r" * (len(header) - 2))


def _row_cells(row: Row) -> list[str]:
    s, difference = row.scores, row.difference
    first = [row.outcome.dataset, row.outcome.model]
    if s is None:
        return [*first, NOTHING, row.outcome.status, *[NOTHING] * 7]
    return [
        *first,
        f"{s.items:,}",
        percent(s.accuracy),
        points(None if difference is None else difference.mean),
        interval(difference),
        percent(s.balanced_accuracy),
        decimal(s.log_loss),
        decimal(s.calibration_error),
        NOTHING if s.coteries is None else f"{s.coteries:.2f}",
        seconds(s.seconds),
    ]


def failure_grid(league: League) -> Grid:
    """One row a data set and reason: what was not scored, and why."""

    def why(outcome: Outcome) -> tuple[str, str, str]:
        return outcome.dataset, outcome.status, outcome.reason

    rows = []
    for (dataset, status, reason), outcomes in groupby(league.failures, why):
        models = [outcome.model for outcome in outcomes]
        who = "all" if len(models) == len(league.models) else ", ".join(models)
        rows.append([dataset, who, f"{status}: {reason}" if reason else status])
    return Grid(["data set", "models", "why"], rows, "lll")


def note_grid(league: League) -> Grid:
    """One row a warning that a fit or a data set gave."""
    rows = [
        [row.outcome.dataset, row.outcome.model, note]
        for row in league.rows
        for note in row.outcome.notes
    ]
    return Grid(["data set", "model", "warning"], rows, "lll")


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
