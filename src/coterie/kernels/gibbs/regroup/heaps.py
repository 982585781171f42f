"""What the members of a heap said: all that the density of beta and eta needs of them.

The probability of their labels is a product of rising factorials, in which x + j stands as often as
there are members with more than j labels in the cell. Few of the counts are long; those are listed.
"""

from __future__ import annotations

import math

from coterie.kernels.gibbs.cells import gather_cells
from coterie.kernels.gibbs.regroup.room import Heaps, Room
from coterie.kernels.gibbs.regroup.state import Crowd
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.rising import log_rising_after


@part
def clear_heap(k: int, heaps: Heaps) -> None:
    """Take everybody off heap k."""
    heaps.size[k] = 0
    heaps.n_long[k] = 0
    for cell in range(heaps.over.shape[1]):
        for j in range(heaps.over.shape[2]):
            heaps.over[k, cell, j] = 0


@piece
def add_count(cell: int, n: int, k: int, heaps: Heaps) -> None:
    """Add a member's n labels in a cell to heap k."""
    most = heaps.over.shape[2]
    for j in range(n if n < most else most):
        heaps.over[k, cell, j] += 1
    if n > most:
        place = heaps.n_long[k]
        heaps.cell[k, place] = cell
        heaps.labels[k, place] = n
        heaps.n_long[k] = place + 1


@part
def add_member(k: int, n_classes: int, n_answers: int, room: Room) -> None:
    """Add an annotator, whose cells are gathered, to heap k."""
    cells, heaps = room.cells, room.heaps
    heaps.size[k] += 1
    for place in range(cells.lengths[0]):
        t, n = int64(cells.row[place, 0]), int64(cells.row[place, 1])
        add_count(n_answers * n_classes + t, n, k, heaps)
    for place in range(cells.lengths[1]):
        t, c, n = cells.cell[place, 0], cells.cell[place, 1], cells.cell[place, 2]
        add_count(int64(c) * n_classes + t, int64(n), k, heaps)


@part
def add_heaps(a: int, b: int, k: int, heaps: Heaps) -> None:
    """Put heaps a and b together, on heap k."""
    heaps.size[k] = heaps.size[a] + heaps.size[b]
    heaps.n_long[k] = heaps.n_long[a] + heaps.n_long[b]
    for cell in range(heaps.over.shape[1]):
        for j in range(heaps.over.shape[2]):
            heaps.over[k, cell, j] = heaps.over[a, cell, j] + heaps.over[b, cell, j]
    place = int64(0)
    for side in (a, b):
        for entry in range(heaps.n_long[side]):
            heaps.cell[k, place] = heaps.cell[side, entry]
            heaps.labels[k, place] = heaps.labels[side, entry]
            place += 1


@part
def heap_coterie(m: int, k: int, crowd: Crowd, room: Room) -> None:
    """Make heap k of the members of coterie m."""
    n_answers, n_classes = int64(crowd.said.shape[1]), int64(crowd.said.shape[2])
    clear_heap(k, room.heaps)
    for place in range(len(room.people)):
        l = int64(room.people[place])
        if crowd.group[l] == m:
            gather_cells(l, crowd.said, room.cells)
            add_member(k, n_classes, n_answers, room)


@part
def log_cell(cell: int, k: int, x: float, log_x: float, heaps: Heaps) -> float:
    """Give the log of the product of (x)_(n) over the short counts n of a cell, long ones cut."""
    if heaps.over[k, cell, 0] == 0:
        return 0.0
    result = heaps.over[k, cell, 0] * log_x  # x may have underflowed
    for j in range(1, heaps.over.shape[2]):
        if heaps.over[k, cell, j] == 0:
            break
        result += heaps.over[k, cell, j] * math.log(x + j)
    return float(result)


@piece
def log_long(n: int, x: float, log_x: float, heaps: Heaps) -> float:
    """Give the log of what :func:`log_cell` cuts off (x)_(n)."""
    most = int64(heaps.over.shape[2])
    return log_rising_after(x, most, int64(n) - most, log_x)
