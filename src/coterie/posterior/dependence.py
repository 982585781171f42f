"""Residual dependence: who errs with whom, given the truth, under three readings of the truth.

What the truth is decides who errs, and the labels alone do not settle it. Values are given what the
model believes. Intervals hold those under two further truths: one for which annotators are
independent, started at the model's, and one started at the vote for which they are independent
unless pairs are shown to err together (:mod:`coterie.metrics.dependence`). With gold for all items
the three are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.data.frames import table
from coterie.errors import Argument, CoterieError
from coterie.kernels.vote import smoothed_vote
from coterie.metrics.dependence import (
    Fitted,
    LabelPairs,
    discounted_truth,
    discounts,
    fit_groups,
    pair_labels,
)
from coterie.posterior.draws import INTERVAL, once

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
By = Literal["annotator", "coterie"]

LEAST = 5
"""Common items below which nothing is said of a pair."""
ROUNDS = 2
"""How often the discounted truth is found again, from the dependence under the last one."""
MANY = 1_000
"""Annotators above which coteries are compared unless pairs are asked for."""
NORMAL_95 = 1.959963984540054
OWN = "dependence"
"""Name of the draws, shape (chains, draws, annotators, annotators), of models that know more."""


class Mean(NamedTuple):
    """The mean dependence of all pairs, with a 95 % interval."""

    value: float
    low: float
    high: float


@table
@once
def dependence(self: Posterior, by: By | None = None) -> pd.DataFrame:
    """One row per pair: how much their errors go together, given the truth (docs/judges.md).

    Columns: first, second, dependence, low, high (a 95 % interval). Zero: they err
    independently; 0.4: as if one copied the other in four of ten; one: always. Pairs have at
    least five items in common. The interval allows for an uncertain truth, but mistakes that
    everybody makes stay invisible without gold. A model that estimates this has its own values.

    Parameters
    ----------
    by
        ``"annotator"``, or ``"coterie"``: the mean of pairs between and within coteries; by
        default coteries where there are more than 1,000 annotators.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("copycats", items=80, classes=2, annotators=5, random_state=0)
    >>> pairs = coterie.QuickConsensus().fit(crowd.annotations).posterior_.dependence()
    >>> crowd.copied["a5"], pairs.loc[pairs["dependence"].idxmax()].tolist()[:2]
    ('a2', ['a2', 'a5'])
    """
    n_annotators = self.annotations.n_annotators
    if by is None:
        grouped = n_annotators > MANY and self.abilities.coteries
        by = "coterie" if grouped else "annotator"
    if by == "coterie":
        group = self.partition().group.astype(np.int64)
        numbers = np.arange(1, group.max(initial=-1) + 2)
        return _table(under_truths(self), group, numbers, 1)
    if by != "annotator":
        raise CoterieError([Argument("by", by), " is neither 'annotator' nor 'coterie'"])
    own = self.drawn(OWN)
    names = self.annotations.annotators
    if own is None:
        return _table(under_truths(self), np.arange(n_annotators), names, LEAST)
    a, b = np.triu_indices(n_annotators, 1)  # the model draws the dependence itself
    drawn = own.reshape(-1, *own.shape[2:])[:, a, b]
    return _frame(names[a], names[b], drawn.mean(axis=0), *np.quantile(drawn, INTERVAL, axis=0))


def _frame(first: NDArray[Any], second: NDArray[Any], *numbers: FloatArray) -> pd.DataFrame:
    names = ("first", "second", "dependence", "low", "high")
    return pd.DataFrame(dict(zip(names, (first, second, *numbers), strict=True)))


def _table(
    truths: tuple[LabelPairs, ...], group: IntArray, names: NDArray[Any], least: int
) -> pd.DataFrame:
    """Fit every pair of groups (annotators, coteries) that has enough common items."""
    keys, *numbers = _under_all(truths, group, least)
    a, b = np.divmod(keys, max(len(names), 1))
    return _frame(names[a], names[b], *numbers)


def _under_all(
    truths: tuple[LabelPairs, ...], group: IntArray, least: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Give the pairs of groups, their values under the first truth, and ends that hold all."""
    found = [_by_groups(pairs, group, least) for pairs in truths]
    low = np.min([fit.low for _, fit in found], axis=0)
    high = np.max([fit.high for _, fit in found], axis=0)
    return found[0][0], found[0][1].value, low, high


def _by_groups(
    pairs: LabelPairs, group: IntArray, least: int, *, ends: bool = True
) -> tuple[IntArray, Fitted]:
    """Give the pairs of groups, as first times number of groups plus second, and their fits."""
    n_groups = int(group.max(initial=-1)) + 1
    one, other = group[pairs.first], group[pairs.second]
    key = np.minimum(one, other) * n_groups + np.maximum(one, other)
    key[(one < 0) | (other < 0)] = -1
    keys, place, size = np.unique(key, return_inverse=True, return_counts=True)
    good = (size >= least) & (keys >= 0)
    kept = np.flatnonzero(good[place])
    kept = kept[np.argsort(place[kept], kind="stable")]
    number = (np.cumsum(good) - 1)[place[kept]]
    item = pairs.item[kept] if n_groups < len(group) else None  # several pairs of an item
    return keys[good], fit_groups(pairs.product[kept], number, int(good.sum()), item, ends=ends)


