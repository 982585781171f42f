"""The vote: what the labels that each class of each item got are worth, and who wins.

Votes are labels of each class, shape (items, classes); gold the known class of each item, or -1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.numeric import Array, FloatArray, IntArray, LongArray

LEAST_SKILL, MOST_SKILL = 0.01, 0.96
"""Squared skills: votes always count a little, and no vote is certain."""
UNKNOWN = 0.6
"""How often two labels agree, where no item has two."""
SHARED = 1.25
"""Share of the agreement that is not skill but company: n labels are worth fewer than n."""


def fixed_point(numbers: FloatArray, n: int) -> LongArray:
    """Give numbers of at most one as whole ones, of which ``n`` sum exactly, in any order."""
    return (numbers * scale_of(n) + 0.5).astype(np.int64)


def scale_of(n: int) -> float:
    """Give what :func:`fixed_point` multiplies by."""
    return float(2.0 ** (62 - max(n, 1).bit_length()))


def vote_shares(votes: IntArray, gold: Array, mean: FloatArray | None = None) -> FloatArray:
    """Share of each class in the votes of each item; one for the known class of a gold item.

    An item without votes gets ``mean``, (classes,), or that of the other items' shares: the class
    proportions. (Where no item has any, the classes are alike.)

    Examples
    --------
    >>> vote_shares(np.array([[1, 3], [0, 0], [2, 2]]), np.array([-1, -1, 0])).tolist()
    [[0.25, 0.75], [0.625, 0.375], [1.0, 0.0]]
    """
    shares = votes.astype(np.float64)
    (known,) = np.nonzero(gold >= 0)
    shares[known] = 0
    shares[known, gold[known]] = 1
    total = shares.sum(axis=1, keepdims=True)
    silent = total[:, 0] == 0
    shares /= np.where(total > 0, total, 1)
    if silent.any():
        n, total = len(shares), fixed_point(shares[~silent], len(shares)).sum(axis=0)
        n_voted = int(np.count_nonzero(~silent))
        shares[silent] = mean_share(total, n_voted, n) if mean is None else mean
    return shares


def mean_share(total: LongArray, n_voted: int, n: int) -> FloatArray:
    """Give the class proportions of the items with votes; even if there are none.

    ``total`` (classes,) sums the shares of n_voted of n items in fixed point.
    """
    if n_voted == 0:
        return np.full(len(total), 1 / max(len(total), 1))
    return np.asarray(total / scale_of(n) / n_voted)


def even_shares(votes: IntArray, gold: Array) -> FloatArray:
    """Give vote shares that are even where there are no votes."""
    n_classes = votes.shape[1]
    return vote_shares(votes, gold, np.full(n_classes, 1 / max(n_classes, 1)))


def smoothed_vote(votes: IntArray) -> FloatArray:
    """Vote shares with one more label, spread evenly: (V + 1/T) / (n + 1), shape (items, classes).

    Examples
    --------
    >>> smoothed_vote(np.array([[3, 0], [0, 0]])).tolist()
    [[0.875, 0.125], [0.5, 0.5]]
    """
    n_classes = max(votes.shape[1], 1)
    return np.asarray((votes + 1 / n_classes) / (votes.sum(axis=1, keepdims=True) + 1))


def pair_agreement(votes: IntArray) -> FloatArray:
    """Give how often two labels of an item agree, of the items with two at least."""
    n = votes.sum(axis=1)
    several = n > 1
    return np.asarray((votes * (votes - 1)).sum(axis=1)[several] / (n * (n - 1))[several])


def mean_agreement(total: int, n_several: int, n: int) -> float:
    """Give the mean agreement of the n_several of n items, from its sum in fixed point."""
    return total / scale_of(n) / n_several if n_several else UNKNOWN


def skill_vote(votes: IntArray, agreement: float | None = None) -> FloatArray:
    """Give the probabilities that a vote supports, from how often labels of an item agree.

    Were all annotators right equally often and wrong evenly, two labels of an item would agree
    with probability g = 1/T + s (1 - 1/T), which gives the skill sqrt(s); the weight of a label is
    its log odds, tempered by 1 + 1.25 s (n - 1). The most voted class stays the most probable.
    ``agreement`` is that of all items, by default of these.

    Examples
    --------
    >>> skill_vote(np.array([[3, 0], [0, 3], [2, 1]])).round(2).tolist()
    [[0.92, 0.08], [0.08, 0.92], [0.69, 0.31]]
    """
    n_classes, n = votes.shape[1], votes.sum(axis=1)
    if n_classes < 2:
        return np.ones(votes.shape)
    if agreement is None:
        pairs = pair_agreement(votes)
        total = int(fixed_point(pairs, len(votes)).sum())
        agreement = mean_agreement(total, len(pairs), len(votes))
    chance = 1 / n_classes
    skill = np.clip((agreement - chance) / (1 - chance), LEAST_SKILL, MOST_SKILL)
    root = np.sqrt(skill)
    weight = np.log((1 + (n_classes - 1) * root) / (1 - root))
    logs = votes * weight / (1 + SHARED * skill * np.maximum(n - 1, 0))[:, None]
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def elect(votes: Array, shift: FloatArray) -> tuple[LongArray, IntArray]:
    """Elect the class with most votes; of k that tie, number floor(k * shift) in class order.

    ``shift`` is a number in [0, 1) for each item: zeros elect the lowest class, uniform draws elect
    at random. Given are who wins, and how many classes have the most votes, one without a tie.

    Examples
    --------
    >>> winner, n_tied = elect(np.array([[2, 1, 2], [0, 1, 0]]), np.array([0.5, 0.0]))
    >>> winner.tolist(), n_tied.tolist()
    ([2, 1], [2, 1])
    """
    best = votes == votes.max(axis=1, keepdims=True, initial=0)
    n_tied = best.sum(axis=1, dtype=np.int32)
    skip = (n_tied * shift).astype(np.int64)
    winner = (best.cumsum(axis=1) > skip[:, None]).argmax(axis=1)
    return winner, n_tied


class ClearVotes(NamedTuple):
    """The items without gold whose vote has one clear winner."""

    item: IntArray  # (items with one,)
    winner: IntArray  # (items with one,)


def clear_votes(votes: IntArray, gold: Array) -> ClearVotes:
    """Give the items without gold whose vote has one clear winner, and the winners."""
    most = votes.max(axis=1, keepdims=True, initial=0)
    (item,) = np.nonzero(((votes == most).sum(axis=1) == 1) & (gold < 0))
    return ClearVotes(item.astype(np.int32), votes[item].argmax(axis=1).astype(np.int32))
