"""A partition under search and its steps: one annotator, all of a coterie, two coteries together.

For every row (a cluster of a draw) there is a list of cells (coterie, count): how many of the
row's members each coterie has. A row has at most as many cells as members, so that all of them
take eight bytes per draw and annotator, however many clusters and coteries there are.

All that is compiled takes the partition and the draws as plain tuples of these arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.compile import entry, jit

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]
Order = NDArray[np.int64]

TOLERANCE = 1e-9
"""What is gained by a step must be more than rounding; in values a draw."""
NONE, NEW = -1, -2
"""No coterie yet, and one that does not exist yet."""


class Sample(NamedTuple):
    """Drawn partitions laid out for the search; a row is one cluster of one draw."""

    row: IntArray  # (annotators, draws)   the row in which the annotator sits in the draw
    start: Order  # (rows + 1,)  where a row's cells begin: one for each of its members
    weight: FloatArray  # (draws,)         how often the draw came
    value: FloatArray  # (annotators + 1,) what a block of so many is worth
    step: FloatArray  # (annotators + 1,)  value[x + 1] - value[x]; the last is never read
    total: float  # the sum of the weights


class State(NamedTuple):
    """A partition under search, changed in place."""

    group: IntArray  # (annotators,)  the coterie of each annotator; -1 is none yet
    size: IntArray  # (annotators,)   how many sit in each coterie
    slot: IntArray  # (annotators + 1,)  the coteries' numbers, those in use first; how many are
    place: IntArray  # (annotators,)  where in slot a number is
    cell: IntArray  # (annotators * draws, 2)  (coterie, count), row after row
    length: IntArray  # (rows,)       cells in use


def lay_out(draws: IntArray, weight: FloatArray, value: FloatArray) -> Sample:
    """Lay out canonical draws for the search: four bytes per draw and annotator."""
    n_draws, n_annotators = draws.shape
    first = np.concatenate([[0], np.cumsum(draws.max(axis=1) + 1)])
    start = np.zeros(first[-1] + 1, np.int64)
    row = np.empty((n_annotators, n_draws), np.int32)
    for d in range(n_draws):
        start[first[d] + 1 : first[d + 1] + 1] = np.bincount(draws[d])
        row[:, d] = draws[d] + first[d]
    np.cumsum(start, out=start)
    step = np.append(np.diff(value), np.inf)
    return Sample(row, start, weight, value, step, float(weight.sum()))


def empty_state(sample: Sample) -> State:
    """Make a state in which nobody sits anywhere."""
    n_annotators, n_draws = sample.row.shape
    numbers = np.arange(n_annotators, dtype=np.int32)
    return State(
        np.full(n_annotators, NONE, np.int32),
        np.zeros(n_annotators, np.int32),
        np.append(numbers, np.int32(0)),
        numbers,
        np.zeros((n_annotators * n_draws, 2), np.int32),
        np.zeros(len(sample.start) - 1, np.int32),
    )


@jit
def move_slot(m: int, to: int, slot: IntArray, place: IntArray) -> None:
    """Exchange a coterie's number with the one at a place of the list."""
    other, here = slot[to], place[m]
    slot[to], slot[here] = m, other
    place[m], place[other] = to, here


@jit
def put(l: int, m: int, state: State, sample: Sample) -> None:
    """Seat an annotator who sits nowhere."""
    group, size, slot, place, cell, length = state
    row, start = sample[0], sample[1]
    if size[m] == 0:
        move_slot(m, slot[-1], slot, place)
        slot[-1] += 1
    size[m] += 1
    group[l] = m
    for d in range(row.shape[1]):
        r = row[l, d]
        p = start[r]
        end = p + length[r]
        while p < end and cell[p, 0] != m:
            p += 1
        if p == end:
            cell[p, 0] = m
            cell[p, 1] = 0
            length[r] += 1
        cell[p, 1] += 1


@jit
def take(l: int, state: State, sample: Sample) -> None:
    """Take an annotator out."""
    group, size, slot, place, cell, length = state
    row, start = sample[0], sample[1]
    m = group[l]
    group[l] = NONE
    size[m] -= 1
    if size[m] == 0:
        slot[-1] -= 1
        move_slot(m, slot[-1], slot, place)
    for d in range(row.shape[1]):
        r = row[l, d]
        p = start[r]
        while cell[p, 0] != m:
            p += 1
        cell[p, 1] -= 1
        if cell[p, 1] == 0:
            length[r] -= 1
            last = start[r] + length[r]
            cell[p, 0], cell[p, 1] = cell[last, 0], cell[last, 1]


@jit
def price(l: int, m: int, state: State, sample: Sample) -> float:
    """Give what the summed loss grows by if an annotator, now taken as out, sits in coterie m.

    W step(n) - 2 sum over draws d of weight[d] step(n[d]), with n others in the coterie, and n[d]
    of them in the annotator's cluster.
    """
    group, size, _, _, cell, length = state
    row, start, weight, _, step, total = sample
    counted = 1 if group[l] == m else 0
    if size[m] == counted:
        return 0.0
    together = 0.0
    for d in range(len(weight)):
        r = row[l, d]
        for p in range(start[r], start[r] + length[r]):
            if cell[p, 0] == m:
                together += weight[d] * step[cell[p, 1] - counted]
                break
    return float(total * step[size[m] - counted] - 2 * together)


