"""How often classes are voted for, as the pseudo-counts of their proportions."""

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
