"""How often two annotators sit in one coterie, counted over stored partitions in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.compile import entry

BLOCK = 256
"""Annotators of a block: two blocks of partitions stay in a core's cache."""


def share_together(partition: NDArray[Any]) -> NDArray[np.float64]:
    """Give the share of partitions, shape (draws, annotators), in which two sit together.

    Labels mean nothing across rows.

    Examples
    --------
    >>> share_together(np.array([[0, 0, 1], [0, 1, 1]]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    n_draws, n_annotators = partition.shape
    share = np.empty((n_annotators, n_annotators))
    # An annotator's draws lie together, in as few bytes as will do: the counting is bound by them.
    highest = partition.max(initial=0)
    kind = np.uint8 if highest < 2**8 else np.uint16 if highest < 2**16 else int
    coterie = partition.astype(kind).T.copy()
    for a in range(0, n_annotators, BLOCK):
        for b in range(a, n_annotators, BLOCK):
            one, other = slice(a, a + BLOCK), slice(b, b + BLOCK)
            share[one, other] = count_equal(coterie[one], coterie[other])
            share[other, one] = share[one, other].T
    share /= n_draws
    return share


@entry
def count_equal(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int32]:
    """Count the columns in which a row of the first and a row of the second agree.

    Codes have shape (rows, columns), the rows contiguous; the counts (rows, rows).
    """
    count = np.empty((len(first), len(second)), np.int32)
    for a in range(len(first)):
        for b in range(len(second)):
            equal = np.int32(0)  # the width decides how many comparisons go into one instruction
            for d in range(first.shape[1]):
                equal += np.int32(first[a, d] == second[b, d])
            count[a, b] = equal
    return count