@entry
def sweep(
    order: Order, least: int, most: int, company: FloatArray, touched: IntArray, state: State,
    sample: Sample,
) -> float:  # fmt: skip
    """Move annotators one after the other to where it costs least; give the change of the loss.

    There may be from ``least`` to ``most`` coteries. ``company`` and ``touched`` are zeros and
    room, shape (annotators,): zeros are left behind.
    """
    group, size, slot, _, cell, length = state
    row, start, weight, _, step, total = sample
    change = 0.0
    for l in order:
        own, n = group[l], 0
        for d in range(len(weight)):  # the company that every coterie offers
            r = row[l, d]
            for p in range(start[r], start[r] + length[r]):
                m = cell[p, 0]
                others = cell[p, 1] - (m == own)
                if others > 0:
                    if company[m] == 0.0:
                        touched[n] = m
                        n += 1
                    company[m] += weight[d] * step[others]
        alone = own >= 0 and size[own] == 1
        best, lowest, stay = own, np.inf, 0.0
        if own >= 0:
            stay = 0.0 if alone else total * step[size[own] - 1] - 2 * company[own]
            lowest = stay - TOLERANCE * total
        # A coterie without company is no better than a new one: look at it if there may be none.
        full = slot[-1] >= most
        for q in range(slot[-1] if full else n):
            m = slot[q] if full else touched[q]
            cost = total * step[size[m]] - 2 * company[m]
            if m != own and cost < lowest:
                best, lowest = m, cost
        for q in range(n):
            company[touched[q]] = 0.0
        if not full and not alone and lowest > 0:
            best, lowest = NEW, 0.0
        if best == own or (alone and slot[-1] <= least):
            continue
        if own >= 0:
            take(l, state, sample)
        put(l, slot[slot[-1]] if best == NEW else best, state, sample)
        change += lowest - stay
    return change


@entry
def prices(members: Order, leave: bool, state: State, sample: Sample) -> FloatArray:
    """Give what each annotator's seat costs, against a coterie of its own, shape (members,).

    If they ``leave``, each one's price is without those before.
    """
    found = np.empty(len(members))
    for q, l in enumerate(members):
        found[q] = price(l, state[0][l], state, sample)
        if leave:
            take(l, state, sample)
    return found


@entry
def seat(members: Order, to: IntArray, state: State, sample: Sample) -> None:
    """Seat annotators in these coteries, wherever they are now; NEW is one new one for all."""
    group, _, slot, _, _, _ = state
    for l in members:
        if group[l] >= 0:
            take(l, state, sample)
    new = slot[slot[-1]]
    for q, l in enumerate(members):
        put(l, new if to[q] == NEW else to[q], state, sample)


@entry
def halve(members: Order, rounds: int, state: State, sample: Sample) -> float:
    """Split a coterie in two around its first two members; give the change of the loss.

    The others sit down one by one where that costs less, and change their minds for some rounds;
    neither half may become empty.
    """
    group, size, slot, _, _, _ = state
    total = sample[5]
    change, one = 0.0, group[members[0]]
    for l in members[1:]:
        change -= price(l, one, state, sample)
        take(l, state, sample)
    two = slot[slot[-1]]
    put(members[1], two, state, sample)
    for _ in range(rounds):
        moved = 0.0
        for l in members:
            own = group[l]
            if own >= 0 and size[own] == 1:
                continue
            first, second = price(l, one, state, sample), price(l, two, state, sample)
            if own < 0:
                m = one if first <= second else two
                moved += min(first, second)
            else:
                m = two if own == one else one
                stay, leave = (first, second) if own == one else (second, first)
                if leave >= stay - TOLERANCE * total:
                    continue
                moved += leave - stay
                take(l, state, sample)
            put(l, m, state, sample)
        change += moved
        if moved > -TOLERANCE * total and moved <= 0:
            break
    return change


@entry
def find_partners(
    order: Order, smallest: IntArray, partner: IntArray, change: FloatArray, seen: IntArray,
    company: FloatArray, touched: IntArray, state: State, sample: Sample,
) -> None:  # fmt: skip
    """For every coterie find the one it costs least to merge with.

    Parameters
    ----------
    order
        The annotators, those of a coterie side by side.
    smallest
        The two smallest coteries.
    partner, change
        Written by the coteries' numbers, shape (annotators,): the partner, and what the summed loss
        would change by. They come as -1 and infinity, and stay so where there is none.
    seen, company, touched
        -1 for each row, and the room of :func:`sweep`.
    """
    group, size, _, _, cell, length = state
    row, start, weight, value, _, total = sample
    n, a = len(order), 0
    while a < n:
        m, n_touched = group[order[a]], 0
        while a < n and group[order[a]] == m:
            for d in range(len(weight)):  # what the member's rows, if not seen yet, gain
                r = row[order[a], d]
                if seen[r] == m:
                    continue
                seen[r] = m
                mine = 0
                for p in range(start[r], start[r] + length[r]):
                    if cell[p, 0] == m:
                        mine = cell[p, 1]
                for p in range(start[r], start[r] + length[r]):
                    other, theirs = cell[p, 0], cell[p, 1]
                    if other != m:
                        if company[other] == 0.0:
                            touched[n_touched] = other
                            n_touched += 1
                        union = value[mine + theirs] - (value[mine] + value[theirs])
                        company[other] += weight[d] * union
            a += 1
        for q in range(n_touched + len(smallest)):
            # Without company anywhere, the smallest is the cheapest.
            other = touched[q] if q < n_touched else smallest[q - n_touched]
            if other != m:
                union = value[size[m] + size[other]] - (value[size[m]] + value[size[other]])
                delta = total * union - 2 * company[other]
                if delta < change[m]:
                    partner[m], change[m] = other, delta
        for q in range(n_touched):
            company[touched[q]] = 0.0
