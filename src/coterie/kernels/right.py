"""How many of an annotator's labels are right, given the probabilities of the items' classes.

Labels of different items are right independently, so that their number is Poisson-binomial: its
distribution is computed exactly for few labels, and is as good as normal for many. What all
annotators get wrong together is not in those probabilities: it is a shift of everybody's log odds,
drawn from N(0, 0.4^2), which is part of every interval. Known labels (gold) show such mistakes: the
shift counts as much as an annotator's labels are of other items, and for the rest how far a share
of so many known labels is from what somebody can do. No random number is needed.

Items may come in parts, and in any order: sums are in whole numbers, and the chances of few labels
are sorted before they are spread. The result is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.vote import scale_of
from coterie.numeric.jit import kernel, part, piece

FloatArray = NDArray[np.float64]
LongArray = NDArray[np.int64]
Parts = Callable[[], Iterable[tuple[Codes, FloatArray]]]
"""Goes through items in parts: labels by item, and probabilities of the classes."""

SHIFT = 0.4
"""Standard deviation of the shift that all annotators share, on the scale of log odds."""
MANY = 256
"""Labels from which on the normal distribution is used."""
GATHERED = 2**24
"""Chances of annotators with few labels that are in memory at once."""
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


class Right(NamedTuple):
    """Everybody's right labels: how many are expected, how sure that is, and as shares."""

    n_labels: LongArray  # (annotators,)
    expected: FloatArray  # (annotators,)
    variance: FloatArray  # (annotators,)
    unknown: FloatArray  # (annotators,)   share of the labels that are of items without gold
    shares: Shares


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
    n_labels = np.diff(codes.annotator_start)
    return right_labels(lambda: [(codes, probability)], n_labels, shift).shares


def right_labels(parts: Parts, n_labels: LongArray, shift: float = SHIFT) -> Right:
    """Give what is known of everybody's right labels, from items in parts.

    Parameters
    ----------
    parts
        Goes through the items, each time it is called.
    n_labels
        Number of labels of each annotator, in all parts, shape (annotators,).
    shift
        Standard deviation of the log odds that all annotators share.
    """
    scale = scale_of(int(n_labels.max(initial=0)))
    sums = np.zeros((3, len(n_labels)), np.int64)
    for codes, probability in parts():
        sum_right(codes, np.ascontiguousarray(probability), scale, sums)
    expected, variance = sums[:2] / scale
    unknown = sums[2] / np.maximum(n_labels, 1)
    shares = Shares(*(np.full(len(n_labels), np.nan) for _ in range(3)))
    heard = n_labels > 0
    shares.mean[heard] = (expected[heard] + 0.5) / (n_labels[heard] + 1)
    shifts = np.ones(len(n_labels))
    shifts[heard] = deviations(shift, unknown[heard], n_labels[heard] + 1, shares.mean[heard])
    weigh_many(n_labels, variance, shifts, shares)
    room = np.zeros(MANY + 1), np.zeros(MANY + 1)
    for few in blocks_of_few(n_labels):
        start = np.concatenate([[0], np.cumsum(n_labels[few])])
        place, chance = np.full(len(n_labels), -1, np.int64), np.zeros(start[-1])
        place[few] = start[:-1]
        for codes, probability in parts():
            gather_right(codes, np.ascontiguousarray(probability), place, chance)
        weigh_few(few, start, chance, shifts, shares, room)
    return Right(n_labels, expected, variance, unknown, shares)


def blocks_of_few(n_labels: LongArray) -> Iterator[LongArray]:
    """Go through the annotators with few labels, as many at once as fit.

    Examples
    --------
    >>> [block.tolist() for block in blocks_of_few(np.array([3, 0, 400, 255]))]
    [[0, 3]]
    """
    (few,) = np.nonzero((n_labels > 0) & (n_labels < MANY))
    end = np.cumsum(n_labels[few])
    first = 0
    while first < len(few):
        before = end[first - 1] if first else 0
        last = max(int(np.searchsorted(end, before + GATHERED, side="right")), first + 1)
        yield few[first:last]
        first = last


def share_right_of_coteries(right: Right, group: NDArray[np.int32], n_coteries: int) -> Shares:
    """Give the mean share of right labels of each coterie's members, with its interval.

    Parameters
    ----------
    right
        What is known of everybody's right labels.
    group
        The coterie of each annotator, -1 for none, shape (annotators,).
    n_coteries
        Number of coteries.

    Returns
    -------
    Shares, each of shape (coteries,).

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1], sizes=(2, 2, 2, 2))
    >>> certain = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> right = right_labels(lambda: [(codes, certain)], np.array([2, 2]))
    >>> found = share_right_of_coteries(right, np.array([0, 0]), 1)
    >>> [round(float(x[0]), 2) for x in found]
    [0.67, 0.48, 0.81]
    """
    n = right.n_labels
    mean, variance = (right.expected + 0.5) / (n + 1), right.variance / (n + 1) ** 2
    member = (group >= 0) & (n > 0)
    size = np.maximum(np.bincount(group[member], minlength=n_coteries), 1)
    share = np.bincount(group[member], mean[member], n_coteries) / size
    own = np.bincount(group[member], variance[member], n_coteries) / size**2
    centre = np.log(share / (1 - share))
    n_all = np.bincount(group[member], n[member], n_coteries)
    unknown = unknown_of_coteries(right, group, n_coteries)
    shift = deviations(SHIFT, unknown, n_all + 1, share)
    # Many labels together: normal, and by the slope of the log odds.
    spread = NORMAL_95 * np.sqrt(own / (share * (1 - share)) ** 2 + shift**2)
    low, high = (1 / (1 + np.exp(-(centre + sign * spread))) for sign in (-1, 1))
    return Shares(share, low, high)


