"""Split a group in two or merge two groups, in one Metropolis-Hastings step.

For two annotators i and j, chosen whatever the groups are:

- *split*, if they share a group: i stays, j opens a new one, and the others of the group follow
  one after the other, in random order, each to side k with probability proportional to

      size[k] p(what l said | what those on side k said);

- *merge*, if they do not: the two groups become one. On the way back these others would have gone
  where they are, in the same random order, with a probability that is the product of the same.

Matrices and parameters of groups are integrated out, so the ratio of a split of m into a and b is

    alpha (size[a] - 1)! (size[b] - 1)! / (size[m] - 1)!  p(a) p(b) / p(m)  /  p(they go so),

that of a merge its inverse; pair and order have the same probability both ways. p(m) is that of
what the members of a group said: of counts x[l, t, c] under a Dirichlet base, and where groups have
strengths beta ~ Gamma(a, b), of beta^S exp(-beta D),

    product over t of  product over c of (base[t, c])_(x[t, c]) / (base[t])_(x[t])
    product over strengths of  (a)_(S) / (b + D)^S / (1 + D / b)^a.

In cBCC x are the labels; elsewhere they are the tables s of the annotators, S their sums and D sums
of -log nu: given these auxiliary variables of hcBCC (parameters.py) its groups are conjugate too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.cells import (
    Cells,
    Tables,
    add_cells,
    gather_cells,
    log_marginal,
    log_predictive,
    new_cells,
)
from coterie.kernels.gibbs.groups import close_group
from coterie.kernels.shapes import Shapes
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.rising import log_rising

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]

STAYS, LEAVES, BOTH = 0, 1, 2
"""The sides: that of i, that of j, and the two together."""


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
    """Three groups: the two sides, and both together."""

    counts: IntArray  # (3, answers, classes)
    total: IntArray  # (3, classes)
    decay: FloatArray  # (3, strengths)
    log_strength: FloatArray  # (3,)   log of the part of the strengths
    size: LongArray  # (3,)


class Room(NamedTuple):
    """What annotators are weighed by, and room for one proposal."""

    proposals: LongArray  # (1,)   how many a sweep
    said: Said
    people: IntArray  # (annotators with labels,)   who they are
    pair: LongArray  # (2,)   i and j
    others: IntArray  # (annotators with labels,)   of their groups, in the order in which they go
    n_others: LongArray  # (1,)
    side: NDArray[np.int8]  # (annotators,)   where each of the others goes
    log_strength: FloatArray  # (2,)   of the sides if one more went there
    sides: Sides
    cells: Cells


def base_of(shapes: Shapes, tables: Tables, shape: FloatArray, rate: FloatArray) -> Base:
    """Give what groups are weighed by."""
    return Base(shapes, tables, np.array(shape), np.log(shape), np.array(rate))


def new_room(data: Codes, proposals: int, said: Said) -> Room:
    """Give room for any proposal."""
    labels = np.diff(data.annotator_start)
    people = np.flatnonzero(labels > 0).astype(np.int32)
    sides = Sides(
        counts=np.zeros((3, data.n_answers, data.n_classes), np.int32),
        total=np.zeros((3, data.n_classes), np.int32),
        decay=np.zeros((3, said.decay.shape[1])),
        log_strength=np.zeros(3),
        size=np.zeros(3, np.int64),
    )
    return Room(
        proposals=np.array([proposals]),
        said=said,
        people=people,
        pair=np.zeros(2, np.int64),
        others=np.zeros(len(people), np.int32),
        n_others=np.zeros(1, np.int64),
        side=np.zeros(len(labels), np.int8),
        log_strength=np.zeros(2),
        sides=sides,
        cells=new_cells(data),
    )


@piece
def choose_pair(room: Room, u: float, v: float) -> None:
    """Choose two different annotators, any two with the same probability."""
    n = len(room.people)
    first, second = int64(u * n), int64(v * (n - 1))
    second += int64(second >= first)
    room.pair[0], room.pair[1] = room.people[first], room.people[second]


@piece
def gather_others(seating: Seating, room: Room) -> None:
    """List the others of the pair's groups, and note on which side they are if it is two."""
    i, j = room.pair[0], room.pair[1]
    a, b, n = seating.group[i], seating.group[j], int64(0)
    for k in range(len(room.people)):
        l = room.people[k]
        m = seating.group[l]
        if l != i and l != j and m in (a, b):
            room.others[n] = l
            room.side[l] = STAYS if m == a else LEAVES
            n += 1
    room.n_others[0] = n


@piece
def shuffle(others: IntArray, n: int, rng: np.random.Generator) -> None:
    """Bring the first n into random order."""
    for k in range(n - 1, 0, -1):
        at = int64(rng.random() * (k + 1))
        others[k], others[at] = others[at], others[k]


