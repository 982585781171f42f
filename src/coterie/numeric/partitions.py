"""Partitions under the Chinese restaurant process: draw them, number them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]


def draw_crp(n: int, concentration: float, rng: np.random.Generator) -> IntArray:
    """Draw a partition of n things from CRP(concentration): canonical codes, shape (n,).

    Examples
    --------
    >>> draw_crp(4, 1e-12, np.random.default_rng(1)), draw_crp(4, 1e12, np.random.default_rng(1))
    (array([0, 0, 0, 0], dtype=int32), array([0, 1, 2, 3], dtype=int32))
    """
    places = rng.random(n) * (np.arange(n) + concentration)
    group: list[int] = []
    n_coteries = 0
    for l, place in enumerate(places.tolist()):
        # Below l: sit with the person of that number, which is a group in proportion to its size.
        if place < l:
            group.append(group[int(place)])
        else:
            group.append(n_coteries)
            n_coteries += 1
    return np.array(group, np.int32)


def canonical_groups(group: IntArray) -> IntArray:
    """Renumber the groups 0, 1, 2 ... by first appearance; -1 (no group) stays; shape (n,).

    Examples
    --------
    >>> canonical_groups(np.array([7, -1, 3, 7], np.int32))
    array([ 0, -1,  1,  0], dtype=int32)
    """
    seated = group >= 0
    out = np.full(len(group), -1, np.int32)
    _, first, which = np.unique(group[seated], return_index=True, return_inverse=True)
    out[seated] = np.argsort(np.argsort(first))[which]
    return out
