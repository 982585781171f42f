"""The votes: how many labels each class of each item got."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.batches import parts_of
from coterie.data.codes import Codes


def count_votes(codes: Codes) -> NDArray[np.int32]:
    """Count the labels of each class of each item.

    Extra answers are no vote for any class; an annotator's repeated labels are as many votes.

    Returns
    -------
    Array of shape (items, classes).

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> count_votes(encode([0, 0, 0, 1], [0, 1, 2, 0], [1, 1, 0, 2], sizes=(3, 3, 2, 3))).tolist()
    [[1, 2], [0, 0], [0, 0]]
    """
    votes = np.zeros((len(codes.gold), codes.n_classes), np.int32)
    for items, labels, item in parts_of(codes):
        answer = codes.item_answer[labels]
        vote = answer < codes.n_classes
        place = item[vote] * codes.n_classes + answer[vote]
        counted = np.bincount(place, minlength=votes[items].size)
        votes[items] = counted.reshape(-1, codes.n_classes)
    return votes