@part
def log_strengths(k: int, more: int, base: Base, room: Room) -> float:
    """Give the log of what the strengths contribute to side k, with annotator ``more`` (-1: none).

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
def clear_sides(sides: Sides) -> None:
    """Put nobody on either side."""
    for k in range(2):
        sides.size[k] = 0
        for g in range(sides.decay.shape[1]):
            sides.decay[k, g] = 0.0
        for t in range(sides.total.shape[1]):
            sides.total[k, t] = 0
            for c in range(sides.counts.shape[1]):
                sides.counts[k, c, t] = 0


@piece
def add_to_side(l: int, k: int, room: Room) -> None:
    """Count annotator l, whose cells are gathered, on side k."""
    add_cells(room.cells, 1, k, room.sides.counts, room.sides.total)
    room.sides.size[k] += 1
    for g in range(room.sides.decay.shape[1]):
        room.sides.decay[k, g] += room.said.decay[l, g]


@piece
def add_sides(sides: Sides) -> None:
    """Put the two sides together."""
    sides.size[BOTH] = sides.size[STAYS] + sides.size[LEAVES]
    for g in range(sides.decay.shape[1]):
        sides.decay[BOTH, g] = sides.decay[STAYS, g] + sides.decay[LEAVES, g]
    for t in range(sides.total.shape[1]):
        sides.total[BOTH, t] = sides.total[STAYS, t] + sides.total[LEAVES, t]
        for c in range(sides.counts.shape[1]):
            sides.counts[BOTH, c, t] = sides.counts[STAYS, c, t] + sides.counts[LEAVES, c, t]


@part
def seat_pair(base: Base, room: Room) -> None:
    """Begin: i and j, each on their side."""
    clear_sides(room.sides)
    for k in range(2):
        l = int64(room.pair[k])
        gather_cells(l, room.said.counts, room.cells)
        add_to_side(l, k, room)
        room.sides.log_strength[k] = log_strengths(k, -1, base, room)


@part
def weigh_side(l: int, k: int, base: Base, room: Room) -> float:
    """Give the log weight of side k for annotator l, whose cells are gathered.

    What the strengths would be with them is noted.
    """
    sides, cells = room.sides, room.cells
    room.log_strength[k] = log_strengths(k, l, base, room)
    log_p = log_predictive(cells, k, sides.counts, sides.total, base.shapes, base.tables)
    log_p += room.log_strength[k] - sides.log_strength[k]
    return float(math.log(sides.size[k]) + log_p)


@piece
def log_share(odds: float) -> float:
    """Give log(1 / (1 + e^-odds)).

    Examples
    --------
    >>> round(math.exp(log_share(math.log(3.0))), 9), log_share(-1e9)
    (0.75, -1000000000.0)
    """
    if odds > 0:
        return -math.log1p(math.exp(-odds))
    return odds - math.log1p(math.exp(odds))


@part
def allocate(picks: bool, base: Base, room: Room, rng: np.random.Generator) -> float:
    """Let the others go one after the other; give the log probability that they go so.

    They go to the side that is noted, or one is picked and noted.
    """
    result = 0.0
    seat_pair(base, room)
    for place in range(room.n_others[0]):
        l = int64(room.others[place])
        gather_cells(l, room.said.counts, room.cells)
        odds = weigh_side(l, STAYS, base, room) - weigh_side(l, LEAVES, base, room)
        if picks:
            room.side[l] = STAYS if rng.random() < math.exp(log_share(odds)) else LEAVES
        k = int64(room.side[l])
        result += log_share(odds if k == STAYS else -odds)
        add_to_side(l, k, room)
        room.sides.log_strength[k] = room.log_strength[k]
    add_sides(room.sides)
    return result


@part
def log_split(log_concentration: float, base: Base, room: Room) -> float:
    """Give the log of how much more probable the two sides are as two groups than as one."""
    sides = room.sides
    sides.log_strength[BOTH] = log_strengths(BOTH, -1, base, room)
    result = log_concentration
    for k in range(3):
        log_p = math.lgamma(sides.size[k]) + sides.log_strength[k]
        log_p += log_marginal(k, sides.counts, sides.total, base.shapes, base.tables)
        result += log_p if k < BOTH else -log_p
    return result


@part
def seat_sides(seating: Seating, room: Room) -> None:
    """Make the sides groups if they are one, or one if they are groups."""
    group, size, slot, n_coteries = seating
    i, j = room.pair[0], room.pair[1]
    a, b = int64(group[i]), int64(group[j])
    if a == b:
        b = int64(slot[n_coteries[0]])
        n_coteries[0] += 1
        group[j] = b
        for place in range(room.n_others[0]):
            l = room.others[place]
            group[l] = a if room.side[l] == STAYS else b
        size[a], size[b] = room.sides.size[STAYS], room.sides.size[LEAVES]
        return
    group[j] = a
    for place in range(room.n_others[0]):
        group[room.others[place]] = a
    size[a], size[b] = room.sides.size[BOTH], 0
    close_group(b, slot, n_coteries)


@part
def propose(
    seating: Seating, log_concentration: float, base: Base, room: Room, rng: np.random.Generator
) -> float:
    """Choose a pair, and where everybody would go; give the log of the ratio.

    Where fewer than two annotators have labels it is that of what is never accepted.
    """
    if len(room.people) < 2:
        return -math.inf
    choose_pair(room, rng.random(), rng.random())
    gather_others(seating, room)
    shuffle(room.others, room.n_others[0], rng)
    splits = seating.group[room.pair[0]] == seating.group[room.pair[1]]
    log_so = allocate(splits, base, room, rng)
    log_ratio = log_split(log_concentration, base, room) - log_so
    return log_ratio if splits else -log_ratio


@piece
def is_accepted(log_ratio: float, u: float) -> bool:
    """Say whether a proposal is accepted; one whose ratio is no number never is.

    A strength next to zero makes some -log nu too large for a float, and the ratio of every
    proposal with such an annotator no number, both ways: they stay as they are.

    Examples
    --------
    >>> [is_accepted(log_ratio, 0.4) for log_ratio in (math.log(0.7), math.log(0.5), math.nan)]
    [True, False, False]
    """
    return math.log1p(-u) < log_ratio  # of 1 - u: a uniform number may be zero, never one
