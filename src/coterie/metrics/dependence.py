"""Who errs with whom: correlation of errors given the truth, which itself is uncertain.

Annotator l is right about an item of class t with probability a[l, t]. Errors of a pair have the
correlation d given the truth if their joint probability is the product of their own times

    1 + d e[l] e[m],     e[l] = (right - a[l, t]) / sqrt(a[l, t] (1 - a[l, t])).

The truth is not known: item i has class t with probability w[i, t] given all labels, and
the likelihood of d is the product over common items of 1 + d r[i], r[i] = sum over t of
w[i, t] e[l] e[m]. Its logarithm is concave, and log(1 - d^2) is added, which is worth two labels.

A model that takes annotators for independent believes a clique of copies: it then finds the clique
right, and no dependence. Where annotators who err together count for less, an item's class has the
weight

    share[t] * product over labels of psi[l](t, y)^omega[l],
    omega[l] = 1 / (1 + sum over m of how much d[l, m] is above that of most pairs),

with matrices psi and shares counted without the item itself, drawn towards the crowd's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

STEPS = 40
"""Steps at most of the search for a maximum or an end of an interval."""
CLOSE = 1e-6
DROP = 1.920729410347062
"""By how much the log likelihood drops at the ends of a 95 % interval."""
SMOOTH = 1.0
"""Labels that the crowd's accuracy is worth beside an annotator's own, for each class."""
MOST_PAIRS = 4_000_000
"""Pairs of labels that are looked at; of more items so many, evenly spread, stand for all."""
OWN = 2.0
"""Labels that the crowd's matrix is worth beside an annotator's own, for each class."""
PASSES = 30
STILL = 1e-3
"""No probability moves by more: the search has come to rest."""


class LabelPairs(NamedTuple):
    """All pairs of labels of one item by two annotators, those of the same two together."""

    item: IntArray  # (pairs of labels,)
    first: IntArray  # (pairs of labels,)   the annotator with the lower code
    second: IntArray  # (pairs of labels,)
    product: FloatArray  # (pairs of labels,)   r: the expected product of both errors


class Fitted(NamedTuple):
    """The dependence of each group of pairs of labels, with a 95 % interval."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    slope: FloatArray  # (pairs of labels,)   of the log likelihood, at the value
    bend: FloatArray  # (groups,)   minus the second derivative


def right_rates(codes: Codes, probability: FloatArray) -> FloatArray:
    """Give a[l, t], drawn towards the crowd's rate, shape (annotators, classes)."""
    n_annotators, n = len(codes.annotator_start) - 1, np.diff(codes.item_start)
    item, who = np.repeat(np.arange(len(n)), n), codes.item_annotator
    seen, right = (np.zeros((n_annotators, codes.n_classes)) for _ in range(2))
    for t in range(codes.n_classes):
        weight = probability[item, t]
        seen[:, t] = np.bincount(who, weight, n_annotators)
        right[:, t] = np.bincount(who, weight * (codes.item_answer == t), n_annotators)
    crowd = (right.sum(axis=0) + 0.5) / (seen.sum(axis=0) + 1)
    return np.asarray((right + SMOOTH * crowd) / (seen + SMOOTH))


def pair_labels(codes: Codes, probability: FloatArray, most: int = MOST_PAIRS) -> LabelPairs:
    """Pair the labels of every item, and multiply their errors; ``probability`` is w.

    Of an annotator's repeated labels of an item the first counts.
    """
    a, b, item = places_of_pairs(codes, most)
    who = codes.item_annotator.astype(np.int64)
    rate = right_rates(codes, probability)
    product = np.zeros(len(a))
    for t in range(codes.n_classes):
        spread = np.sqrt(rate[:, t] * (1 - rate[:, t]))
        error = ((codes.item_answer == t) - rate[who, t]) / spread[who]
        product += probability[item, t] * error[a] * error[b]
    order = np.lexsort((item, who[b], who[a]))
    a, b = a[order], b[order]
    return LabelPairs(item[order], who[a], who[b], product[order])


