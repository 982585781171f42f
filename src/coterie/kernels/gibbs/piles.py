"""What the members of groups said, summed in piles, and how probable a pile is as one group.

See :mod:`coterie.kernels.gibbs.split_merge`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.cells import Cells, Tables, add_cells, log_marginal, new_cells
from coterie.kernels.shapes import Shapes
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.rising import log_rising

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]

STAYS, LEAVES, BOTH, TRIED, GROUPS = 0, 1, 2, 3, 4
"""The piles: the sides of i and j, both together, one that is tried; then those of all slots."""


class Seating(NamedTuple):
    """The part of a state that the move changes; see :mod:`coterie.kernels.gibbs.groups`."""

    group: IntArray  # (annotators,)
    size: IntArray  # (slots,)
    slot: IntArray  # (slots,)
    n_coteries: LongArray  # (1,)


class Said(NamedTuple):
    """What annotators are weighed by."""

    counts: IntArray  # (annotators, answers, classes)   x
    decay: FloatArray  # (annotators, strengths)          -log nu


class Base(NamedTuple):
    """What groups are weighed by: one Dirichlet base, and the Gamma prior of their strengths."""

    shapes: Shapes
    tables: Tables
    shape: FloatArray  # (strengths,)   as many as classes, or one, or none
    log_shape: FloatArray  # (strengths,)
    rate: FloatArray  # (strengths,)


class Sides(NamedTuple):
    """What the members of a group said, summed: piles of the two sides, and of other groups."""

    counts: IntArray  # (piles, answers, classes)
    total: IntArray  # (piles, classes)
    decay: FloatArray  # (piles, strengths)
    log_strength: FloatArray  # (2,)   of the two sides: log of the part of the strengths
    size: LongArray  # (piles,)


class Room(NamedTuple):
    """What annotators are weighed by, and room for one proposal."""

    proposals: LongArray  # (1,)   how many a sweep
    said: Said
    people: IntArray  # (annotators with labels,)   who they are
    pair: LongArray  # (2,)   i and j
    others: IntArray  # (annotators with labels,)   of their groups, in the order in which they go
    n_others: LongArray  # (1,)
    weights: FloatArray  # (slots,)   of the groups to merge with: logs, then probabilities
    side: NDArray[np.int8]  # (annotators,)   where each of the others goes
    log_strength: FloatArray  # (2,)   of the sides if one more went there
    sides: Sides
    cells: Cells


def base_of(shapes: Shapes, tables: Tables, shape: FloatArray, rate: FloatArray) -> Base:
    """Give what groups are weighed by."""
    return Base(shapes, tables, np.array(shape), np.log(shape), np.array(rate))


def new_room(data: Codes, n_slots: int, proposals: int, said: Said) -> Room:
    """Give room for any proposal."""
    n_piles = GROUPS + n_slots
    labels = np.diff(data.annotator_start)
    people = np.flatnonzero(labels > 0).astype(np.int32)
    sides = Sides(
        counts=np.zeros((n_piles, data.n_answers, data.n_classes), np.int32),
        total=np.zeros((n_piles, data.n_classes), np.int32),
        decay=np.zeros((n_piles, said.decay.shape[1])),
        log_strength=np.zeros(2),
        size=np.zeros(n_piles, np.int64),
    )
    return Room(
        proposals=np.array([proposals]),
        said=said,
        people=people,
        pair=np.zeros(2, np.int64),
        others=np.zeros(len(people), np.int32),
        n_others=np.zeros(1, np.int64),
        weights=np.zeros(n_slots),
        side=np.zeros(len(labels), np.int8),
        log_strength=np.zeros(2),
        sides=sides,
        cells=new_cells(data),
    )


@part
def log_strengths(k: int, more: int, base: Base, room: Room) -> float:
    """Give the log of what the strengths contribute to pile k, with annotator ``more`` (-1: none).

    Of them the cells are gathered.
    """
    n_strengths, sides, cells, result = len(base.shape), room.sides, room.cells, 0.0
    for g in range(n_strengths):
        tables, decay = int64(0), sides.decay[k, g]
        for t in range(g, sides.total.shape[1], n_strengths):
            tables += sides.total[k, t]
        if more >= 0:
            decay += room.said.decay[more, g]
            for row in range(cells.lengths[0]):
                if cells.row[row, 0] % n_strengths == g:
                    tables += cells.row[row, 1]
        shape, rate = base.shape[g], base.rate[g]
        result += log_rising(shape, tables, base.log_shape[g])
        result -= tables * math.log(rate + decay) + shape * math.log1p(decay / rate)
    return result


@piece
def clear_pile(k: int, sides: Sides) -> None:
    """Take everybody off pile k."""
    sides.size[k] = 0
    for g in range(sides.decay.shape[1]):
        sides.decay[k, g] = 0.0
    for t in range(sides.total.shape[1]):
        sides.total[k, t] = 0
        for c in range(sides.counts.shape[1]):
            sides.counts[k, c, t] = 0


@piece
def add_to_pile(l: int, k: int, room: Room) -> None:
    """Count annotator l, whose cells are gathered, on pile k."""
    add_cells(room.cells, 1, k, room.sides.counts, room.sides.total)
    room.sides.size[k] += 1
    for g in range(room.sides.decay.shape[1]):
        room.sides.decay[k, g] += room.said.decay[l, g]


@piece
def add_piles(a: int, b: int, k: int, sides: Sides) -> None:
    """Put piles a and b together, on pile k."""
    sides.size[k] = sides.size[a] + sides.size[b]
    for g in range(sides.decay.shape[1]):
        sides.decay[k, g] = sides.decay[a, g] + sides.decay[b, g]
    for t in range(sides.total.shape[1]):
        sides.total[k, t] = sides.total[a, t] + sides.total[b, t]
        for c in range(sides.counts.shape[1]):
            sides.counts[k, c, t] = sides.counts[a, c, t] + sides.counts[b, c, t]


@part
def log_together(k: int, base: Base, room: Room) -> float:
    """Give the log of the factor of pile k as one group; that of alpha is left out."""
    sides = room.sides
    log_p = math.lgamma(sides.size[k]) + log_strengths(k, -1, base, room)
    return float(log_p + log_marginal(k, sides.counts, sides.total, base.shapes, base.tables))
