"""The outcomes side by side: every model against the vote, by data set and on average."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie.metrics import Score
from coterie.studies.fits import REFERENCE
from coterie.studies.pool import Outcome

MEASURES = ("accuracy", "balanced_accuracy", "log_loss", "calibration_error")
"""Of a score; they are averaged over data sets."""
SAME = 1e-9
"""Accuracies closer than this are equal: sums of shares in another order."""
RESAMPLES = 10_000
LEAST = 5
"""Of fewer values the bootstrap gives little more than their range, which is no interval."""


class Interval(NamedTuple):
    """A mean and its 95 % interval; None where there are too few values for one."""

    mean: float
    low: float | None
    high: float | None


def mean_interval(differences: ArrayLike, *, seed: int = 0) -> Interval:
    """Give the mean of paired differences and its 95 % percentile bootstrap interval.

    The pairs are resampled with replacement, 10,000 times. Equal differences are interchangeable,
    so each resample is one multinomial draw of how often each distinct value comes: the same
    distribution, and no slower for a million pairs.

    >>> mean_interval([1, 0, 0, 0, 0])
    Interval(mean=0.2, low=0.0, high=0.6)
    """
    values = np.asarray(differences, np.float64)
    n_pairs = len(values)
    if n_pairs < LEAST:
        return Interval(float(values.mean()), None, None)
    distinct, counts = np.unique(values, return_counts=True)
    rng = np.random.default_rng(seed)
    times = rng.multinomial(n_pairs, counts / n_pairs, size=RESAMPLES)
    low, high = np.percentile(times @ distinct / n_pairs, (2.5, 97.5))
    return Interval(float(values.mean()), float(low), float(high))


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
    """Give the row of a model on a data set, from what became of its job."""
    row = Row(dataset, model, outcome.status, outcome.reason, notes=outcome.notes)
    if outcome.status != "ok":
        return row
    if outcome.result is None:
        return row._replace(status="no truth", reason="there is no true label to score against")
    return row._replace(**outcome.result._asdict())


@dataclass(frozen=True)
class Standing:
    """A model over the data sets that all models were scored on; None where there are none."""

    model: str
    scored: int  # data sets
    failed: int  # those that have a truth, and on which it was not scored
    accuracy: float | None = None  # this and the others: means, each data set counting once
    balanced_accuracy: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None
    seconds: float | None = None  # their sum
    difference: Interval | None = None  # to the vote; the interval resamples data sets
    worst: tuple[str, float] | None = None  # the data set and its difference


@dataclass(frozen=True)
class League:
    """Every outcome, set against the vote: one row per data set and model, in that order."""

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    rows: tuple[Row, ...]

    @cached_property
    def _place(self) -> dict[tuple[str, str], Row]:
        return {(row.dataset, row.model): row for row in self.rows}

    def row(self, dataset: str, model: str) -> Row:
        """Give the row of a model on a data set."""
        return self._place[dataset, model]

    def of(self, *, dataset: str | None = None, model: str | None = None) -> list[Row]:
        """Give the rows of a data set, or of a model."""
        return [
            row
            for row in self.rows
            if dataset in (None, row.dataset) and model in (None, row.model)
        ]

    @cached_property
    def without_truth(self) -> tuple[str, ...]:
        """The data sets that have nothing to be scored against."""
        return tuple(
            d for d in self.datasets if all(r.status == "no truth" for r in self.of(dataset=d))
        )

    @cached_property
    def common(self) -> tuple[str, ...]:
        """The data sets on which every model has a score, models that have none at all aside."""
        scored = {row.model for row in self.rows if row.score is not None}
        return tuple(
            d
            for d in self.datasets
            if scored and all(self.row(d, m).score is not None for m in scored)
        )

    def best(self, dataset: str) -> set[str]:
        """Name the models with the highest accuracy on a data set."""
        found = {r.model: r.score.accuracy for r in self.of(dataset=dataset) if r.score is not None}
        most = max(found.values(), default=0.0)
        return {model for model, accuracy in found.items() if accuracy >= most - SAME}

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """One per model, in order."""
        return tuple(self._standing(model) for model in self.models)

    def _standing(self, model: str) -> Standing:
        rows = [row for row in self.of(model=model) if row.dataset not in self.without_truth]
        n_scored = sum(row.score is not None for row in rows)
        counts = Standing(model, n_scored, len(rows) - n_scored)
        rows = [row for row in rows if row.dataset in self.common and row.score is not None]
        if not rows:
            return counts
        means: Any = {m: float(np.mean([getattr(r.score, m) for r in rows])) for m in MEASURES}
        apart = [(r.difference.mean, r.dataset) for r in rows if r.difference is not None]
        if apart:
            least, dataset = min(apart)
            means["difference"] = mean_interval([mean for mean, _ in apart])
            means["worst"] = (dataset, least)
        return replace(counts, **means, seconds=float(sum(row.seconds or 0.0 for row in rows)))

    @property
    def failures(self) -> list[Row]:
        """The rows without a score, those without a truth included."""
        return [row for row in self.rows if row.score is None]


def make_league(datasets: Sequence[str], models: Sequence[str], rows: Iterable[Row]) -> League:
    """Set rows, in whatever order they came, against the vote, which is among the models."""
    place = {(row.dataset, row.model): row for row in rows}
    ordered = [_against(place[d, m], place[d, REFERENCE]) for d in datasets for m in models]
    return League(tuple(datasets), tuple(models), tuple(ordered))


def _against(row: Row, vote: Row) -> Row:
    if row.model == REFERENCE or row.score is None or vote.score is None:
        return row
    own, reference = row.score.right.to_numpy(), vote.score.right.to_numpy()
    if own.shape != reference.shape:
        reason = f"it labelled {len(own):,} of the {len(reference):,} items that the vote labelled"
        return row._replace(status="error", reason=reason, score=None)
    return row._replace(difference=mean_interval(own - reference))
