"""Which labels to ask for next: the best pair of item and person for its price, again and again.

Answers are not there yet, so that an item that was asked about is in one of several states of
belief, one for each row of answers. Items wait in a heap by what their best question was worth when
they were last looked at; that only falls, so that an item which is still best when it is looked at
again is best of all. With many people an item is first shown to the leader of each group, and then
to the members of the best group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.assign.channel import mean_gain, mean_information, spread_beliefs
from coterie.numeric.jit import int64, kernel, part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

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
    n_labels: IntArray  # (items,)                   they have
    ease: FloatArray  # (items,)
    overlap: float
    matrix: FloatArray  # (people, classes, answers), or (items * people, ...): for each item
    cost: FloatArray  # (people,)                    of one label
    place: IntArray  # (annotators,)                 where in people, or -1
    item_start: IntArray  # (items + 1,)
    item_annotator: NDArray[np.int32]  # (labels,)   who has labelled the item
    group_start: IntArray  # (groups + 1,)
    member: IntArray  # (people,)                    by group, the most informative first
    most_per_item: int
    budget: float


class Picks(NamedTuple):
    """What was chosen, in order."""

    item: IntArray  # (picks,)
    person: IntArray  # (picks,)
    information: FloatArray  # (picks,)   in bits
    gain: FloatArray  # (picks,)          in accuracy
    previous: IntArray  # (picks,)        the pick before of the same item, or -1


class Progress(NamedTuple):
    """Where the choice is; changed in place."""

    left: IntArray  # (people,)      labels that each may still give
    asked: IntArray  # (items,)      labels asked for
    last: IntArray  # (items,)       the last pick of each item, or -1
    key: FloatArray  # (items,)      bits per cost of its best question, when last looked at
    best: IntArray  # (items,)       whom to ask it
    seen: IntArray  # (items,)       number of picks when it was last looked at
    heap: IntArray  # (items,)       items, the best key first
    busy: IntArray  # (people,)      the last look in which this person was not free
    states: FloatArray  # (states, classes)
    weights: FloatArray  # (states,)
    counter: IntArray  # (1,)        looks so far


def new_progress(problem: Problem, left: IntArray) -> Progress:
    """Start with nothing asked."""
    n_items, n_classes = problem.items.shape
    n_states = max(STATES, problem.matrix.shape[2])
    return Progress(
        left=left.copy(),
        asked=np.zeros(n_items, np.int64),
        last=np.full(n_items, -1, np.int64),
        key=np.full(n_items, np.inf),
        best=np.full(n_items, -1, np.int64),
        seen=np.full(n_items, -1, np.int64),
        heap=np.arange(n_items, dtype=np.int64),
        busy=np.full(len(problem.cost), -1, np.int64),
        states=np.zeros((n_states, n_classes)),
        weights=np.zeros(n_states),
        counter=np.zeros(1, np.int64),
    )


def new_picks(most: int) -> Picks:
    """Give room for so many picks."""
    return Picks(
        item=np.zeros(most, np.int64),
        person=np.zeros(most, np.int64),
        information=np.zeros(most),
        gain=np.zeros(most),
        previous=np.full(most, -1, np.int64),
    )


@piece
def worth(n_labels: int, ease: float, overlap: float) -> float:
    """Give how much of one more label is new evidence: :func:`coterie.assign.belief.worth_of`."""
    return ease / (1 + overlap * n_labels)


@piece
def row_of(i: int, l: int, problem: Problem) -> int:
    """Give where the matrix of somebody who is asked about an item is."""
    n_people = len(problem.cost)
    return i * n_people + l if len(problem.matrix) > n_people else l


@piece
def sink(root: int, n: int, heap: IntArray, key: FloatArray) -> None:
    """Let the item at a place of the heap sink to where it belongs."""
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        if key[heap[child]] <= key[heap[root]]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


@part
def believe(i: int, problem: Problem, picks: Picks, progress: Progress) -> int:
    """Write the states of belief of an item after what was asked; give how many there are."""
    states, weights = progress.states, progress.weights
    for t in range(states.shape[1]):
        states[0, t] = problem.items[i, t]
    weights[0] = 1.0
    n, pick, asked = 1, progress.last[i], progress.asked[i]
    for k in range(asked):  # the order of answers does not matter but for what each is worth
        value = worth(problem.n_labels[i] + asked - 1 - k, problem.ease[i], problem.overlap)
        matrix = problem.matrix[row_of(i, picks.person[pick], problem)]
        n = spread_beliefs(n, states, weights, matrix, value)
        pick = picks.previous[pick]
    return n


@part
def note_busy(i: int, problem: Problem, picks: Picks, progress: Progress) -> int:
    """Mark those who have labelled the item or were asked to; give the mark."""
    progress.counter[0] += 1
    mark = int64(progress.counter[0])
    for label in range(problem.item_start[i], problem.item_start[i + 1]):
        l = problem.place[problem.item_annotator[label]]
        if l >= 0:
            progress.busy[l] = mark
    pick = progress.last[i]
    while pick >= 0:
        progress.busy[picks.person[pick]] = mark
        pick = picks.previous[pick]
    return mark


@piece
def is_free(l: int, mark: int, money: float, problem: Problem, progress: Progress) -> bool:
    """Say whether somebody can be asked about the item that was marked."""
    return bool(progress.left[l] > 0 and progress.busy[l] != mark and problem.cost[l] <= money)


@part
def look(
    i: int, everybody: bool, money: float, problem: Problem, picks: Picks, progress: Progress
) -> None:
    """Find whom to ask about an item, and what that is worth for its price."""
    progress.key[i], progress.best[i] = -1.0, -1
    if problem.most_per_item <= progress.asked[i]:
        return
    n, mark = believe(i, problem, picks, progress), note_busy(i, problem, picks, progress)
    states, weights = progress.states, progress.weights
    value = worth(problem.n_labels[i] + progress.asked[i], problem.ease[i], problem.overlap)
    first, last = 0, len(problem.member)
    if not everybody:
        best, chosen = -1.0, -1
        for g in range(len(problem.group_start) - 1):
            for k in range(problem.group_start[g], problem.group_start[g + 1]):
                l = problem.member[k]
                if is_free(l, mark, money, problem, progress):
                    matrix = problem.matrix[row_of(i, l, problem)]
                    bits = mean_information(n, states, weights, matrix, value)
                    if bits / problem.cost[l] > best:
                        best, chosen = bits / problem.cost[l], g
                    break
        if chosen < 0:
            return
        first, last = problem.group_start[chosen], problem.group_start[chosen + 1]
    looked = 0
    for k in range(first, last):
        l = problem.member[k]
        if not is_free(l, mark, money, problem, progress):
            continue
        matrix = problem.matrix[row_of(i, l, problem)]
        bits = mean_information(n, states, weights, matrix, value)
        if bits > NOTHING and bits / problem.cost[l] > progress.key[i]:
            progress.key[i], progress.best[i] = bits / problem.cost[l], l
        looked += 1
        if not everybody and looked >= FEW:
            break


@part
def take(i: int, number: int, problem: Problem, picks: Picks, progress: Progress) -> None:
    """Choose the best question about an item as the next pick."""
    l = progress.best[i]
    n = believe(i, problem, picks, progress)
    value = worth(problem.n_labels[i] + progress.asked[i], problem.ease[i], problem.overlap)
    states, weights = progress.states, progress.weights
    matrix = problem.matrix[row_of(i, l, problem)]
    picks.information[number] = mean_information(n, states, weights, matrix, value)
    picks.gain[number] = mean_gain(n, states, weights, matrix, value)
    picks.item[number], picks.person[number] = i, l
    picks.previous[number] = progress.last[i]
    progress.last[i] = number
    progress.asked[i] += 1
    progress.left[l] -= 1


@kernel
def choose(problem: Problem, picks: Picks, progress: Progress, everybody: bool) -> int:
    """Choose labels until the money, the people or the doubts are used up; give how many.

    Parameters
    ----------
    problem, progress
        Who may be asked what, and nothing asked.
    picks
        Room for what is chosen.
    everybody
        Look at everybody for every item, not only at the members of the best group.
    """
    n_items, money, heap, key = len(problem.items), problem.budget, progress.heap, progress.key
    for i in range(n_items):
        look(i, everybody, money, problem, picks, progress)
        progress.seen[i] = 0
    for root in range(n_items // 2 - 1, -1, -1):
        sink(root, n_items, heap, key)
    number = 0
    while number < len(picks.item) and n_items > 0:
        best = -1
        for _ in range(LOOKS):
            i = heap[0]
            if progress.seen[i] == number or key[i] < 0:
                best = i
                break
            look(i, everybody, money, problem, picks, progress)
            progress.seen[i] = number
            if best < 0 or key[i] > key[best]:
                best = i
            sink(0, n_items, heap, key)
        if progress.best[best] < 0 or key[best] < 0:
            if key[heap[0]] < 0:
                break
            continue
        money -= problem.cost[progress.best[best]]
        take(best, number, problem, picks, progress)
        number += 1
    return number
