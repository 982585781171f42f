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

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from coterie.data.codes import Codes, parts_of
from coterie.kernels.vote import scale_of
from coterie.numeric import Array, BoolArray, FloatArray, IntArray, LongArray

Parts = Callable[[], Iterable[tuple[Codes, FloatArray]]]
"""Goes through items in parts: labels by item, and probabilities of the classes."""

SHIFT = 0.4  # standard deviation of what all annotators share, on the scale of log odds
MANY = 256  # labels from which on the normal distribution is used
GATHERED, AT_ONCE = 2**24, 2**18  # chances of few labels in memory at once, and spread at once
NORMAL_95 = 1.959963984540054
HALVINGS = 40  # steps of the bisection: an interval of 40 becomes one of 4e-11
WIDEST = 20.0  # log odds beyond which no quantile can lie: those of few labels are far less
NOTHING = 1e-12  # chances up to this move no digit that is shown


class Shares(NamedTuple):
    """The share of right labels, and its 95 % interval; NaN without labels."""

    mean: FloatArray  # (annotators,), or coteries
    low: FloatArray
    high: FloatArray


class Right(NamedTuple):
    """Everybody's right labels: how many are expected, how sure that is, and as shares."""

    n_labels: LongArray  # (annotators,)
    expected: FloatArray  # (annotators,)
    variance: FloatArray  # (annotators,)
    unknown: FloatArray  # (annotators,)   share of the labels that are of items without gold
    shares: Shares