def deviations(shift: float, unknown: FloatArray, n: NDArray[Any], share: FloatArray) -> FloatArray:
    """Give how far log odds may be off: by what all share, and by how few labels are known.

    Parameters
    ----------
    shift
        Standard deviation of what all share.
    unknown
        Share of the labels that are of items without gold.
    n, share
        Number of labels, and the share of them that is right.

    Examples
    --------
    >>> unknown, n, share = np.array([1.0, 0.0, 0.5]), np.full(3, 100), np.full(3, 0.8)
    >>> deviations(0.4, unknown, n, share).round(2).tolist()
    [0.4, 0.25, 0.24]
    """
    known = (1 - unknown) / np.sqrt(n * share * (1 - share))
    return np.asarray(np.hypot(shift * unknown, known))


def unknown_of_coteries(right: Right, group: NDArray[np.int32], n_coteries: int) -> FloatArray:
    """Give the share of each coterie's labels that are of items without gold, shape (coteries,).

    The parameters are those of :func:`share_right_of_coteries`.
    """
    member = (group >= 0) & (right.n_labels > 0)
    n = right.n_labels[member]
    n_all = np.maximum(np.bincount(group[member], n, n_coteries), 1)
    return np.asarray(np.bincount(group[member], n * right.unknown[member], n_coteries) / n_all)


@piece
def chance_right(i: int, k: int, codes: Codes, probability: FloatArray) -> float:
    """Give the probability that label k, of item i, is right."""
    c = codes.item_answer[k]
    return float(probability[i, c]) if c < codes.n_classes else 0.0


@kernel
def sum_right(codes: Codes, probability: FloatArray, scale: float, sums: LongArray) -> None:
    """Add expected right labels, their variances, and labels of items without gold to ``sums``."""
    for i in range(len(codes.gold)):
        for k in range(codes.item_start[i], codes.item_start[i + 1]):
            p = chance_right(i, k, codes, probability)
            sums[0, codes.item_annotator[k]] += np.int64(p * scale + 0.5)
            sums[1, codes.item_annotator[k]] += np.int64(p * (1 - p) * scale + 0.5)
            sums[2, codes.item_annotator[k]] += np.int64(codes.gold[i] < 0)


@kernel
def gather_right(
    codes: Codes, probability: FloatArray, place: LongArray, chance: FloatArray
) -> None:
    """Write the chances of some annotators' labels where ``place`` says, and move it on."""
    for i in range(len(codes.gold)):
        for k in range(codes.item_start[i], codes.item_start[i + 1]):
            l = codes.item_annotator[k]
            if place[l] >= 0:
                chance[place[l]] = chance_right(i, k, codes, probability)
                place[l] += 1


@kernel
def weigh_many(
    n_labels: LongArray, variance: FloatArray, shifts: FloatArray, shares: Shares
) -> None:
    """Write the intervals of those with many labels, by the slope of the log odds."""
    for l in range(len(n_labels)):
        if n_labels[l] >= MANY:
            share = shares.mean[l]
            centre = math.log(share / (1 - share))
            own = variance[l] / ((n_labels[l] + 1) * share * (1 - share)) ** 2
            spread = NORMAL_95 * math.sqrt(own + shifts[l] * shifts[l])
            shares.low[l] = 1 / (1 + math.exp(spread - centre))
            shares.high[l] = 1 / (1 + math.exp(-spread - centre))


@kernel
def weigh_few(
    few: LongArray,
    start: LongArray,
    chance: FloatArray,
    shifts: FloatArray,
    shares: Shares,
    room: tuple[FloatArray, FloatArray],
) -> None:
    """Write the intervals of those with few labels, by the distribution of their number."""
    spread, log_odds = room
    for a in range(len(few)):
        n = start[a + 1] - start[a]
        sort_chances(start[a], start[a + 1], chance)
        spread_chances(start[a], start[a + 1], chance, spread)
        for right in range(n + 1):
            log_odds[right] = math.log((right + 0.5) / (n - right + 0.5))
        shares.low[few[a]] = quantile(0.025, n, shifts[few[a]], spread, log_odds)
        shares.high[few[a]] = quantile(0.975, n, shifts[few[a]], spread, log_odds)


@part
def sort_chances(first: int, last: int, chance: FloatArray) -> None:
    """Sort a part in place: it is short."""
    for k in range(first + 1, last):
        p, at = chance[k], k
        while at > first and chance[at - 1] > p:
            chance[at] = chance[at - 1]
            at -= 1
        chance[at] = p


@part
def spread_chances(first: int, last: int, each: FloatArray, chance: FloatArray) -> None:
    """Write the chance of each number of right labels among those from ``first`` to ``last``."""
    chance[0] = 1.0
    for k in range(first, last):
        p, seen = each[k], k - first
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
