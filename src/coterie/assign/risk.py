"""How many labels are wrong, as a distribution: chance, and mistakes that everybody shares.

Given a shift s of everybody's log odds, labels are right independently with log odds
logit(p[i]) + s, so that the share of wrong ones is as good as normal; s ~ N(0, shared^2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from coterie.assign.worlds import classes_of_draw, n_draws, reports_its_own
from coterie.posterior import Posterior

FloatArray = NDArray[np.float64]

LEAST, MOST, CELLS = 10, 100, 20_000_000
"""Draws that are looked at: so many at least and at most, and numbers in all of them together."""
POINTS = 201
HALVINGS = 40
SHARED = 0.8
"""Standard deviation of the log odds that all items share; docs/decisions.md has it measured."""


def own_spread(posterior: Posterior) -> float:
    """Give the deviation of the log odds of all labels together that the model itself sees.

    Classes of different items depend on each other through the matrices: in a draw of these more
    labels are right, or fewer. It is read off draws of models that report their own probabilities;
    what others report is off by what was measured, whatever they see.
    """
    codes = posterior.annotations.codes
    if not reports_its_own(posterior) or len(codes.item_answer) == 0:
        return 0.0
    (items,) = np.nonzero((np.diff(codes.item_start) > 0) & (codes.gold < 0))
    many = int(np.clip(CELLS / (len(codes.item_answer) * codes.n_classes), LEAST, MOST))
    number, label = n_draws(posterior), posterior.label_code[items]
    odds = []
    for d in np.linspace(0, number - 1, min(many, number)).astype(int).tolist():
        right = classes_of_draw(posterior, d, items)[np.arange(len(items)), label]
        odds.append(logit((right.sum() + 0.5) / (len(items) + 1)))
    return float(np.std(odds))


def shift_points(shared: float, points: int = POINTS) -> FloatArray:
    """Give equally probable values of the shift, shape (points,); one of 0 if there is none."""
    if shared == 0:
        return np.zeros(1)
    return np.asarray(shared * ndtri((np.arange(points) + 0.5) / points), np.float64)


def shift_probability(probability: FloatArray, shift: float) -> FloatArray:
    """Move the log odds of each probability; certainty stays."""
    return np.asarray(expit(logit(np.clip(probability, 0.0, 1.0)) + shift), np.float64)


def wrong_quantile(probability: FloatArray, level: float, shared: float = SHARED) -> float:
    """Give a quantile of the share of labels that are wrong.

    Parameters
    ----------
    probability
        That each label is right, shape (items,).
    level
        Of the quantile.
    shared
        Standard deviation of the shift.

    Examples
    --------
    >>> sure, unsure = np.full(1000, 0.95), np.full(10, 0.95)
    >>> [round(wrong_quantile(p, 0.95, shared=0.0), 3) for p in (sure, unsure)]
    [0.061, 0.163]
    >>> round(wrong_quantile(sure, 0.95), 3)
    0.165
    """
    if len(probability) == 0:
        return 0.0
    wrong = [1 - shift_probability(probability, s) for s in shift_points(shared)]
    mean = np.array([w.mean() for w in wrong])
    spread = np.sqrt([max(float((w * (1 - w)).sum()), 1e-18) for w in wrong]) / len(probability)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if ndtr((middle - mean) / spread).mean() < level:
            low = middle
        else:
            high = middle
    return high
