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
from coterie.numeric.jit import part, piece

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


class Base(NamedTuple):
    """What groups are weighed by: one Dirichlet base."""

    shapes: Shapes
    tables: Tables


class Sides(NamedTuple):
    """What the members of a group said, summed: piles of the two sides, and of other groups."""

    counts: IntArray  # (piles, answers, classes)
    total: IntArray  # (piles, classes)
    size: LongArray  # (piles,)


class Room(NamedTuple):
    """What annotators are weighed by, and room for one proposal."""

    proposals: LongArray  # (1,)   how many per sweep
    said: IntArray  # (annotators, answers, classes)   what they said
    people: IntArray  # (annotators with labels,)   who they are
    pair: LongArray  # (2,)   i and j
    others: IntArray  # (annotators with labels,)   of their groups, in the order in which they go
    n_others: LongArray  # (1,)
    weights: FloatArray  # (slots,)   of the groups to merge with: logs, then probabilities
    side: NDArray[np.int8]  # (annotators,)   where each of the others goes
    sides: Sides
    cells: Cells


def new_room(data: Codes, n_slots: int, proposals: int, said: IntArray) -> Room:
    """Give room for any proposal."""
    n_piles = GROUPS + n_slots
    labels = np.diff(data.annotator_start)
    people = np.flatnonzero(labels > 0).astype(np.int32)
    sides = Sides(
        counts=np.zeros((n_piles, data.n_answers, data.n_classes), np.int32),
        total=np.zeros((n_piles, data.n_classes), np.int32),
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
        sides=sides,
        cells=new_cells(data),
    )


@piece
def clear_pile(k: int, sides: Sides) -> None:
    """Take everybody off pile k."""
    sides.size[k] = 0
    for t in range(sides.total.shape[1]):
        sides.total[k, t] = 0
        for c in range(sides.counts.shape[1]):
            sides.counts[k, c, t] = 0


@piece
def add_to_pile(k: int, room: Room) -> None:
    """Count the annotator whose cells are gathered on pile k."""
    add_cells(room.cells, 1, k, room.sides.counts, room.sides.total)
    room.sides.size[k] += 1


@piece
def add_piles(a: int, b: int, k: int, sides: Sides) -> None:
    """Put piles a and b together, on pile k."""
    sides.size[k] = sides.size[a] + sides.size[b]
    for t in range(sides.total.shape[1]):
        sides.total[k, t] = sides.total[a, t] + sides.total[b, t]
        for c in range(sides.counts.shape[1]):
            sides.counts[k, c, t] = sides.counts[a, c, t] + sides.counts[b, c, t]


@part
def log_together(k: int, base: Base, room: Room) -> float:
    """Give the log of the factor of pile k as one group; that of alpha is left out."""
    sides = room.sides
    log_p = log_marginal(k, sides.counts, sides.total, base.shapes, base.tables)
    return float(math.lgamma(sides.size[k]) + log_p)
