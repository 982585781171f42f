"""How alike the labels of one item are: the intraclass correlation of a Dirichlet-multinomial.

Labels of an item agree for two reasons: the truth that they share, and mistakes that they share.
Either way n labels are worth fewer than n, by the design effect 1 + rho (n - 1) of surveys.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

VoteArray = NDArray[np.int32]

SPREADS = np.logspace(-1, 2, 60)
"""The values of a that are tried: the curve is flat, finer steps move the result by nothing."""

PER_CORRELATION = 1.5
MOST = 0.75
"""The design effect takes 1.5 times the correlation, and never more than this."""


def intraclass_correlation(votes: VoteArray) -> float:
    """Give 1 / (1 + a), a the spread under which each label is best foretold by the item's others.

    a maximises the sum over labels of ``log((V[i, y] - 1 + a f[y]) / (n[i] - 1 + a))``, with f the
    shares of the classes among all labels, and a log-normal prior of median e. Without two labels
    of one item, a = e.

    Parameters
    ----------
    votes
        Labels of each class of each item, shape (items, classes).

    Examples
    --------
    >>> alike, mixed = np.array([[9, 0], [0, 9]] * 20), np.array([[5, 4], [4, 5]] * 20)
    >>> round(intraclass_correlation(alike), 2), round(intraclass_correlation(mixed), 2)
    (0.88, 0.01)
    """
    n = votes.sum(axis=1)
    several = votes[n > 1]
    if len(several) == 0:
        return 1 / (1 + math.e)
    share = (votes.sum(axis=0) + 1.0) / (votes.sum() + votes.shape[1])
    # Few distinct rows stand for many items.
    rows, times = np.unique(several, axis=0, return_counts=True)
    total, others = rows.sum(axis=1, keepdims=True), np.maximum(rows - 1, 0)
    score = [
        float((times[:, None] * rows * np.log((others + a * share) / (total - 1 + a))).sum())
        - (math.log(a) - 1) ** 2 / 2
        for a in SPREADS
    ]
    return float(1 / (1 + SPREADS[int(np.argmax(score))]))


def overlap_of(correlation: float) -> float:
    """Give rho, by which labels of one item are tempered, from how alike they are.

    Examples
    --------
    >>> overlap_of(0.1), overlap_of(0.9)
    (0.15000000000000002, 0.75)
    """
    return min(MOST, PER_CORRELATION * correlation)
