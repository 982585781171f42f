"""Ways to ask for the next labels: what people do now, and what is expected to tell most.

A policy is given what is hidden, the posterior of what is known, how many labels to ask for, and
random numbers; it gives places of labels that are waiting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import belief_of, usual_information
from coterie.assign.greedy import FEW, Problem, choose
from coterie.assign.people import fair_share, groups_of
from coterie.data.codes import count_votes
from coterie.posterior import Posterior
from coterie.studies.replay.hidden import Hidden

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Policy = Callable[[Hidden, Posterior, int, np.random.Generator], IntArray]

SMALL = 50_000_000
"""Pairs of items and people times cells up to which everybody is looked at for every item."""
LOT = 5
"""Of so many labels one is left to chance by ``audited``."""


def ask_random(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator
) -> IntArray:
    """Ask for any label."""
    return rng.permutation(hidden.waiting)[:number]


def ask_balanced(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator
) -> IntArray:
    """Ask about the items that have the fewest labels, anybody."""
    return by_turns(hidden, hidden.n_known()[hidden.item[hidden.waiting]], number, rng)


def ask_uncertain(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator
) -> IntArray:
    """Ask anybody about the items whose votes have the highest entropy, one label each by turns."""
    votes = count_votes(hidden.seen().codes) + 1e-12
    share = votes / votes.sum(axis=1, keepdims=True)
    entropy = -(share * np.log(share)).sum(axis=1).round(9)
    _, rank = np.unique(-entropy, return_inverse=True)
    turn = np.zeros(len(hidden.waiting), np.int64)
    order = rng.permutation(len(turn))
    item = hidden.item[hidden.waiting]
    turn[order] = _turns(item[order])
    first = turn * (rank.max(initial=0) + 1) + rank[item]
    return hidden.waiting[np.lexsort((rng.random(len(first)), first))[:number]]


def by_turns(hidden: Hidden, n_known: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Choose waiting labels so that items stay level: those with the fewest first, ties by lot."""
    waiting = hidden.waiting
    order = rng.permutation(len(waiting))
    level = np.zeros(len(waiting), np.int64)
    level[order] = n_known[order] + _turns(hidden.item[waiting[order]])
    return waiting[np.lexsort((rng.random(len(level)), level))[:number]]


def _turns(item: IntArray) -> IntArray:
    """Give the place of each label among those of its item, in the order in which they come."""
    order = np.argsort(item, kind="stable")
    sizes = np.bincount(item) if len(item) else np.zeros(0, np.int64)
    turn = np.empty(len(item), np.int64)
    turn[order] = np.arange(len(item)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return turn


def ask_informative(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator
) -> IntArray:
    """Ask for the labels that are expected to tell most: :func:`coterie.assign.next_labels`."""
    available = len(np.unique(hidden.annotator[hidden.waiting]))
    return ask_best(hidden, posterior, number, rng, fair_share(number, available))


def ask_unlimited(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator
) -> IntArray:
    """Do the same, but ask nobody for less than everything: what the limit is there against."""
    return ask_best(hidden, posterior, number, rng, 2**40)


def ask_evenly(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator
) -> IntArray:
    """Do the same, but ask nobody for more than an even share: only what they are asked is chosen.

    A limit below two even shares leaves no choice of people, see
    :func:`coterie.assign.people.fair_share`.
    """
    available = len(np.unique(hidden.annotator[hidden.waiting]))
    return ask_best(hidden, posterior, number, rng, math.ceil(number / max(available, 1)))


def ask_audited(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator
) -> IntArray:
    """Do the same, but let chance choose one label in five."""
    by_lot = ask_random(hidden, posterior, math.ceil(number / LOT), rng)
    rest = number - len(by_lot)
    return np.concatenate([by_lot, ask_informative(hidden.revealed(by_lot), posterior, rest, rng)])


def ask_best(
    hidden: Hidden, posterior: Posterior, number: int, rng: np.random.Generator, most: int
) -> IntArray:
    """Ask for the labels that are expected to tell most, so many of one annotator at most."""
    problem = problem_of(hidden, posterior)
    left = np.full(len(problem.matrix), most)
    small = len(problem.items) * problem.matrix.size <= SMALL
    everybody = len(problem.matrix) <= FEW or small
    picks = choose(problem, min(number, len(hidden.waiting)), left, everybody)
    n_annotators = hidden.annotations.n_annotators
    place = {
        int(pair): int(k)
        for pair, k in zip(
            hidden.item[hidden.waiting] * n_annotators + hidden.annotator[hidden.waiting],
            hidden.waiting,
            strict=True,
        )
    }
    pairs = picks.item * n_annotators + picks.person
    chosen = np.array([place[int(pair)] for pair in pairs], np.int64)
    rest = number - len(chosen)
    if rest <= 0:
        return chosen
    return np.concatenate([chosen, ask_balanced(hidden.revealed(chosen), posterior, rest, rng)])


def problem_of(hidden: Hidden, posterior: Posterior) -> Problem:
    """Give the choice that there is: of pairs that have a label, and whose label is not known."""
    belief = belief_of(posterior)
    matrix = np.ascontiguousarray(belief.matrix[:-1])
    n_items, n_people = len(belief.items), len(matrix)
    closed = np.ones((n_items, n_people), bool)
    closed[hidden.item[hidden.waiting], hidden.annotator[hidden.waiting]] = False
    bits = usual_information(posterior.class_balance, matrix)
    group = groups_of(posterior, belief, np.arange(n_people))
    order = np.lexsort((-bits, group))
    start = np.append(np.flatnonzero(np.diff(group[order], prepend=-1)), n_people)
    return Problem(
        items=belief.items,
        n_labels=belief.n_labels,
        ease=belief.ease,
        overlap=belief.overlap,
        matrix=matrix,
        cost=np.ones(n_people),
        place=np.arange(n_people),
        item_start=np.append(0, np.cumsum(closed.sum(axis=1))).astype(np.int64),
        item_annotator=np.nonzero(closed)[1].astype(np.int32),
        group_start=start.astype(np.int64),
        member=order.astype(np.int64),
        most_per_item=2**40,
        budget=float("inf"),
    )


POLICIES: Mapping[str, Policy] = {
    "random": ask_random,
    "balanced": ask_balanced,
    "uncertainty": ask_uncertain,
    "information": ask_informative,
    "unlimited": ask_unlimited,
    "even": ask_evenly,
    "audited": ask_audited,
}
