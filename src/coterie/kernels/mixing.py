"""How a model's own probabilities become those that it reports: tempered, and mixed with others.

Each of the n labels of an item counts tau(n) = 1 / (1 + overlap (n - 1)). Of the model's own
probabilities F, so tempered, the smoothed votes S and those of a skill model K comes

    P ~ F^(1 - vote_power) S^vote_power
    Q = (1 - vote_share - skill_share) P + vote_share S + skill_share K
    R = (1 - floor) Q + floor / T,   which is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.kernels.vote import smoothed_vote
from coterie.numeric import Array, FloatArray, IntArray


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

    Examples
    --------
    >>> mix(np.array([[0.95, 0.05]]), np.array([[2, 1]]), Mixing(vote_share=1 / 3)).round(4)
    array([[0.8417, 0.1583]])
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