def places_of_pairs(codes: Codes, most: int) -> tuple[IntArray, IntArray, IntArray]:
    """Give the places of both labels, and the item, of each pair of labels."""
    item = np.repeat(np.arange(len(codes.gold)), np.diff(codes.item_start))
    new = np.ones(len(item), bool)
    new[1:] = (np.diff(item) > 0) | (np.diff(codes.item_annotator) != 0)
    (place,) = np.nonzero(new)  # repeated labels are neighbours: the first of each
    size = np.bincount(item[place], minlength=len(codes.gold))
    kept = thinned(size * (size - 1) // 2, most)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    for n in np.unique(size[kept]):
        i = np.flatnonzero(kept & (size == n))
        a, b = np.triu_indices(n, 1)
        first, second = (place[(start[i][:, None] + k).ravel()] for k in (a, b))
        found.append((first, second, np.repeat(i, len(a))))
    if not found:
        none = np.zeros(0, np.int64)
        return none, none, none
    one, other, where = zip(*found, strict=True)
    return np.concatenate(one), np.concatenate(other), np.concatenate(where)


def thinned(cost: IntArray, most: int) -> NDArray[np.bool_]:
    """Keep the items that have pairs; of too many an even selection."""
    kept = cost > 0
    total = int(cost.sum())
    if total > most:
        places = np.flatnonzero(kept)
        wanted = max(1, int(len(places) * most / total))
        chosen = places[np.linspace(0, len(places) - 1, wanted).astype(np.int64)]
        kept = np.zeros(len(cost), bool)
        kept[chosen] = True
    return kept


def fit_groups(
    product: FloatArray,
    group: IntArray,
    n_groups: int,
    item: IntArray | None = None,
    *,
    ends: bool = True,
) -> Fitted:
    """Find the most likely dependence of each group of pairs of labels, and its interval.

    ``product`` is r of each pair of labels, ``group`` its group, in rising order; no group is
    empty. Where a group has several pairs of one ``item``, which are not independent, the interval
    is as wide as the spread of the items' slopes says. Unless ``ends`` of intervals are searched
    for, they are where a parabola has them.
    """
    if not n_groups:
        none = np.zeros(0)
        return Fitted(none, none, none, none, none)
    hill = Hill(product, group, np.searchsorted(group, np.arange(n_groups)))
    lowest, highest = hill.bounds()
    value = root(hill.falls, lowest, highest, np.zeros(n_groups))
    slope, (_, bend) = hill.slopes(value), hill.falls(value)
    drop = np.full(n_groups, DROP)
    if item is not None:
        drop *= design_effects(slope, item, group, n_groups)
    reach = np.sqrt(2 * drop / bend)
    if not ends:
        return Fitted(value, value - reach, value + reach, slope, bend)
    sea = hill.height(value) - drop

    def down(d: FloatArray) -> tuple[FloatArray, FloatArray]:
        return sea - hill.height(d), hill.falls(d)[0]

    def up(d: FloatArray) -> tuple[FloatArray, FloatArray]:
        return hill.height(d) - sea, -hill.falls(d)[0]

    low = root(up, lowest, value, value - reach)
    return Fitted(value, low, root(down, value, highest, value + reach), slope, bend)


class Hill(NamedTuple):
    """The log likelihood of d, with log(1 - d^2), of each group; all arguments are per group."""

    product: FloatArray  # (pairs of labels,)
    group: IntArray  # (pairs of labels,)
    start: IntArray  # (groups,)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Give the values between which all probabilities are positive."""
        largest = np.maximum.reduceat(self.product, self.start)
        smallest = np.minimum.reduceat(self.product, self.start)
        return -1 / np.maximum(largest, 1), 1 / np.maximum(-smallest, 1)

    def slopes(self, d: FloatArray) -> FloatArray:
        """Give the slope of the log likelihood of each pair of labels."""
        return np.asarray(self.product / (1 + d[self.group] * self.product))

    def height(self, d: FloatArray) -> FloatArray:
        """Give the log likelihood of each group."""
        logs = np.log1p(d[self.group] * self.product)
        return np.asarray(np.add.reduceat(logs, self.start) + np.log1p(-d * d))

    def falls(self, d: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give minus the first and the second derivative: the first rises with d."""
        one = self.slopes(d)
        bend = np.add.reduceat(one * one, self.start) + 2 * (1 + d * d) / (1 - d * d) ** 2
        return -np.add.reduceat(one, self.start) + 2 * d / (1 - d * d), bend


def root(
    f: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    low: FloatArray,
    high: FloatArray,
    start: FloatArray,
) -> FloatArray:
    """Find where rising functions, given with their slopes, are zero: Newton, else halving."""
    edge = CLOSE * (high - low) / 4
    low, high = low + edge, high - edge
    x = np.clip(start, low, high)
    for _ in range(STEPS):
        value, steep = f(x)
        low, high = np.where(value < 0, x, low), np.where(value > 0, x, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = x - value / steep
        new = np.where((new > low) & (new < high), new, (low + high) / 2)
        moved = np.abs(new - x).max(initial=0.0)
        x = new
        if moved < CLOSE:
            break
    return np.asarray(x)


def design_effects(slope: FloatArray, item: IntArray, group: IntArray, n_groups: int) -> FloatArray:
    """Give how much more the slopes of whole items vary than if their pairs were independent."""
    n_items = int(item.max(initial=-1)) + 1
    keys, place = np.unique(group * n_items + item, return_inverse=True)
    of_items = np.bincount(place, slope)
    together = np.bincount(keys // n_items, of_items**2, n_groups)
    apart = np.bincount(group, slope**2, n_groups)
    return np.asarray(np.maximum(together / np.maximum(apart, 1e-300), 1.0))


def discounts(
    first: IntArray, second: IntArray, value: FloatArray, low: FloatArray, n_annotators: int
) -> FloatArray:
    """Give omega: what an annotator's label is worth, from the dependence of pairs.

    Only what is surely above the middle of all pairs counts: what everybody shares, and what may be
    chance, discounts nobody.
    """
    middle = max(float(np.median(value)), 0.0) if len(value) else 0.0
    above = np.maximum(low - middle, 0)
    sums = sum(np.bincount(who, above, n_annotators) for who in (first, second))
    return np.asarray(1 / (1 + sums))


def discounted_truth(codes: Codes, start: FloatArray, omega: FloatArray) -> FloatArray:
    """Give the probability of each class for each item, shape (items, classes), from a start.

    ``omega`` is what each annotator's labels are worth; gold is certain.
    """
    truth, labelled = start, np.diff(codes.item_start) > 0
    for _ in range(PASSES):
        new = np.where(labelled[:, None], _pass(codes, truth, omega), start)
        (known,) = np.nonzero(codes.gold >= 0)
        new[known] = np.eye(codes.n_classes)[codes.gold[known]]
        moved = np.abs(new - truth).max(initial=0.0)
        truth = new
        if moved < STILL:
            break
    return truth


def _pass(codes: Codes, truth: FloatArray, omega: FloatArray) -> FloatArray:
    """Weigh every item by what all others say of its annotators."""
    n_items, n_classes, n_answers = len(codes.gold), codes.n_classes, codes.n_answers
    n_annotators = len(omega)
    item = np.repeat(np.arange(n_items), np.diff(codes.item_start))
    who, answer = codes.item_annotator.astype(np.int64), codes.item_answer
    log_weight = np.log(truth.sum(axis=0) - truth + 1)
    for t in range(n_classes):
        own = truth[item, t]
        said = np.bincount(who * n_answers + answer, own, n_annotators * n_answers)
        said = said.reshape(n_annotators, n_answers)
        crowd = said.sum(axis=0) + 1
        base = crowd / crowd.sum()
        times = said[who, answer] - own + OWN * base[answer]
        ratio = times / (said.sum(axis=1)[who] - own + OWN)
        log_weight[:, t] += np.bincount(item, omega[who] * np.log(ratio), n_items)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