def right_labels(parts: Parts, n_labels: LongArray) -> Right:
    """Give what is known of everybody's right labels; of n the share is (right + 1/2) / (n + 1).

    ``parts`` is called several times; n_labels, (annotators,), are of all parts. An extra answer is
    never right.
    """
    scale = scale_of(int(n_labels.max(initial=0)))
    sums = np.zeros((3, len(n_labels)), np.int64)
    for l, p, is_unknown in chances_of(parts):
        for total, term in zip(sums, (p, p * (1 - p)), strict=False):
            np.add.at(total, l, (term * scale + 0.5).astype(np.int64))
        np.add.at(sums[2], l, is_unknown.astype(np.int64))
    expected, variance = sums[:2] / scale
    unknown = sums[2] / np.maximum(n_labels, 1)
    mean, low, high, shifts = np.full((4, len(n_labels)), np.nan)
    heard, many = n_labels > 0, n_labels >= MANY
    mean[heard] = (expected[heard] + 0.5) / (n_labels[heard] + 1)
    shifts[heard] = deviations(unknown[heard], n_labels[heard] + 1, mean[heard])
    own = variance[many] / (n_labels[many] + 1) ** 2
    low[many], high[many] = normal_interval(mean[many], own, shifts[many])
    for few in blocks_of_few(n_labels):
        chance = gather_chances(few, n_labels, parts)
        first = 0
        while first < len(few):  # of like numbers of labels, the most first
            some = few[first : first + AT_ONCE // n_labels[few[first]]]
            own, chance = np.split(chance, [n_labels[some].sum()])
            low[some], high[some] = exact_interval(n_labels[some], own, shifts[some])
            first += len(some)
    return Right(n_labels, expected, variance, unknown, Shares(mean, low, high))


def chances_of(parts: Parts) -> Iterator[tuple[IntArray, FloatArray, BoolArray]]:
    """Go through labels: whose, with which probability right, and whether of an unknown item."""
    for codes, probability in parts():
        never = (0, 0), (0, codes.n_answers - codes.n_classes)
        for items, labels, item in parts_of(codes):
            p = np.pad(probability[items], never)[item, codes.item_answer[labels]]
            yield codes.item_annotator[labels], p, (codes.gold[items] < 0)[item]


def blocks_of_few(n_labels: LongArray) -> Iterator[LongArray]:
    """Go through the annotators with few labels, those with most first, as many at once as fit."""
    (few,) = np.nonzero((n_labels > 0) & (n_labels < MANY))
    few = few[np.argsort(-n_labels[few], kind="stable")]
    end = np.cumsum(n_labels[few])
    first = 0
    while first < len(few):
        before = end[first - 1] if first else 0
        last = max(int(np.searchsorted(end, before + GATHERED, side="right")), first + 1)
        yield few[first:last]
        first = last


def gather_chances(few: LongArray, n_labels: LongArray, parts: Parts) -> FloatArray:
    """Give the chances of these annotators' labels to be right, one annotator after the other."""
    end = np.cumsum(n_labels[few])
    place, chance = np.full(len(n_labels), -1), np.empty(end[-1])
    place[few] = end - n_labels[few]
    for l, p, _ in chances_of(parts):
        order = np.argsort(l, kind="stable")
        order = order[place[l[order]] >= 0]
        l = l[order]
        chance[place[l] + np.arange(len(l)) - np.searchsorted(l, l)] = p[order]
        np.add.at(place, l, 1)
    return chance


def share_right_of_coteries(right: Right, group: IntArray, n_coteries: int) -> Shares:
    """Give the mean share of right labels of each coterie's members, with its interval.

    ``group`` is everybody's coterie, -1 for none.
    """
    n, member = right.n_labels, (group >= 0) & (right.n_labels > 0)

    def summed(numbers: Array) -> Array:
        return np.bincount(group[member], numbers[member], n_coteries)

    size = np.maximum(summed(np.ones_like(n)), 1)
    share = summed((right.expected + 0.5) / (n + 1)) / size
    own = summed(right.variance / (n + 1) ** 2) / size**2
    shift = deviations(unknown_of_coteries(right, group, n_coteries), summed(n) + 1, share)
    return Shares(share, *normal_interval(share, own, shift))


def unknown_of_coteries(right: Right, group: IntArray, n_coteries: int) -> FloatArray:
    """Give the share of each coterie's labels that are of items without gold, (coteries,)."""
    member = (group >= 0) & (right.n_labels > 0)
    n = right.n_labels[member]
    n_all = np.maximum(np.bincount(group[member], n, n_coteries), 1)
    return np.asarray(np.bincount(group[member], n * right.unknown[member], n_coteries) / n_all)


def deviations(unknown: FloatArray, n: Array, share: FloatArray) -> FloatArray:
    """Give how far log odds may be off: by what all share, and by how few labels are known.

    Of n labels a share is right, and ``unknown`` is the share that is of items without gold.
    """
    known = (1 - unknown) / np.sqrt(n * share * (1 - share))
    return np.asarray(np.hypot(SHIFT * unknown, known))


def normal_interval(
    share: FloatArray, variance: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give the interval of a share of many labels: normal, and by the slope of the log odds."""
    centre = np.log(share / (1 - share))
    spread = NORMAL_95 * np.sqrt(variance / (share * (1 - share)) ** 2 + shift**2)
    return expit(centre - spread), expit(centre + spread)


def exact_interval(
    n: LongArray, chance: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give the intervals of those with few labels, by the distribution of their right ones.

    Chances of the n labels to be right come one annotator after the other.
    """
    each = np.zeros((len(n), n.max()))
    each[np.arange(each.shape[1]) < n[:, None]] = chance
    each.sort(axis=1)  # what is no label comes first, and changes nothing
    spread = np.zeros((len(n), each.shape[1] + 1))
    spread[:, 0] = 1
    for p in each.T[:, :, None]:
        spread[:, 1:] = spread[:, 1:] * (1 - p) + spread[:, :-1] * p
        spread[:, :1] *= 1 - p
    row, right = np.nonzero(spread > NOTHING)
    weight, log_odds = spread[row, right], np.log((right + 0.5) / (n[row] - right + 0.5))

    def quantile(level: float) -> FloatArray:
        low, high = np.full((2, len(n)), [[-WIDEST], [WIDEST]])
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            part = weight * ndtr((middle[row] - log_odds) / shift[row])
            is_low = np.bincount(row, part, len(n)) < level
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return np.asarray(expit((low + high) / 2))

    return quantile(0.025), quantile(0.975)
