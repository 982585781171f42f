"""Room for one proposal: heaps of members, fits of their parameters, what is drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.cells import Cells, new_cells
from coterie.kernels.gibbs.regroup.proposals import proposals_for

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]

STAYS, LEAVES, BOTH, HEAPS = 0, 1, 2, 3
"""The heaps: the sides of i and j, and both together."""
LONGEST_COUNT, TABLE_SIZE = 32, 2**17
"""Counts up to which labels are counted together; numbers that a heap has for that, about."""


class Heaps(NamedTuple):
    """What the members of a heap said: how many counts exceed j, and those that are long.

    Cells of answers and classes come first, t + c T, then the totals of classes, t + C T.
    """

    size: LongArray  # (heaps,)             members
    over: IntArray  # (heaps, cells, j)    members with more than j labels in the cell
    n_long: LongArray  # (heaps,)
    cell: IntArray  # (heaps, long)        cells of counts that exceed all j
    labels: IntArray  # (heaps, long)        these counts


class Fits(NamedTuple):
    """Where beta and eta of a heap are, and how far around; see fit.py."""

    log_strength: FloatArray  # (heaps, strengths)          log beta
    log_mean: FloatArray  # (heaps, answers, classes)   log eta
    strength_precision: FloatArray  # (heaps, strengths)          of log beta
    mean_precision: FloatArray  # (heaps, answers, classes)   of log eta
    slope: FloatArray  # (heaps, answers, classes)   how log eta moves with log beta
    tables: FloatArray  # (answers, classes)   expected tables at the present place
    spread: FloatArray  # (answers, classes)   their variance
    total: FloatArray  # (classes, 2)         the same of the totals
    weight: FloatArray  # (answers, classes)   Dirichlet weights of eta, d averaged
    points: FloatArray  # (points,)            log weights of d, then probabilities


class Parameters(NamedTuple):
    """beta and eta of the sides and of both together: the present ones or those proposed."""

    log_strength: FloatArray  # (3, strengths)
    log_mean: FloatArray  # (3, answers, classes)


class Room(NamedTuple):
    """Room for one proposal."""

    proposals: LongArray  # (1,)   how many per sweep
    people: IntArray  # (annotators with labels,)   who they are
    pair: LongArray  # (2,)   i and j
    others: IntArray  # (annotators with labels,)   of their coteries
    n_others: LongArray  # (1,)
    side: NDArray[np.int8]  # (annotators,)   where each of the others goes
    launched: NDArray[np.int8]  # (annotators with labels,)   the same in a launch
    weights: FloatArray  # (slots,)   of the coteries to merge with: logs, then probabilities
    rising: FloatArray  # (2, cells, n)   log rising factorials of the shapes of the sides
    cells: Cells
    heaps: Heaps
    fits: Fits
    drawn: Parameters


def longest(data: Codes) -> int:
    """Give the number of j that are counted."""
    n_cells = (data.n_answers + 1) * data.n_classes
    return min(max(TABLE_SIZE // n_cells, 4), LONGEST_COUNT)


def new_heaps(data: Codes) -> Heaps:
    """Give room to count what any annotators said."""
    n_cells, most = (data.n_answers + 1) * data.n_classes, longest(data)
    labels = np.diff(data.annotator_start)
    # A count is long if it exceeds all j: there are not more of these than labels allow.
    n_long = int(2 * (labels // (most + 1)).sum()) + 1
    return Heaps(
        size=np.zeros(HEAPS, np.int64),
        over=np.zeros((HEAPS, n_cells, most), np.int32),
        n_long=np.zeros(HEAPS, np.int64),
        cell=np.zeros((HEAPS, n_long), np.int32),
        labels=np.zeros((HEAPS, n_long), np.int32),
    )


def new_fits(shape: tuple[int, int], n_strengths: int, n_points: int) -> Fits:
    """Give room to fit every heap; shape is (answers, classes)."""
    return Fits(
        log_strength=np.zeros((HEAPS, n_strengths)),
        log_mean=np.zeros((HEAPS, *shape)),
        strength_precision=np.zeros((HEAPS, n_strengths)),
        mean_precision=np.zeros((HEAPS, *shape)),
        slope=np.zeros((HEAPS, *shape)),
        tables=np.zeros(shape),
        spread=np.zeros(shape),
        total=np.zeros((shape[1], 2)),
        weight=np.zeros(shape),
        points=np.zeros(n_points),
    )


def new_room(data: Codes, n_slots: int, n_strengths: int, n_points: int) -> Room:
    """Give room for any proposal."""
    labels = np.diff(data.annotator_start)
    people = np.flatnonzero(labels > 0).astype(np.int32)
    shape = (data.n_answers, data.n_classes)
    n_cells = (data.n_answers + 1) * data.n_classes
    return Room(
        proposals=np.array([proposals_for(labels)]),
        people=people,
        pair=np.zeros(2, np.int64),
        others=np.zeros(len(people), np.int32),
        n_others=np.zeros(1, np.int64),
        side=np.zeros(len(labels), np.int8),
        launched=np.zeros(len(people), np.int8),
        weights=np.zeros(n_slots),
        rising=np.zeros((2, n_cells, longest(data) + 1)),
        cells=new_cells(data),
        heaps=new_heaps(data),
        fits=new_fits(shape, n_strengths, n_points),
        drawn=Parameters(np.zeros((3, n_strengths)), np.zeros((3, *shape))),
    )
