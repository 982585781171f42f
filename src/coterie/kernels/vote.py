"""The vote: what its labels are worth, who wins, and how it is mixed with what models find.

Votes are labels of each class, shape (items, classes); gold the known class of each item, or -1.

Each of the n labels of an item counts tau(n) = 1 / (1 + overlap (n - 1)). Of the model's own
probabilities F, so tempered, the smoothed votes S and those of a skill model K comes

    P ~ F^(1 - vote_power) S^vote_power
    Q = (1 - vote_share - skill_share) P + vote_share S + skill_share K
    R = (1 - floor) Q + floor / T,   which is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie.numeric import Array, FloatArray, IntArray, LongArray

LEAST_SKILL, MOST_SKILL = 0.01, 0.96  # squared: votes always count, and no vote is certain
UNKNOWN = 0.6  # how often two labels agree, where no item has two
SHARED = 1.25  # share of the agreement that is not skill but company


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
    n_classes = votes.shape[1]
    return vote_shares(votes, gold, np.full(n_classes, 1 / max(n_classes, 1)))


def smoothed_vote(votes: IntArray) -> FloatArray:
    """Vote shares with one more label, spread evenly: (V + 1/T) / (n + 1), (items, classes)."""
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
    return softmax(votes * weight / (1 + SHARED * skill * np.maximum(n - 1, 0))[:, None])


def softmax(logs: FloatArray) -> FloatArray:
    weight = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def elect(votes: Array, shift: FloatArray) -> tuple[LongArray, IntArray]:
    """Elect the class with most votes; of k that tie, number floor(k * shift) in class order.

    ``shift`` is a number in [0, 1) for each item: zeros elect the lowest class, uniform draws elect
    at random. Given are who wins, and how many classes have the most votes, one without a tie.
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


@dataclass(frozen=True)
class Mixing:
    """What a model declares of its reports; by default its own probabilities are reported.

    Parameters
    ----------
    overlap
        How alike labels of one item are, beyond their truth.
    vote_power
        Weight of the smoothed votes among the logs.
    vote_share, skill_share
        Weights of the smoothed votes and of a skill model among the probabilities.
    floor
        Weight of equal shares.
    """

    overlap: float = 0.0
    vote_power: float = 0.0
    vote_share: float = 0.0
    skill_share: float = 0.0
    floor: float = 0.0


AS_FOUND = Mixing()
"""Report the model's own probabilities."""


def tempering(n_labels: Array, overlap: float) -> FloatArray:
    """Give what a label of each item is worth beside a lone one, 1 / (1 + overlap (n - 1))."""
    return np.asarray(1 / (1 + overlap * np.maximum(n_labels - 1, 0)))


def mix(
    own: FloatArray, votes: IntArray, mixing: Mixing, skill: FloatArray | None = None
) -> FloatArray:
    """Give what is reported of items that have labels; all arrays are (items, classes).

    ``own`` are the model's own probabilities, tempered; ``skill`` those of the skill model.
    """
    vote, found = smoothed_vote(votes), own
    if mixing.vote_power > 0:
        found = own ** (1 - mixing.vote_power) * vote**mixing.vote_power
        found /= found.sum(axis=1, keepdims=True)
    found = (1 - mixing.vote_share - mixing.skill_share) * found + mixing.vote_share * vote
    if skill is not None:
        found += mixing.skill_share * skill
    if mixing.floor > 0:
        found = (1 - mixing.floor) * found + mixing.floor / max(own.shape[1], 1)
    return found
