"""Split a group in two or merge two groups, in one Metropolis-Hastings step.

Which of the two is tossed up, and annotators i and j are chosen
(:mod:`coterie.kernels.gibbs.pairs`):

- *split*, if they share a group: i stays, j opens a new one, and the others of the group follow
  one after the other, in random order, each to side k with probability proportional to

      size[k] p(what l said | what those on side k said);

- *merge*, if they do not: the two groups become one. On the way back these others would have gone
  where they are, in the same random order, with a probability that is the product of the same.

Matrices of groups are integrated out, so the ratio of a split of m into a and b is

    alpha (size[a] - 1)! (size[b] - 1)! / (size[m] - 1)!  p(a) p(b) / p(m)  /  p(they go so)
    p(i and j are chosen to merge, from a and b)  /  p(i and j are chosen to split, from m),

that of a merge its inverse; the order has the same probability both ways. p(m) is that of
what the members of a group said, counts x[l, t, c] under the one Dirichlet base of cBCC,

    product over t of  product over c of (base[t, c])_(x[t, c]) / (base[t])_(x[t]).

Where groups have parameters, :mod:`coterie.kernels.gibbs.regroup.move` does it.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.cells import gather_cells, log_predictive
from coterie.kernels.gibbs.groups import close_group
from coterie.kernels.gibbs.pairs import choose_pair, gather_groups, log_choice_back
from coterie.kernels.gibbs.piles import (
    BOTH,
    LEAVES,
    STAYS,
    Base,
    IntArray,
    Room,
    Seating,
    add_piles,
    add_to_pile,
    clear_pile,
    log_together,
)
from coterie.numeric.jit import int64, part, piece

SPLITS = 0.5
"""The probability of a split; that of a merge is the same, and is in no ratio."""


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
def seat_pair(room: Room) -> None:
    """Begin: i and j, each on their side."""
    for k in range(2):
        clear_pile(k, room.sides)
        l = int64(room.pair[k])
        gather_cells(l, room.said, room.cells)
        add_to_pile(k, room)


@part
def weigh_side(k: int, base: Base, room: Room) -> float:
    """Give the log weight of side k for the annotator whose cells are gathered."""
    sides, cells = room.sides, room.cells
    log_p = log_predictive(cells, k, sides.counts, sides.total, base.shapes, base.tables)
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
    seat_pair(room)
    for place in range(room.n_others[0]):
        l = int64(room.others[place])
        gather_cells(l, room.said, room.cells)
        odds = weigh_side(STAYS, base, room) - weigh_side(LEAVES, base, room)
        if picks:
            room.side[l] = STAYS if rng.random() < math.exp(log_share(odds)) else LEAVES
        k = int64(room.side[l])
        result += log_share(odds if k == STAYS else -odds)
        add_to_pile(k, room)
    add_piles(STAYS, LEAVES, BOTH, room.sides)
    return result


@part
def log_split(log_concentration: float, base: Base, room: Room) -> float:
    """Give the log of how much more probable the two sides are as two groups than as one."""
    result = log_concentration
    for k in range(3):
        log_p = log_together(k, base, room)
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

    Where there is nothing to split or to merge it is that of what is never accepted.
    """
    if len(room.people) < 2:
        return -math.inf
    splits = rng.random() < SPLITS
    gather_groups(seating, room)
    log_choice = choose_pair(splits, seating, base, room, rng)
    if log_choice == -math.inf:
        return -math.inf
    gather_others(seating, room)
    shuffle(room.others, room.n_others[0], rng)
    log_so = allocate(splits, base, room, rng)
    log_ratio = log_split(log_concentration, base, room) - log_so
    log_ratio = log_ratio if splits else -log_ratio
    return log_ratio + log_choice_back(splits, seating, base, room) - log_choice


@piece
def is_accepted(log_ratio: float, u: float) -> bool:
    """Say whether a proposal is accepted; one whose ratio is no number never is.

    Examples
    --------
    >>> [is_accepted(log_ratio, 0.4) for log_ratio in (math.log(0.7), math.log(0.5), math.nan)]
    [True, False, False]
    """
    return math.log1p(-u) < log_ratio  # of 1 - u: a uniform number may be zero, never one
