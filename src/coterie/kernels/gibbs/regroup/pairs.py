"""Choose the two annotators by whom a coterie is split, or two coteries are merged.

Splits and merges are as probable as each other. Any of the coteries is chosen first, small ones as
often as large ones, and i, any of its members. For a split j is any other member. For a merge
another coterie b is chosen, half by its share of those who are not in a, i's coterie, half in
proportion to the root of

    p(what the members of a said | beta[b], eta[b]);

then j, any of its members. On the way back from a split that is among the coteries after it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coterie.kernels.gibbs.pairs import ALIKE, LOWEST, ROOT, member, place_of
from coterie.kernels.gibbs.regroup.density import log_labels
from coterie.kernels.gibbs.regroup.heaps import heap_coterie
from coterie.kernels.gibbs.regroup.room import BOTH, LEAVES, STAYS, Room
from coterie.kernels.gibbs.regroup.state import Crowd
from coterie.numeric.choice import normalise, pick
from coterie.numeric.jit import int64, part


@part
def weigh_partners(own: int, comes: bool, crowd: Crowd, room: Room) -> None:
    """Write probabilities of the coteries to merge heap ``STAYS`` with, which is in place ``own``.

    There is nothing in its place, or what leaves it if that ``comes``.
    """
    n_coteries, size, drawn = crowd.n_coteries[0], room.heaps.size, room.drawn
    weights, others = room.weights[:n_coteries], len(room.people) - size[STAYS]
    for k in range(n_coteries):
        m, log_p = int64(crowd.slot[k]), -math.inf
        if k != own:
            log_p = log_labels(STAYS, m, crowd.log_strength, crowd.log_mean, room.heaps)
        elif comes:
            log_p = log_labels(STAYS, LEAVES, drawn.log_strength, drawn.log_mean, room.heaps)
        weights[k] = ROOT * log_p if log_p > LOWEST else LOWEST
    if not comes:
        weights[own] = -math.inf
    normalise(weights)
    for k in range(n_coteries):
        seats = int64(crowd.size[crowd.slot[k]])
        if k == own:
            seats = int64(size[LEAVES]) if comes else int64(0)
        weights[k] = ALIKE * weights[k] + (1 - ALIKE) * seats / others


@part
def choose_pair(splits: bool, crowd: Crowd, room: Room, rng: np.random.Generator) -> float:
    """Choose i and j; give the log probability, or that of nothing if there is no such j."""
    n_coteries = crowd.n_coteries[0]
    own = int64(rng.random() * n_coteries)
    a = int64(crowd.slot[own])
    size = int64(crowd.size[a])
    if (size if splits else n_coteries) < 2:
        return -math.inf
    seats: Any = crowd  # to the pieces of cBCC's move
    listed: Any = room
    i = member(a, int64(rng.random() * size), -1, seats, listed)
    room.pair[STAYS] = i
    log_first = -math.log(n_coteries * size)
    if splits:
        room.pair[LEAVES] = member(a, int64(rng.random() * (size - 1)), i, seats, listed)
        return log_first - math.log(size - 1)
    heap_coterie(a, STAYS, crowd, room)
    weigh_partners(own, False, crowd, room)
    weights = room.weights[:n_coteries]
    chosen = pick(weights, rng.random())
    b = int64(crowd.slot[chosen])
    room.pair[LEAVES] = member(b, int64(rng.random() * crowd.size[b]), -1, seats, listed)
    return log_first + math.log(weights[chosen]) - math.log(crowd.size[b])


@part
def log_choice_back(splits: bool, crowd: Crowd, room: Room) -> float:
    """Give the log probability that i and j are chosen on the way back from the sides."""
    size, n_coteries = room.heaps.size, crowd.n_coteries[0]
    if not splits:
        return -math.log((n_coteries - 1) * size[BOTH] * (size[BOTH] - 1))
    seats: Any = crowd
    own = place_of(crowd.group[room.pair[STAYS]], seats)
    weigh_partners(own, True, crowd, room)
    return math.log(room.weights[own]) - math.log((n_coteries + 1) * size[STAYS] * size[LEAVES])
