"""Choose the two annotators by whom a group is split, or two groups are merged.

Splits and merges are as probable as each other, and i is any annotator with the same probability.

- A *split*: j is another member of i's group m, with probability 1 / (size[m] - 1).
- A *merge*: another group b is chosen, and j of its members: p(b | a) / size[b], a being i's group.
  Half of p(b | a) is b's share of those who are not in a; half is proportional to the root of

      (size[a + b] - 1)! p(a + b) / (size[b] - 1)! / p(b).

Of dozens of groups few are alike: if all pairs were as probable, hardly a merge would be accepted.
The share in p(b | a) is for merges that only who goes where makes probable, not who is alike.
On the way back from a split p(b | a) is that among the groups after it.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.cells import gather_cells
from coterie.kernels.gibbs.piles import (
    BOTH,
    GROUPS,
    LEAVES,
    STAYS,
    TRIED,
    Base,
    Room,
    Seating,
    add_piles,
    add_to_pile,
    clear_pile,
    log_together,
)
from coterie.numeric.choice import normalise, pick
from coterie.numeric.jit import int64, part, piece

ROOT = 0.5
"""Logs of weights times this: so that the partner most alike is not the only one."""
ALIKE = 0.5
"""How probable it is that a partner is chosen by how alike it is, not by its size."""
LOWEST = -1e300
"""The log weight of a group whose own is minus infinity or no number; lower than any other."""


@piece
def gather_groups(seating: Seating, room: Room) -> None:
    """Sum what the members of every group said."""
    for k in range(seating.n_coteries[0]):
        clear_pile(GROUPS + int64(seating.slot[k]), room.sides)
    for place in range(len(room.people)):
        l = int64(room.people[place])
        gather_cells(l, room.said, room.cells)
        add_to_pile(GROUPS + int64(seating.group[l]), room)


@piece
def member(m: int, number: int, but: int, seating: Seating, room: Room) -> int:
    """Give a member of group m by number, annotator ``but`` not counted."""
    place, before = -1, -1
    while before < number:
        place += 1
        l = room.people[place]
        before += int64(seating.group[l] == m and l != but)
    return int64(room.people[place])


@piece
def place_of(m: int, seating: Seating) -> int:
    """Give the place of group m in ``slot``."""
    place = 0
    while seating.slot[place] != m:
        place += 1
    return place


@part
def weigh_partners(a: int, b: int, own: int, seating: Seating, base: Base, room: Room) -> None:
    """Write probabilities of the groups to merge pile a with; in place ``own`` that of pile b.

    If b is negative, nothing is there.
    """
    n_coteries, size = seating.n_coteries[0], room.sides.size
    weights, others = room.weights[:n_coteries], len(room.people) - size[a]
    for k in range(n_coteries):
        pile = b if k == own else GROUPS + int64(seating.slot[k])
        weights[k] = -math.inf
        if pile >= 0:
            add_piles(a, pile, TRIED, room.sides)
            log_p = log_together(TRIED, base, room) - log_together(pile, base, room)
            weights[k] = ROOT * log_p if log_p > LOWEST else LOWEST
    normalise(weights)
    for k in range(n_coteries):
        pile = b if k == own else GROUPS + int64(seating.slot[k])
        share = size[pile] / others if pile >= 0 else 0.0
        weights[k] = ALIKE * weights[k] + (1 - ALIKE) * share


@part
def choose_pair(
    splits: bool, seating: Seating, base: Base, room: Room, rng: np.random.Generator
) -> float:
    """Choose i and j; give the log probability of j, or of nothing if there is no such j."""
    n_coteries = seating.n_coteries[0]
    i = int64(room.people[int64(rng.random() * len(room.people))])
    a = int64(seating.group[i])
    size = int64(seating.size[a])
    if (size if splits else n_coteries) < 2:
        return -math.inf
    room.pair[STAYS] = i
    if splits:
        room.pair[LEAVES] = member(a, int64(rng.random() * (size - 1)), i, seating, room)
        return -math.log(size - 1)
    weigh_partners(GROUPS + a, -1, place_of(a, seating), seating, base, room)
    weights = room.weights[:n_coteries]
    chosen = pick(weights, rng.random())
    b = int64(seating.slot[chosen])
    room.pair[LEAVES] = member(b, int64(rng.random() * seating.size[b]), i, seating, room)
    return math.log(weights[chosen]) - math.log(seating.size[b])


@part
def log_choice_back(splits: bool, seating: Seating, base: Base, room: Room) -> float:
    """Give the log probability that j is chosen for i on the way back from the sides."""
    size = room.sides.size
    if not splits:
        return -math.log(size[BOTH] - 1)
    own = place_of(seating.group[room.pair[STAYS]], seating)
    weigh_partners(STAYS, LEAVES, own, seating, base, room)
    return math.log(room.weights[own]) - math.log(size[LEAVES])
