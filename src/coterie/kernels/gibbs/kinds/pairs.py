"""Coteries of pairs: what cBCC and hcBCC with kinds share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.space import Space
from coterie.kernels.gibbs.kinds.shared import Mixing, count_pair, find_main_pairs
from coterie.kernels.gibbs.seats import Seats, write_partition
from coterie.numeric.jit import part

IntArray = NDArray[np.int32]


@part
def count_own(cell: IntArray, n_kinds: int, space: Space, data: Codes, own: IntArray) -> None:
    """Count every pair's labels afresh, own of shape (pairs, answers, classes)."""
    own[:] = 0
    for i in range(len(cell)):
        f = cell[i]
        if f >= 0:
            for k in range(data.item_start[i], data.item_start[i + 1]):
                p = data.item_annotator[k] * n_kinds + space.kind_of[f]
                own[p, data.item_answer[k], space.class_of[f]] += 1


@part
def move_own(was: IntArray, cell: IntArray, n_kinds: int, data: Codes, own: IntArray) -> None:
    """Count the labels of items that have moved where they are now; ``was`` becomes ``cell``."""
    n_classes = own.shape[2]
    for i in range(len(cell)):
        if was[i] != cell[i]:
            for f, sign in ((was[i], -1), (cell[i], 1)):
                for k in range(data.item_start[i], data.item_start[i + 1]):
                    p = data.item_annotator[k] * n_kinds + f // n_classes
                    own[p, data.item_answer[k], f % n_classes] += sign
            was[i] = cell[i]


@part
def count_coteries(group: IntArray, own: IntArray, noted: IntArray) -> int:
    """Count the coteries with at least one pair that has labels now."""
    noted[:] = 0
    n_coteries = 0
    for p in range(len(group)):
        m = group[p]
        if m >= 0 and noted[m] == 0 and count_pair(p, own) > 0:
            noted[m] = 1
            n_coteries += 1
    return n_coteries


@part
def write_people(
    own: IntArray, n_kinds: int, seats: Seats, people: Seats, mixing: Mixing, out: IntArray
) -> None:
    """Write the partition of annotators: everybody sits where most of their labels are."""
    find_main_pairs(seats.seat, own, n_kinds, mixing)
    for l in range(len(mixing.seat)):
        people.seat[l] = mixing.seat[l]
    write_partition(people, out)
