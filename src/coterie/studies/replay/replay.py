"""One replay: labels revealed batch by batch as a policy asks for them, fitted and scored."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from coterie.assign import stop
from coterie.data.annotations import Annotations
from coterie.models import make_model
from coterie.posterior import Posterior
from coterie.studies.replay.hidden import hide
from coterie.studies.replay.policies import POLICIES

STEPS = 50
"""Batches into which all labels are cut, if nobody says how large one is."""


class Settings(NamedTuple):
    """How labels are revealed."""

    start: int = 1  # labels of each item that are known at the start
    batch: int | None = None  # labels; None for a fiftieth of all
    model: str = "quick"
    target: float = 0.95  # of the rule to stop
    duplicates: str = "error"  # what repeated labels of a pair mean: :func:`coterie.read`


class Point(NamedTuple):
    """What is known after so many labels."""

    labels: int
    accuracy: float
    log_loss: float
    expected_wrong: float
    at_most_wrong: float
    asks: int  # items that are worth another label, by the rule to stop


def replay(
    annotations: Annotations, truth: pd.Series[Any], policy: str, seed: int, settings: Settings
) -> list[Point]:
    """Reveal labels until all are known; give what is known after each batch.

    Parameters
    ----------
    annotations
        All labels; repeated ones of a pair are revealed one by one.
    truth
        True labels, item -> label, that score and nothing else.
    policy
        The name of a policy.
    seed
        Of the labels that are known at the start, the same for all policies, and of ties.
    settings
        How labels are revealed.
    """
    first, ties = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    hidden = hide(annotations, settings.start, first)
    batch = settings.batch or math.ceil(annotations.n_labels / STEPS)
    points = []
    while True:
        posterior = fit(hidden.seen(), settings.model, seed)
        points.append(measure(posterior, truth, int(hidden.known.sum()), settings.target))
        if len(hidden.waiting) == 0:
            return points
        number = min(batch, len(hidden.waiting))
        hidden = hidden.revealed(POLICIES[policy](hidden, posterior, number, ties))


def fit(annotations: Annotations, model: str, seed: int) -> Posterior:
    """Fit a model to what is known, whatever there is to warn of; repeated labels all count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"random_state": seed, "duplicates": "keep", "progress": False, "n_jobs": 1}
        made = make_model(model, **settings)
        return made.fit(annotations).posterior_


def measure(posterior: Posterior, truth: pd.Series[Any], labels: int, target: float) -> Point:
    """Score what is known."""
    score, rule = posterior.score(truth), stop(posterior, target)
    return Point(
        labels,
        score.accuracy,
        score.log_loss,
        rule.expected_wrong,
        rule.at_most_wrong,
        rule.counts["ask"],
    )
