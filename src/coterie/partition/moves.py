"""The steps of the search: one annotator, all of a coterie, two coteries together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.jit import kernel, piece
from coterie.partition.sample import FloatArray, IntArray, Sample
from coterie.partition.state import (
    TOLERANCE,
    Limits,
    State,
    cost,
    forget,
    put,
    take,
    weigh,
)

Order = NDArray[np.int64]
NEW = -2
"""A coterie that does not exist yet; -1 is none."""


@piece
def settle(l: int, state: State, sample: Sample, limits: Limits) -> float:
    """Move one annotator to where it costs least; give the change of the summed loss."""
    own = state.group[l]
    alone = own >= 0 and state.size[own] == 1
    n = weigh(l, state, sample)
    best, lowest, stay = own, np.inf, 0.0
    if own >= 0:
        stay = cost(l, own, state, sample)
        lowest = stay - TOLERANCE * sample.total
    # A coterie without company is no better than a new one: look at it if there may be no more.
    full = state.n_coteries[0] >= limits.most
    for q in range(state.n_coteries[0] if full else n):
        m = state.slot[q] if full else state.touched[q]
        price = cost(l, m, state, sample)
        if m != own and price < lowest:
            best, lowest = m, price
    forget(n, state)
    if not full and not alone and lowest > 0:
        best, lowest = NEW, 0.0
    if best == own or (alone and state.n_coteries[0] <= limits.least):
        return 0.0
    if own >= 0:
        take(l, state, sample)
    put(l, state.slot[state.n_coteries[0]] if best == NEW else best, state, sample)
    return lowest - stay


@kernel
def sweep(order: Order, state: State, sample: Sample, limits: Limits) -> float:
    """Settle annotators one after the other; give the change of the summed loss."""
    change = 0.0
    for l in order:
        change += settle(l, state, sample, limits)
    return change


@kernel
def prices(members: Order, state: State, sample: Sample) -> FloatArray:
    """Give what each annotator's seat costs, against a coterie of its own, shape (members,)."""
    price = np.empty(len(members))
    for q, l in enumerate(members):
        n = weigh(l, state, sample)
        price[q] = cost(l, state.group[l], state, sample)
        forget(n, state)
    return price


@kernel
def clear(members: Order, state: State, sample: Sample) -> float:
    """Take annotators out; give the change of the summed loss."""
    change = 0.0
    for l in members:
        n = weigh(l, state, sample)
        change -= cost(l, state.group[l], state, sample)
        forget(n, state)
        take(l, state, sample)
    return change


@kernel
def gather(members: Order, m: int, state: State, sample: Sample) -> None:
    """Seat annotators in one coterie, wherever they are; -1 is a new one."""
    for l in members:
        if state.group[l] >= 0:
            take(l, state, sample)
    to = state.slot[state.n_coteries[0]] if m < 0 else m
    for l in members:
        put(l, to, state, sample)


@kernel
def halve(members: Order, state: State, sample: Sample, rounds: int) -> float:
    """Split a coterie in two around its first two members; give the change of the summed loss."""
    change = 0.0
    one = state.group[members[0]]
    for l in members[1:]:
        n = weigh(l, state, sample)
        change -= cost(l, one, state, sample)
        forget(n, state)
        take(l, state, sample)
    two = state.slot[state.n_coteries[0]]
    put(members[1], two, state, sample)
    for _ in range(rounds):
        moved = 0.0
        for l in members:
            moved += choose(l, one, two, state, sample)
        change += moved
        if moved > -TOLERANCE * sample.total and moved <= 0:
            break
    return change


@piece
def choose(l: int, one: int, two: int, state: State, sample: Sample) -> float:
    """Seat an annotator in the better of two coteries, neither of which may become empty."""
    own = state.group[l]
    if own >= 0 and state.size[own] == 1:
        return 0.0
    n = weigh(l, state, sample)
    first, second = cost(l, one, state, sample), cost(l, two, state, sample)
    forget(n, state)
    if own < 0:
        put(l, one if first <= second else two, state, sample)
        return min(first, second)
    stay, leave = (first, second) if own == one else (second, first)
    if leave >= stay - TOLERANCE * sample.total:
        return 0.0
    take(l, state, sample)
    put(l, two if own == one else one, state, sample)
    return leave - stay


@kernel
def find_partners(order: Order, state: State, sample: Sample) -> tuple[IntArray, FloatArray]:
    """For every coterie find the one it costs least to merge with.

    Parameters
    ----------
    order
        The annotators, those of a coterie side by side.
    state, sample
        As everywhere.

    Returns
    -------
    partner, change
        Shapes (annotators,), by the coteries' numbers: the partner, and what the summed loss would
        change by; -1 and infinity where there is none.
    """
    n = len(order)
    partner = np.full(n, -1, np.int32)
    change = np.full(n, np.inf)
    seen = np.full(len(state.length), -1, np.int32)
    smallest = two_smallest(state)
    a = 0
    while a < n:
        m = state.group[order[a]]
        z = a + 1
        while z < n and state.group[order[z]] == m:
            z += 1
        touched = 0
        for q in range(a, z):
            touched = weigh_union(order[q], touched, seen, state, sample)
        for q in range(touched + 2):
            # Without company anywhere, the smallest is the cheapest.
            other = state.touched[q] if q < touched else smallest[q - touched]
            if other != m and other >= 0:
                apart = sample.value[state.size[m]] + sample.value[state.size[other]]
                union = sample.value[state.size[m] + state.size[other]] - apart
                delta = sample.total * union - 2 * state.score[other]
                if delta < change[m]:
                    partner[m], change[m] = other, delta
        forget(touched, state)
        a = z
    return partner, change


@piece
def two_smallest(state: State) -> tuple[int, int]:
    """Find the two smallest coteries; -1 is none."""
    first, second = -1, -1
    for q in range(state.n_coteries[0]):
        m = state.slot[q]
        if first < 0 or state.size[m] < state.size[first]:
            first, second = m, first
        elif second < 0 or state.size[m] < state.size[second]:
            second = m
    return first, second


@piece
def weigh_union(l: int, touched: int, seen: IntArray, state: State, sample: Sample) -> int:
    """Add to the scores what the annotator's rows gain if its coterie takes in another."""
    m = state.group[l]
    for d in range(len(sample.weight)):
        r = sample.row[l, d]
        if seen[r] == m:
            continue
        seen[r] = m
        first, end = sample.start[r], sample.start[r] + state.length[r]
        p = first
        while state.cell[p, 0] != m:
            p += 1
        mine = state.cell[p, 1]
        for p in range(first, end):
            other, theirs = state.cell[p, 0], state.cell[p, 1]
            if other != m:
                if state.score[other] == 0.0:
                    state.touched[touched] = other
                    touched += 1
                apart = sample.value[mine] + sample.value[theirs]
                state.score[other] += sample.weight[d] * (sample.value[mine + theirs] - apart)
    return touched