def mean_dependence(posterior: Posterior, known: IntArray | None = None) -> Mean | None:
    """Give the mean dependence over pairs of labels of one item; None where no item has two.

    If the known class of each item is given, -1 where unknown, shape (items,), only those items
    count, and there is one truth. Each pair of annotators counts by its common items; those with
    fewer than five are fitted together. The interval is from the spread of items, whose labels may
    depend in any way.
    """
    truths = under_truths(posterior) if known is None else under_known(posterior, known)
    if not len(truths[0].item):
        return None
    means = [_mean(pairs, posterior.annotations.n_annotators) for pairs in truths]
    return Mean(means[0].value, min(m.low for m in means), max(m.high for m in means))


def _mean(pairs: LabelPairs, n_annotators: int) -> Mean:
    key = pairs.first * n_annotators + pairs.second
    _, place, size = np.unique(key, return_inverse=True, return_counts=True)
    rest = int(np.count_nonzero(size < LEAST) > 0)  # the first group is of those with few items
    number = np.where(size < LEAST, 0, np.cumsum(size >= LEAST) - 1 + rest)[place]
    order = np.argsort(number, kind="stable")
    number, item = number[order], pairs.item[order]
    weight = np.bincount(number) / len(number)
    fit = fit_groups(pairs.product[order], number, len(weight), ends=False)
    value = float(weight @ fit.value)
    influence = np.bincount(item, (weight / fit.bend)[number] * fit.slope)
    error = float(np.sqrt((influence**2).sum()))
    return Mean(value, value - NORMAL_95 * error, value + NORMAL_95 * error)


def counted_dependence(
    posterior: Posterior, known: IntArray | None = None, *, copy: float = 0.5
) -> Mean | None:
    """Give the mean dependence in which nobody's negative one makes up for those who err together.

    It is, of what :func:`mean_dependence` takes, the mean of all pairs, or that in which pairs
    whose interval does not lie above zero count as zero, if that is larger; with the interval of
    the mean, moved as far, and no lower than where the intervals of copies alone, those that lie
    above ``copy``, have their lower ends.
    """
    mean = mean_dependence(posterior, known)
    if mean is None:
        return None
    truths = under_truths(posterior) if known is None else under_known(posterior, known)
    n = posterior.annotations.n_annotators
    keys, value, low, _ = _under_all(truths, np.arange(n), LEAST)
    every, common = np.unique(truths[0].first * n + truths[0].second, return_counts=True)
    weight = common[np.searchsorted(every, keys)] / common.sum()
    shown = float((weight * value)[low > 0].sum())
    floor = float((weight * low)[low > copy].sum())
    up = max(shown - mean.value, 0.0)
    return Mean(mean.value + up, max(mean.low + up, floor), mean.high + up)


def under_known(posterior: Posterior, known: IntArray) -> tuple[LabelPairs, ...]:
    """Give the pairs of labels of known items, under what is known."""
    codes = posterior.annotations.codes
    certain = np.where(known[:, None] >= 0, np.eye(codes.n_classes)[np.maximum(known, 0)], 0.0)
    pairs = pair_labels(codes, certain)
    kept = known[pairs.item] >= 0
    return (pairs._replace(**{name: x[kept] for name, x in pairs._asdict().items()}),)


def known_dependence(posterior: Posterior, known: IntArray) -> pd.DataFrame:
    """Give the table of :meth:`coterie.Posterior.dependence` from known items alone."""
    a = posterior.annotations
    return _table(under_known(posterior, known), np.arange(a.n_annotators), a.annotators, LEAST)


def under_truths(posterior: Posterior) -> tuple[LabelPairs, ...]:
    """Give the pairs of labels under each truth, the model's own first."""
    memory, key = posterior._computed, ("label pairs",)
    if key not in memory:
        codes = posterior.annotations.codes
        own = posterior.probabilities(raw=posterior.abilities.uncertainty).to_numpy()
        truths = [own]
        if (codes.gold < 0).any():
            equal = np.ones(posterior.annotations.n_annotators)
            truths.append(discounted_truth(codes, own, equal))
            truths.append(_discounted(codes, smoothed_vote(posterior.annotations.votes)))
        memory[key] = tuple(pair_labels(codes, truth) for truth in truths)
    found: tuple[LabelPairs, ...] = memory[key]
    return found


def _discounted(codes: Codes, start: FloatArray) -> FloatArray:
    """Find truth and dependence in turns, from the vote."""
    n_annotators = len(codes.annotator_start) - 1
    (known,) = np.nonzero(codes.gold >= 0)
    start[known] = np.eye(codes.n_classes)[codes.gold[known]]
    truth = start
    for _ in range(ROUNDS):
        pairs = pair_labels(codes, truth)
        keys, fit = _by_groups(pairs, np.arange(n_annotators), LEAST, ends=False)
        first, second = np.divmod(keys, n_annotators)
        omega = discounts(first, second, fit.value, fit.low, n_annotators)
        truth = discounted_truth(codes, start, omega)
    return truth
