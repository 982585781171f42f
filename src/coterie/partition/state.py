"""A partition under search: who sits where, and how often with whom in the draws.

For every row (a cluster of a draw) there is a list of cells (coterie, count): how many of the
row's members each coterie has. A row has at most as many cells as members, so that all of them
take eight bytes per draw and annotator, however many clusters and coteries there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.jit import kernel, piece
from coterie.partition.sample import FloatArray, IntArray, Sample

TOLERANCE = 1e-9
"""What is gained by a step must be more than rounding; in values a draw."""


class State(NamedTuple):
    """A partition under search, changed in place; the last two are scratch."""

    group: IntArray  # (annotators,)  the coterie of each annotator; -1 is none yet
    size: IntArray  # (annotators,)   how many sit in each coterie
    slot: IntArray  # (annotators,)   the coteries' numbers: first those in use
    place: IntArray  # (annotators,)  where in slot a number is
    n_coteries: NDArray[np.int64]  # (1,)
    cell: IntArray  # (annotators * draws, 2)  (coterie, count), row after row
    length: IntArray  # (rows,)       cells in use
    score: FloatArray  # (annotators,) zeros between calls
    touched: IntArray  # (annotators,)


class Limits(NamedTuple):
    """The least and the most coteries that a step may leave."""

    least: int
    most: int


def empty_state(sample: Sample) -> State:
    """Make a state in which nobody sits anywhere."""
    n_annotators, n_draws = sample.row.shape
    numbers = np.arange(n_annotators, dtype=np.int32)
    return State(
        np.full(n_annotators, -1, np.int32),
        np.zeros(n_annotators, np.int32),
        numbers,
        numbers.copy(),
        np.zeros(1, np.int64),
        np.zeros((n_annotators * n_draws, 2), np.int32),
        np.zeros(len(sample.start) - 1, np.int32),
        np.zeros(n_annotators),
        np.zeros(n_annotators, np.int32),
    )


@piece
def _move_slot(m: int, to: int, state: State) -> None:
    other, place = state.slot[to], state.place[m]
    state.slot[to], state.slot[place] = m, other
    state.place[m], state.place[other] = to, place


@piece
def put(l: int, m: int, state: State, sample: Sample) -> None:
    """Seat an annotator who sits nowhere."""
    if state.size[m] == 0:
        _move_slot(m, state.n_coteries[0], state)
        state.n_coteries[0] += 1
    state.size[m] += 1
    state.group[l] = m
    for d in range(len(sample.weight)):
        r = sample.row[l, d]
        p = sample.start[r]
        end = p + state.length[r]
        while p < end and state.cell[p, 0] != m:
            p += 1
        if p == end:
            state.cell[p, 0] = m
            state.cell[p, 1] = 0
            state.length[r] += 1
        state.cell[p, 1] += 1


@piece
def take(l: int, state: State, sample: Sample) -> None:
    """Take an annotator out."""
    m = state.group[l]
    state.group[l] = -1
    state.size[m] -= 1
    if state.size[m] == 0:
        state.n_coteries[0] -= 1
        _move_slot(m, state.n_coteries[0], state)
    for d in range(len(sample.weight)):
        r = sample.row[l, d]
        p = sample.start[r]
        while state.cell[p, 0] != m:
            p += 1
        state.cell[p, 1] -= 1
        if state.cell[p, 1] == 0:
            state.length[r] -= 1
            last = sample.start[r] + state.length[r]
            state.cell[p, 0], state.cell[p, 1] = state.cell[last, 0], state.cell[last, 1]


@piece
def weigh(l: int, state: State, sample: Sample) -> int:
    """Score every coterie by the company it offers an annotator, who is not counted.

    Returns
    -------
    How many have company; they are the first entries of ``touched``. Call ``forget`` afterwards.
    """
    own = state.group[l]
    n = 0
    for d in range(len(sample.weight)):
        r = sample.row[l, d]
        weight = sample.weight[d]
        for p in range(sample.start[r], sample.start[r] + state.length[r]):
            m = state.cell[p, 0]
            together = state.cell[p, 1] - (m == own)
            if together > 0:
                if state.score[m] == 0.0:
                    state.touched[n] = m
                    n += 1
                state.score[m] += weight * sample.step[together]
    return n


@piece
def forget(n: int, state: State) -> None:
    """Set the touched scores back to zero."""
    for q in range(n):
        state.score[state.touched[q]] = 0.0


@piece
def cost(l: int, m: int, state: State, sample: Sample) -> float:
    """Give what the loss grows by if an annotator, now taken as out, sits in coterie m."""
    others = state.size[m] - (state.group[l] == m)
    if others == 0:
        return 0.0
    return float(sample.total * sample.step[others] - 2 * state.score[m])


@kernel
def seat_all(group: IntArray, state: State, sample: Sample) -> None:
    """Give everybody the seat of a partition with codes below the number of annotators."""
    for l in range(len(group)):
        if state.group[l] >= 0:
            take(l, state, sample)
    for l in range(len(group)):
        put(l, group[l], state, sample)


@kernel
def total_value(state: State, sample: Sample) -> float:
    """Give the summed loss without the draws' own part: sizes less twice the overlaps."""
    result = 0.0
    for m in range(len(state.size)):
        result += sample.total * sample.value[state.size[m]]
    d = 0
    for r in range(len(state.length)):
        # The rows of a draw follow each other, and together have everybody as a member.
        while sample.start[r] >= (d + 1) * len(state.group):
            d += 1
        for p in range(sample.start[r], sample.start[r] + state.length[r]):
            result -= 2 * sample.weight[d] * sample.value[state.cell[p, 1]]
    return result
