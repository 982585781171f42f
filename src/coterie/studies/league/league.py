"""The outcomes side by side: every model against the vote, by data set and on average."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from coterie.metrics import Score
from coterie.studies.job import Outcome
from coterie.studies.league.bootstrap import Interval, mean_interval
from coterie.studies.league.lineup import REFERENCE

MEASURES = ("accuracy", "balanced_accuracy", "log_loss", "calibration_error")
"""Of a score; they are averaged over data sets."""

SAME = 1e-9
"""Accuracies closer than this are equal: sums of shares in another order."""


class Row(NamedTuple):
    """A model on a data set: its score, or the reason why there is none.

    ``coteries`` is the posterior mean of their number, where the model finds any; ``seconds`` are
    those of the processor for the fit. ``difference`` is the accuracy less that of the vote on the
    same items: None for the vote itself, and where either has no score.
    """

    dataset: str
    model: str
    status: str  # "ok", "no truth", "error", "timeout", "memory" or "crash"
    reason: str = ""
    score: Score | None = None
    coteries: float | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    difference: Interval | None = None


def row_of(dataset: str, model: str, outcome: Outcome) -> Row:
    """Give the row of a model on a data set, from what became of its job (``fit.fit_job``)."""
    row = Row(dataset, model, outcome.status, outcome.reason, notes=outcome.notes)
    if outcome.status != "ok":
        return row
    if outcome.result is None:
        return row._replace(status="no truth", reason="there is no true label to score against")
    return row._replace(**outcome.result._asdict())


@dataclass(frozen=True)
class Standing:
    """A model over the data sets that all models were scored on; None where there are none.

    Parameters
    ----------
    model
        Its name.
    scored, failed
        On how many data sets it was scored, and on how many that have a truth it was not.
    accuracy, balanced_accuracy, log_loss, calibration_error
        Means over the common data sets, each data set counting once.
    seconds
        Sum over the common data sets.
    difference
        Mean accuracy less that of the vote; the interval resamples data sets. None for the vote.
    worst
        The data set on which it does worst against the vote, and the difference there.
    """

    model: str
    scored: int
    failed: int
    accuracy: float | None = None
    balanced_accuracy: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None
    seconds: float | None = None
    difference: Interval | None = None
    worst: tuple[str, float] | None = None


@dataclass(frozen=True)
class League:
    """Every outcome, set against the vote.

    Parameters
    ----------
    datasets, models
        Their names, in order.
    rows
        One per data set and model, in that order.
    """

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    rows: tuple[Row, ...]

    @cached_property
    def _place(self) -> dict[tuple[str, str], Row]:
        return {(row.dataset, row.model): row for row in self.rows}

    def row(self, dataset: str, model: str) -> Row:
        """Give the row of a model on a data set."""
        return self._place[dataset, model]

    def score(self, dataset: str, model: str) -> Score | None:
        """Give the score of a model on a data set, or None."""
        return self.row(dataset, model).score

    @cached_property
    def without_truth(self) -> tuple[str, ...]:
        """The data sets that have nothing to be scored against."""
        return tuple(
            dataset
            for dataset in self.datasets
            if all(self.row(dataset, m).status == "no truth" for m in self.models)
        )

    @cached_property
    def common(self) -> tuple[str, ...]:
        """The data sets on which every model has a score, models that have none at all aside."""
        scored = {row.model for row in self.rows if row.score is not None}
        return tuple(
            dataset
            for dataset in self.datasets
            if scored and all(self.score(dataset, model) is not None for model in scored)
        )

    def best(self, dataset: str) -> set[str]:
        """Name the models with the highest accuracy on a data set."""
        found = {m: s.accuracy for m in self.models if (s := self.score(dataset, m)) is not None}
        most = max(found.values(), default=0.0)
        return {model for model, accuracy in found.items() if accuracy >= most - SAME}

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """One row per model, in order."""
        return tuple(_standing(self, model) for model in self.models)

    @property
    def failures(self) -> list[Row]:
        """The rows without a score, those without a truth included."""
        return [row for row in self.rows if row.score is None]


def make_league(datasets: Sequence[str], models: Sequence[str], rows: Iterable[Row]) -> League:
    """Set rows, in whatever order they came, against the vote.

    Parameters
    ----------
    datasets, models
        The names, in the order wanted; the vote among the models.
    rows
        One per data set and model.
    """
    place = {(row.dataset, row.model): row for row in rows}
    ordered = [
        _against(place[dataset, model], place[dataset, REFERENCE])
        for dataset in datasets
        for model in models
    ]
    return League(tuple(datasets), tuple(models), tuple(ordered))


def _against(row: Row, vote: Row) -> Row:
    if row.model == REFERENCE or row.score is None or vote.score is None:
        return row
    own, reference = row.score.right.to_numpy(), vote.score.right.to_numpy()
    if own.shape != reference.shape:
        reason = f"it labelled {len(own):,} of the {len(reference):,} items that the vote labelled"
        return row._replace(status="error", reason=reason, score=None)
    return row._replace(difference=mean_interval(own - reference))


def _standing(league: League, model: str) -> Standing:
    known = [d for d in league.datasets if d not in league.without_truth]
    scored = sum(league.score(d, model) is not None for d in known)
    counts = Standing(model, scored, len(known) - scored)
    rows = [row for d in league.common if (row := league.row(d, model)).score is not None]
    if not rows:
        return counts
    measured = {name: [getattr(row.score, name) for row in rows] for name in MEASURES}
    means: Any = {name: float(np.mean(values)) for name, values in measured.items()}
    difference, worst = _against_vote(league, model)
    seconds = float(sum(row.seconds or 0.0 for row in rows))
    return replace(counts, **means, seconds=seconds, difference=difference, worst=worst)


def _against_vote(league: League, model: str) -> tuple[Interval | None, tuple[str, float] | None]:
    found = [(d, league.row(d, model).difference) for d in league.common]
    pairs = [(difference.mean, d) for d, difference in found if difference is not None]
    if not pairs:
        return None, None
    least, dataset = min(pairs)
    return mean_interval([mean for mean, _ in pairs]), (dataset, least)
