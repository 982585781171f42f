"""How many of an annotator's labels are right, given the probabilities of the items' classes.

Labels of different items are right independently, so that their number is Poisson-binomial: its
distribution is computed exactly for few labels, and is as good as normal for many. What all
annotators get wrong together is not in those probabilities: it is a shift of everybody's log odds,
drawn from N(0, 0.4^2), which is part of every interval. No random number is needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.numeric.jit import kernel, part, piece

FloatArray = NDArray[np.float64]

SHIFT = 0.4
"""Standard deviation of the shift that all annotators share, on the scale of log odds."""
MANY = 256
"""Labels from which on the normal distribution is used."""
NORMAL_95 = 1.959963984540054
HALVINGS = 40
"""Steps of the bisection: an interval of 40 becomes one of 4e-11."""
WIDEST = 20.0
"""Log odds beyond which no quantile can lie: those of few labels are far less."""


class Shares(NamedTuple):
    """The share of right labels per annotator, and its 95 % interval; NaN without labels."""

    mean: FloatArray  # (annotators,)
    low: FloatArray  # (annotators,)
    high: FloatArray  # (annotators,)


def share_right(codes: Codes, probability: FloatArray, shift: float = SHIFT) -> Shares:
    """Give every annotator's share of right labels, (right + 1/2) / (n + 1), with its interval.

    Parameters
    ----------
    codes
        The labels; an extra answer is never right.
    probability
        Probability of each class for each item, shape (items, classes).
    shift
        Standard deviation of the log odds that all annotators share.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 0, 0], sizes=(4, 1, 2, 2))
    >>> found = share_right(codes, np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]]))
    >>> [round(float(x[0]), 2) for x in found]
    [0.7, 0.52, 0.84]
    """
    n_annotators = len(codes.annotator_start) - 1
    shares = Shares(*(np.full(n_annotators, np.nan) for _ in range(3)))
    chance, log_odds = np.zeros(MANY + 1), np.zeros(MANY + 1)
    weigh_annotators(codes, np.ascontiguousarray(probability), shift, shares, (chance, log_odds))
    return shares


def share_right_of_groups(
    codes: Codes, probability: FloatArray, group: NDArray[np.int32], n_groups: int
) -> Shares:
    """Give the mean share of right labels of each group's members, with its interval.

    Parameters
    ----------
    codes, probability
        As for :func:`share_right`.
    group
        The group of each annotator, -1 for none, shape (annotators,).
    n_groups
        Number of groups.

    Returns
    -------
    Shares, each of shape (groups,).

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1], sizes=(2, 2, 2, 2))
    >>> certain = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> found = share_right_of_groups(codes, certain, np.array([0, 0]), 1)
    >>> [round(float(x[0]), 2) for x in found]
    [0.67, 0.48, 0.81]
    """
    n = np.diff(codes.annotator_start)
    who = np.repeat(np.arange(len(n)), n)
    answer = np.minimum(codes.annotator_answer, codes.n_classes - 1)
    chance = probability[codes.annotator_item, answer]
    chance = np.where(codes.annotator_answer < codes.n_classes, chance, 0.0)
    mean = (np.bincount(who, chance, len(n)) + 0.5) / (n + 1)
    variance = np.bincount(who, chance * (1 - chance), len(n)) / (n + 1) ** 2
    member = (group >= 0) & (n > 0)
    size = np.maximum(np.bincount(group[member], minlength=n_groups), 1)
    share = np.bincount(group[member], mean[member], n_groups) / size
    own = np.bincount(group[member], variance[member], n_groups) / size**2
    centre = np.log(share / (1 - share))
    # Many labels together: normal, and by the slope of the log odds.
    spread = NORMAL_95 * np.sqrt(own / (share * (1 - share)) ** 2 + SHIFT**2)
    low, high = (1 / (1 + np.exp(-(centre + sign * spread))) for sign in (-1, 1))
    return Shares(share, low, high)


@piece
def chance_right(k: int, codes: Codes, probability: FloatArray) -> float:
    """Give the probability that label k, counted by annotators, is right."""
    c = codes.annotator_answer[k]
    return float(probability[codes.annotator_item[k], c]) if c < codes.n_classes else 0.0


@kernel
def weigh_annotators(
    codes: Codes,
    probability: FloatArray,
    shift: float,
    shares: Shares,
    room: tuple[FloatArray, FloatArray],
) -> None:
    """Write the share of right labels of everybody who has any."""
    chance, log_odds = room
    for l in range(len(shares.mean)):
        first, last = codes.annotator_start[l], codes.annotator_start[l + 1]
        n, mean, variance = last - first, 0.0, 0.0
        if n == 0:
            continue
        for k in range(first, last):
            p = chance_right(k, codes, probability)
            mean += p
            variance += p * (1 - p)
        share = (mean + 0.5) / (n + 1)
        shares.mean[l] = share
        if n >= MANY:
            centre = math.log(share / (1 - share))
            own = variance / ((n + 1) * share * (1 - share)) ** 2  # by the slope of the log odds
            spread = NORMAL_95 * math.sqrt(own + shift * shift)
            shares.low[l] = 1 / (1 + math.exp(spread - centre))
            shares.high[l] = 1 / (1 + math.exp(-spread - centre))
        else:
            spread_chances(first, last, codes, probability, chance)
            for right in range(n + 1):
                log_odds[right] = math.log((right + 0.5) / (n - right + 0.5))
            shares.low[l] = quantile(0.025, n, shift, chance, log_odds)
            shares.high[l] = quantile(0.975, n, shift, chance, log_odds)


@part
def spread_chances(
    first: int, last: int, codes: Codes, probability: FloatArray, chance: FloatArray
) -> None:
    """Write the chance of each number of right labels among those from ``first`` to ``last``."""
    chance[0] = 1.0
    for k in range(first, last):
        p, seen = chance_right(k, codes, probability), k - first
        chance[seen + 1] = chance[seen] * p
        for right in range(seen, 0, -1):  # downwards: the one below is still the old one
            chance[right] = chance[right] * (1 - p) + chance[right - 1] * p
        chance[0] *= 1 - p


@part
def quantile(level: float, n: int, shift: float, chance: FloatArray, log_odds: FloatArray) -> float:
    """Give a quantile of the share under the chances of 0..n right labels and the shift."""
    low, high = -WIDEST, WIDEST
    for _ in range(HALVINGS):
        middle, below = (low + high) / 2, 0.0
        for right in range(n + 1):
            if chance[right] > 1e-12:  # the others move no digit that is shown, and erfc is slow
                below += chance[right] * normal_below((middle - log_odds[right]) / shift)
        if below < level:
            low = middle
        else:
            high = middle
    return 1 / (1 + math.exp(-(low + high) / 2))


@piece
def normal_below(x: float) -> float:
    """Give the chance that a standard normal number lies below x."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))
