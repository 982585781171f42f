"""Where chains start: far apart, so that their agreement means something."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.numeric.dirichlet import draw_crp

NOISE = 0.3
"""Share of the items whose starting class is drawn from their labels instead of the vote."""

MOST_GROUPS = 500
"""Coteries that a chain starts with at most: weighing each for everybody takes time."""

IntArray = NDArray[np.int32]


def starting_truth(number: int, data: Codes, votes: IntArray, rng: np.random.Generator) -> IntArray:
    """Give a class to every item: the vote in the first chain, noisy votes in the others.

    A noisy vote is, for a share of the items, the class of one of the item's own labels.

    Returns
    -------
    Array of shape (items,).
    """
    n_classes, n_labels = data.n_classes, np.diff(data.item_start)
    truth: IntArray = votes.argmax(axis=1).astype(np.int32)
    if number > 0:
        (labelled,) = np.nonzero(n_labels)  # the others draw nothing: they change nobody's bits
        noisy = labelled[rng.random(len(labelled)) < NOISE]
        said = data.item_answer[data.item_start[noisy] + rng.integers(0, n_labels[noisy])]
        truth[noisy] = np.where(said < n_classes, said, truth[noisy])
    return truth


def starting_group(number: int, data: Codes, rng: np.random.Generator) -> IntArray:
    """Give a coterie to every annotator: all together, all alone, then CRP draws.

    Returns
    -------
    Array of shape (annotators,); those without labels have none, -1.
    """
    labelled = np.diff(data.annotator_start) > 0
    n_labelled = int(np.count_nonzero(labelled))
    group = np.full(len(labelled), -1, np.int32)
    if number == 0:
        group[labelled] = 0
    elif number == 1:
        group[labelled] = np.arange(n_labelled) % MOST_GROUPS
    else:
        group[labelled] = draw_crp(n_labelled, 1.0, rng)
    return group
