"""The labels a part at a time, for numpy: what is made on the way stays small beside them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes

AT_ONCE = 2**20
"""Labels in a part, about: items stay whole."""


class Part(NamedTuple):
    """Some items with all their labels."""

    items: slice
    labels: slice
    item: NDArray[np.int64]  # (labels,)   of each label, counted from the part's first


def parts_of(data: Codes) -> Iterator[Part]:
    """Cut the labels into parts of whole items.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> codes = encode([1, 0, 1], [0, 0, 2], [1, 0, 1], sizes=(3, 3, 2, 2))
    >>> [(part.items, part.item.tolist()) for part in parts_of(codes)]
    [(slice(0, 3, None), [0, 1, 1])]
    """
    start = data.item_start
    n_items = len(start) - 1
    # The first item at or after every so many labels.
    firsts = np.searchsorted(start, np.arange(0, int(start[-1]), AT_ONCE)).tolist()
    for first, last in itertools.pairwise([0, *firsts[1:], n_items]):
        own = start[first : last + 1]
        item = np.repeat(np.arange(last - first), np.diff(own))
        yield Part(slice(first, last), slice(int(own[0]), int(own[-1])), item)
