"""What Consensus takes from the votes: the pseudo-counts of the classes, a third of its report."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.vote import count_votes
from coterie.priors import ConsensusPrior


def class_weights(data: Codes, prior: ConsensusPrior) -> NDArray[np.float64]:
    """Give ``class_base + class_pull * N * f[t]``, f from the votes and fixed before sampling.

    f[t] is proportional to ``class_smoothing`` plus the items that t wins: an item with a label
    among the classes counts for those with most of its votes, in equal parts, gold for its class.
    N is the number of such items; others, with extra answers only or with nothing, count nowhere.

    Returns
    -------
    Array of shape (classes,).

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> data = encode([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [0, 0, 0, 1, 2], sizes=(4, 2, 2, 3))
    >>> class_weights(data, ConsensusPrior()).tolist()
    [5.0, 3.0]
    """
    votes = count_votes(data)
    wins = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    known = np.flatnonzero(data.gold >= 0)
    wins[known] = False
    wins[known, data.gold[known]] = True
    n_modal = wins.sum(axis=1, keepdims=True)
    won = prior.class_smoothing + (wins / np.maximum(n_modal, 1)).sum(axis=0)
    n_items = np.count_nonzero(n_modal)
    weights: NDArray[np.float64] = prior.class_base + prior.class_pull * n_items * won / won.sum()
    return weights


def mix_with_votes(
    probability: NDArray[np.float64], data: Codes, vote_share: float
) -> NDArray[np.float64]:
    """Mix probabilities with the smoothed votes (V[i, t] + 1/T) / (n[i] + 1).

    V and n count labels among the T classes. Gold items and items without labels stay as they are.

    Parameters
    ----------
    probability
        Probabilities of the classes, shape (items, classes).
    data
        The labels.
    vote_share
        Weight of the votes, between 0 and 1.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> data = encode([0, 0, 0], [0, 1, 2], [0, 0, 1], sizes=(2, 3, 2, 2))
    >>> mix_with_votes(np.array([[0.95, 0.05], [0.7, 0.3]]), data, 1 / 3).round(4)
    array([[0.8417, 0.1583],
           [0.7   , 0.3   ]])
    """
    votes = count_votes(data)
    smoothed = (votes + 1 / data.n_classes) / (votes.sum(axis=1, keepdims=True) + 1)
    mixed = (1 - vote_share) * probability + vote_share * smoothed
    as_is = (data.gold >= 0) | (np.diff(data.item_start) == 0)
    return np.where(as_is[:, None], probability, mixed)
