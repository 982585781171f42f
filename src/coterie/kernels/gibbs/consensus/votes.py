"""What Consensus takes from elsewhere: pseudo-counts from votes, what its report is mixed with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.mixing import Mixing, mix
from coterie.kernels.quick import tempered_skills
from coterie.priors import ConsensusPrior

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


def class_weights(votes: IntArray, gold: IntArray, prior: ConsensusPrior) -> FloatArray:
    """Give ``class_base + class_pull * N * f[t]``, f from the votes and fixed before sampling.

    f[t] is proportional to ``class_smoothing`` plus the items that t wins: an item with a label
    among the classes counts for those with most of its votes, in equal parts, gold for its class.
    N is the number of such items; others, with extra answers only or with nothing, count nowhere.

    Parameters
    ----------
    votes, gold
        Labels of each class of each item, shape (items, classes); known classes, or -1, (items,).
    prior
        Where the constants are.

    Returns
    -------
    Array of shape (classes,).

    Examples
    --------
    >>> votes, unknown = np.array([[2, 0], [1, 1], [0, 0], [0, 0]]), np.full(4, -1)
    >>> class_weights(votes, unknown, ConsensusPrior()).tolist()
    [5.0, 3.0]
    """
    wins = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    known = np.flatnonzero(gold >= 0)
    wins[known] = False
    wins[known, gold[known]] = True
    n_modal, n_classes = wins.sum(axis=1), votes.shape[1]
    # How many items t wins, by the number of classes that share them: whole numbers sum alike in
    # any order.
    shared = np.stack(
        [np.bincount(n_modal[wins[:, t]], minlength=n_classes + 1) for t in range(n_classes)]
    )
    won = prior.class_smoothing + (shared[:, 1:] / np.arange(1, n_classes + 1)).sum(axis=1)
    n_items = np.count_nonzero(n_modal)
    weights: FloatArray = prior.class_base + prior.class_pull * n_items * won / won.sum()
    return weights


def mix_members(
    probability: FloatArray, votes: IntArray, data: Codes, mixing: Mixing
) -> FloatArray:
    """Mix probabilities with the votes and a skill model; gold and items without labels stay.

    Parameters
    ----------
    probability
        Probabilities of the classes, shape (items, classes).
    votes, data
        The votes, shape (items, classes), and the labels that they count.
    mixing
        The weights of both.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> data = encode([0, 0, 0], [0, 1, 2], [0, 0, 1], sizes=(2, 3, 2, 2))
    >>> votes = np.array([[2, 1], [0, 0]])
    >>> found = np.array([[0.95, 0.05], [0.7, 0.3]])
    >>> mix_members(found, votes, data, Mixing(vote_share=1 / 3)).round(4)
    array([[0.8417, 0.1583],
           [0.7   , 0.3   ]])
    """
    skill = tempered_skills(data, votes) if mixing.skill_share > 0 else None
    mixed = mix(probability, votes, mixing, skill)
    as_is = (data.gold >= 0) | (np.diff(data.item_start) == 0)
    return np.where(as_is[:, None], probability, mixed)
