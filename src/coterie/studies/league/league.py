"""The outcomes side by side: every model against the vote, by data set and on average."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from coterie.metrics import Score
from coterie.studies.league.bootstrap import Interval, mean_interval
from coterie.studies.league.job import Outcome
from coterie.studies.league.lineup import REFERENCE

SAME = 1e-9
"""Accuracies closer than this are equal: sums of shares in another order."""


class Row(NamedTuple):
    """A model on a data set, and its accuracy less that of the vote on the same items.

    ``difference`` is None for the vote itself, and where either has no score.
    """

    outcome: Outcome
    difference: Interval | None

    @property
    def score(self) -> Score | None:
        """The score, or None if there is none."""
        return self.outcome.score


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
        One a data set and model, in that order.
    """

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    rows: tuple[Row, ...]

    @cached_property
    def _place(self) -> dict[tuple[str, str], Row]:
        return {(row.outcome.dataset, row.outcome.model): row for row in self.rows}

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
            if all(self.row(dataset, m).outcome.status == "no truth" for m in self.models)
        )

    @cached_property
    def common(self) -> tuple[str, ...]:
        """The data sets on which every model has a score, models that have none at all aside."""
        scored = {row.outcome.model for row in self.rows if row.score is not None}
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
        """One row a model, in order."""
        return tuple(_standing(self, model) for model in self.models)

    @property
    def failures(self) -> list[Outcome]:
        """The outcomes without a score, those without a truth included."""
        return [row.outcome for row in self.rows if row.score is None]


def make_league(
    datasets: Sequence[str], models: Sequence[str], outcomes: Iterable[Outcome]
) -> League:
    """Set outcomes, in whatever order they came, against the vote.

    Parameters
    ----------
    datasets, models
        The names, in the order wanted; the vote among the models.
    outcomes
        One a data set and model.
    """
    place = {(outcome.dataset, outcome.model): outcome for outcome in outcomes}
    rows = [
        _against(place[dataset, model], place[dataset, REFERENCE])
        for dataset in datasets
        for model in models
    ]
    return League(tuple(datasets), tuple(models), tuple(rows))


def _against(outcome: Outcome, vote: Outcome) -> Row:
    if outcome.model == REFERENCE or outcome.score is None or vote.score is None:
        return Row(outcome, None)
    own, reference = outcome.score.right.to_numpy(), vote.score.right.to_numpy()
    if own.shape != reference.shape:
        reason = f"it labelled {len(own):,} of the {len(reference):,} items that the vote labelled"
        return Row(outcome._replace(status="error", reason=reason, score=None), None)
    return Row(outcome, mean_interval(own - reference))


def _standing(league: League, model: str) -> Standing:
    known = [d for d in league.datasets if d not in league.without_truth]
    scored = sum(league.score(d, model) is not None for d in known)
    counts = Standing(model, scored, len(known) - scored)
    rows = [row for d in league.common if (row := league.row(d, model)).score is not None]
    if not rows:
        return counts
    difference, worst = _against_vote(league, model)
    scores = [row.score for row in rows if row.score is not None]
    return Standing(
        model,
        counts.scored,
        counts.failed,
        accuracy=float(np.mean([s.accuracy for s in scores])),
        balanced_accuracy=float(np.mean([s.balanced_accuracy for s in scores])),
        log_loss=float(np.mean([s.log_loss for s in scores])),
        calibration_error=float(np.mean([s.calibration_error for s in scores])),
        seconds=float(sum(row.outcome.seconds or 0.0 for row in rows)),
        difference=difference,
        worst=worst,
    )


def _against_vote(league: League, model: str) -> tuple[Interval | None, tuple[str, float] | None]:
    found = [(d, league.row(d, model).difference) for d in league.common]
    pairs = [(difference.mean, d) for d, difference in found if difference is not None]
    if not pairs:
        return None, None
    least, dataset = min(pairs)
    return mean_interval([mean for mean, _ in pairs]), (dataset, least)
