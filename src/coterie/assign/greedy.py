"""Which labels to ask for next: the best pair of item and person for its price, again and again.

Answers are not there yet, so that an item that was asked about is in one of several states of
belief, one for each row of answers. Items wait in a heap by what their best question was worth when
they were last looked at; that only falls, so that an item which is still best when it is looked at
again is best of all. With many people an item is first shown to the leader of each group, and then
to the members of the best group.

The formulas are those of :mod:`coterie.assign.belief`, for one state and one matrix at a time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from coterie.numeric import BoolArray, FloatArray, IntArray, LongArray
from coterie.numeric.compile import entry, jit

FEW = 64
"""So many people are all looked at, and of a larger group so many members."""
LOOKS = 64
"""Items that are looked at for one question at most."""
STATES = 32
"""States of belief of one item that are told apart."""
NOTHING = 1e-9
"""Less information than this, in bits, is none."""


class Problem(NamedTuple):
    """Who may be asked what."""

    items: FloatArray  # (items, classes)            belief
    n_labels: LongArray  # (items,)                   they have
    ease: FloatArray  # (items,)
    overlap: float
    matrix: FloatArray  # (people, classes, answers), or (items * people, ...): for each item
    cost: FloatArray  # (people,)                    of one label
    place: LongArray  # (annotators,)                 where in people, or -1
    item_start: LongArray  # (items + 1,)
    item_annotator: IntArray  # (labels,)   who has labelled the item
    group_start: LongArray  # (groups + 1,)
    member: LongArray  # (people,)                    by group, the most informative first
    most_per_item: int
    budget: float


class Picks(NamedTuple):
    """What was chosen, in order."""

    item: LongArray  # (picks,)
    person: LongArray  # (picks,)
    information: FloatArray  # (picks,)   in bits
    gain: FloatArray  # (picks,)          in accuracy


def choose(problem: Problem, number: int, left: LongArray, everybody: bool) -> Picks:
    """Choose labels until the money, the people or the doubts are used up, so many at most.

    Of each person as many as are ``left``, shape (people,). With ``everybody`` all are looked at
    for every item, not only the members of the best group.
    """
    picks = Picks(*np.zeros((2, number), np.int64), *np.zeros((2, number)))
    said_by = problem.place[problem.item_annotator]
    start, said_by, groups, member, left, n_labels = (
        array.astype(np.int64)
        for array in (problem.item_start, said_by, problem.group_start, problem.member, left,
                      problem.n_labels)
    )  # fmt: skip
    found = choose_one_by_one(
        np.array(problem.items), n_labels, problem.ease, float(problem.overlap),
        np.ascontiguousarray(problem.matrix), problem.cost, start, said_by, groups, member, left,
        problem.most_per_item, float(problem.budget), everybody, *picks,
    )  # fmt: skip
    return Picks._make(column[:found] for column in picks)


@entry
def choose_one_by_one(
    items: FloatArray, n_labels: LongArray, ease: FloatArray, overlap: float, matrix: FloatArray,
    cost: FloatArray, item_start: LongArray, said_by: LongArray, group_start: LongArray,
    member: LongArray, left: LongArray, most_per_item: int, money: float, everybody: bool,
    item: LongArray, person: LongArray, information: FloatArray, gain: FloatArray,
) -> int:  # fmt: skip
    """Write the picks; give how many there are. What is left of each is counted down."""
    n_items, n_states = len(items), max(STATES, matrix.shape[2])
    states, weights = np.empty((n_states, items.shape[1])), np.empty(n_states)
    closed = np.empty(len(cost), np.bool_)
    previous = np.full(len(item), -1)  # the pick before of the same item
    asked, last = np.zeros(n_items, np.int64), np.full(n_items, -1)  # picks, and the last one
    # Of the best question, when last looked at: bits per cost, whom, bits, gain; after which pick.
    key, best, bits = np.empty(n_items), np.empty(n_items, np.int64), np.empty(n_items)
    rise, seen = np.empty(n_items), np.zeros(n_items, np.int64)
    heap = np.arange(n_items)
    number, fresh = 0, n_items
    while number < len(item) and n_items > 0:
        chosen = -1
        for turn in range(fresh + LOOKS):
            i = turn if turn < fresh else heap[0]  # at first, all are looked at
            if turn >= fresh and (seen[i] == number or key[i] < 0):
                chosen = i
                break
            key[i], best[i], bits[i], rise[i] = look(
                i, items, n_labels, ease, overlap, matrix, cost, item_start, said_by, group_start,
                member, left, most_per_item, money, everybody, person, previous, asked, last,
                closed, states, weights,
            )  # fmt: skip
            seen[i] = number
            if turn >= fresh:
                chosen = i if chosen < 0 or key[i] > key[chosen] else chosen
                sink(0, heap, key)
            for root in range(n_items // 2 - 1 if turn == fresh - 1 else -1, -1, -1):
                sink(root, heap, key)
        fresh = 0
        if key[chosen] >= 0:
            item[number], person[number] = chosen, best[chosen]
            information[number], gain[number] = bits[chosen], rise[chosen]
            previous[number], last[chosen] = last[chosen], number
            asked[chosen] += 1
            left[best[chosen]] -= 1
            money -= cost[best[chosen]]
            number += 1
        elif key[heap[0]] < 0:
            break
    return number


@jit
def look(
    i: int, items: FloatArray, n_labels: LongArray, ease: FloatArray, overlap: float,
    matrix: FloatArray, cost: FloatArray, item_start: LongArray, said_by: LongArray,
    group_start: LongArray, member: LongArray, left: LongArray, most_per_item: int, money: float,
    everybody: bool, person: LongArray, previous: LongArray, asked: LongArray, last: LongArray,
    closed: BoolArray, states: FloatArray, weights: FloatArray,
) -> tuple[float, int, float, float]:  # fmt: skip
    """Find whom to ask about an item; give bits for its price, whom, bits and gain, or -1."""
    nothing = -1.0, -1, 0.0, 0.0
    if most_per_item <= asked[i]:
        return nothing
    row = i * len(cost) if len(matrix) > len(cost) else 0  # where the matrices begin
    for l in range(len(cost)):
        closed[l] = left[l] <= 0 or cost[l] > money
    for k in range(item_start[i], item_start[i + 1]):
        if said_by[k] >= 0:
            closed[said_by[k]] = True
    n, pick = 1, last[i]
    weights[0] = 1.0
    for t in range(items.shape[1]):
        states[0, t] = items[i, t]
    for k in range(asked[i] - 1, -1, -1):  # their order does not matter but for what each is worth
        worth = ease[i] / (1 + overlap * (n_labels[i] + k))
        n = spread_beliefs(n, states, weights, matrix, row + person[pick], worth)
        closed[person[pick]] = True
        pick = previous[pick]
    worth = ease[i] / (1 + overlap * (n_labels[i] + asked[i]))
    start, end = 0, len(member)
    if not everybody:
        top, group = -1.0, -1
        for g in range(len(group_start) - 1):
            for k in range(group_start[g], group_start[g + 1]):
                l = member[k]
                if not closed[l]:
                    bits, _ = tell(n, states, weights, matrix, row + l, worth)
                    if bits / cost[l] > top:
                        top, group = bits / cost[l], g
                    break
        if group < 0:
            return nothing
        start, end = group_start[group], group_start[group + 1]
    found, n_looked = nothing, 0
    for k in range(start, end):
        l = member[k]
        if not closed[l] and (everybody or n_looked < FEW):
            n_looked += 1
            bits, gain = tell(n, states, weights, matrix, row + l, worth)
            if bits > NOTHING and bits / cost[l] > found[0]:
                found = bits / cost[l], l, bits, gain
    return found


@jit
def spread_beliefs(
    n: int, states: FloatArray, weights: FloatArray, matrix: FloatArray, l: int, worth: float
) -> int:
    """Replace n states of belief by what they become with every answer; give how many there are.

    States are rows of ``states`` with their chances in ``weights``. Where there is no room for all
    of them, the answers of the least probable states are left open, which keeps the mean of belief.
    """
    end = n
    for s in range(n):
        if end + matrix.shape[2] - 1 > len(weights):
            break
        for c in range(matrix.shape[2] - 1, -1, -1):
            place, chance = s if c == 0 else end, expect(c, s, states, matrix, l)
            for t in range(states.shape[1]):
                ratio = worth * matrix[l, t, c] / chance + 1.0 - worth if chance > 0.0 else 1.0
                states[place, t] = states[s, t] * ratio
            weights[place] = weights[s] * chance
            end += c > 0
    for s in range(1, end):  # sorted by insertion: they are few, and nearly sorted
        r = s
        while r > 0 and weights[r] > weights[r - 1]:
            weights[r], weights[r - 1] = weights[r - 1], weights[r]
            for t in range(states.shape[1]):
                states[r, t], states[r - 1, t] = states[r - 1, t], states[r, t]
            r -= 1
    return end


@jit
def tell(
    n: int, states: FloatArray, weights: FloatArray, matrix: FloatArray, l: int, worth: float
) -> tuple[float, float]:
    """Give the expected information and gain in accuracy over n states of belief."""
    bits, gain = 0.0, 0.0
    for s in range(n):
        told, before, after = 0.0, 0.0, 0.0
        for t in range(states.shape[1]):
            before = max(before, states[s, t])
        for c in range(matrix.shape[2]):
            chance, highest = expect(c, s, states, matrix, l), 0.0
            for t in range(states.shape[1] if chance > 0.0 else 0):
                p, ratio = states[s, t], worth * matrix[l, t, c] / chance + 1.0 - worth
                highest = max(highest, p * (worth * matrix[l, t, c] + (1.0 - worth) * chance))
                if p > 0.0 and ratio > 0.0:
                    told += p * chance * ratio * math.log2(ratio)
            after += highest
        bits += weights[s] * max(told, 0.0)
        gain += weights[s] * max(after - before, 0.0)
    return bits, gain


@jit
def expect(c: int, s: int, states: FloatArray, matrix: FloatArray, l: int) -> float:
    """Give the chance of an answer in a state of belief."""
    chance = 0.0
    for t in range(states.shape[1]):
        chance += states[s, t] * matrix[l, t, c]
    return chance


@jit
def sink(root: int, heap: LongArray, key: FloatArray) -> None:
    """Let the item at a place of the heap sink to where it belongs."""
    child = 2 * root + 1
    while child < len(heap):
        if child + 1 < len(heap) and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        if key[heap[child]] <= key[heap[root]]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root, child = child, 2 * child + 1
