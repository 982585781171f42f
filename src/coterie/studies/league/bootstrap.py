"""How sure is a mean of paired differences: the bootstrap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 10_000
LEAST = 5
"""Of fewer values the bootstrap gives little more than their range, which is no interval."""

PERCENTILES = (2.5, 97.5)


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

    Parameters
    ----------
    differences
        One a pair (an item, or a data set), shape (pairs,).
    seed
        Same seed, same interval.

    Examples
    --------
    >>> mean_interval([1, 0, 0, 0, 0])
    Interval(mean=0.2, low=0.0, high=0.6)
    >>> mean_interval([0.5])
    Interval(mean=0.5, low=None, high=None)
    """
    values = np.asarray(differences, np.float64)
    n_pairs = len(values)
    if n_pairs < LEAST:
        return Interval(float(values.mean()), None, None)
    distinct, counts = np.unique(values, return_counts=True)
    rng = np.random.default_rng(seed)
    times = rng.multinomial(n_pairs, counts / n_pairs, size=RESAMPLES)
    low, high = np.percentile(times @ distinct / n_pairs, PERCENTILES)
    return Interval(float(values.mean()), float(low), float(high))
