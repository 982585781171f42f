"""The league for a machine: plain numbers and words, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import coterie
from coterie.metrics.scorer import FLOOR, NUMBERS
from coterie.metrics.scores import pooled_gap
from coterie.studies.league.bootstrap import Interval
from coterie.studies.league.calibration import pooled
from coterie.studies.league.league import MEASURES, League, Row, Standing
from coterie.studies.league.lineup import REFERENCE

FORMAT = 2
"""Counts up when a field changes its meaning or goes."""


class About(NamedTuple):
    """How a league was made: the command, its settings, and the folders that hold no data set."""

    command: str
    settings: Mapping[str, Any]
    passed_over: tuple[str, ...] = ()


def make_record(league: League, about: About) -> dict[str, Any]:
    """Give everything there is: settings, one entry per model, one per data set and model.

    Accuracies are shares between 0 and 1; a number that does not exist is null.
    """
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
        "standings": [_standing(standing) for standing in league.standings],
        "pooled_calibration": {
            model: {"error": pooled_gap(table), "bins": table.dropna().to_dict("records")}
            for model, table in pooled(league).items()
        },
        "rows": [_row(row) for row in league.rows],
    }


def _standing(s: Standing) -> dict[str, Any]:
    return {
        **{name: getattr(s, name) for name in ("model", "scored", "failed", *MEASURES, "seconds")},
        "difference": _interval(s.difference),
        "worst": None if s.worst is None else {"dataset": s.worst[0], "difference": s.worst[1]},
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "dataset": row.dataset,
        "model": row.model,
        "status": row.status,
        "reason": row.reason,
        **(dict.fromkeys(NUMBERS) if row.score is None else row.score.numbers()),
        "coteries": row.coteries,
        "seconds": row.seconds,
        "difference": _interval(row.difference),
        "notes": list(row.notes),
    }


def _interval(interval: Interval | None) -> dict[str, float | None] | None:
    return None if interval is None else dict(interval._asdict())
