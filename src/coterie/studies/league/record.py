"""The league for a machine: plain numbers and words, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import coterie
from coterie.metrics.scorer import FLOOR, NUMBERS
from coterie.studies.league.bootstrap import Interval
from coterie.studies.league.league import League, Row, Standing
from coterie.studies.league.lineup import REFERENCE

FORMAT = 2
"""Counts up when a field changes its meaning or goes."""


class About(NamedTuple):
    """How a league was made: the command, its settings, and the folders that hold no data set."""

    command: str
    settings: Mapping[str, Any]
    passed_over: tuple[str, ...] = ()


def make_record(league: League, about: About) -> dict[str, Any]:
    """Give everything there is: settings, one entry a model, one entry a data set and model.

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
        "rows": [_row(row) for row in league.rows],
    }


def _standing(s: Standing) -> dict[str, Any]:
    return {
        "model": s.model,
        "scored": s.scored,
        "failed": s.failed,
        "accuracy": s.accuracy,
        "balanced_accuracy": s.balanced_accuracy,
        "log_loss": s.log_loss,
        "calibration_error": s.calibration_error,
        "seconds": s.seconds,
        "difference": _interval(s.difference),
        "worst": None if s.worst is None else {"dataset": s.worst[0], "difference": s.worst[1]},
    }


def _row(row: Row) -> dict[str, Any]:
    outcome, difference = row
    return {
        "dataset": outcome.dataset,
        "model": outcome.model,
        "status": outcome.status,
        "reason": outcome.reason,
        **(dict.fromkeys(NUMBERS) if outcome.score is None else outcome.score.numbers()),
        "coteries": outcome.coteries,
        "seconds": outcome.seconds,
        "difference": _interval(difference),
        "notes": list(outcome.notes),
    }


def _interval(interval: Interval | None) -> dict[str, float | None] | None:
    return None if interval is None else dict(interval._asdict())
