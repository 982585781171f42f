"""The labels of a dense data set, of which only some are known, and ways to ask for the next.

What people do now, and what is expected to tell most. A policy is given what is hidden, the
posterior of what is known, how many labels to ask for, and random numbers; it gives places of
labels that are waiting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import belief_of, usual_information
from coterie.assign.greedy import FEW, Problem, choose
from coterie.assign.people import fair_share, groups_of
from coterie.data.annotations import Annotations
from coterie.data.codes import count_votes, encode
from coterie.posterior import Posterior

IntArray = NDArray[np.int64]
Rng = np.random.Generator

SMALL = 50_000_000  # pairs of items and people times cells: everybody is looked at for every item


@dataclass(frozen=True, eq=False)
class Hidden:
    """Every label there is, and which of them are known; codes of each label, shape (labels,)."""

    annotations: Annotations  # all of it; its words stay the same whatever is known
    item: IntArray
    annotator: IntArray
    answer: IntArray
    known: NDArray[np.bool_]

    @property
    def waiting(self) -> IntArray:
        """Places of the labels that can still be asked for."""
        return np.flatnonzero(~self.known)

    @property
    def available(self) -> int:
        """Number of annotators who have labels that wait."""
        return len(np.unique(self.annotator[self.waiting]))

    def revealed(self, places: IntArray) -> Hidden:
        """Give the same with these labels known too."""
        known = self.known.copy()
        known[places] = True
        return replace(self, known=known)

    def seen(self) -> Annotations:
        """Give the annotations as far as they are known: all items and annotators, some labels."""
        a, known = self.annotations, self.known
        sizes = (a.n_items, a.n_annotators, a.n_classes, a.n_answers)
        triples = (self.item[known], self.annotator[known], self.answer[known])
        return replace(a, codes=encode(*triples, sizes=sizes, gold=a.codes.gold), times=None)

    def n_known(self) -> IntArray:
        """Count the known labels of each item."""
        n_items = self.annotations.n_items
        return np.bincount(self.item[self.known], minlength=n_items).astype(np.int64)


def hide(annotations: Annotations, start: int, rng: Rng) -> Hidden:
    """Hide all labels but so many of each item, which are drawn at random."""
    codes = annotations.codes
    item = annotations.item_of_label.astype(np.int64)
    order = np.lexsort((rng.random(len(item)), item))
    place = np.empty(len(item), np.int64)
    place[order] = np.arange(len(item)) - codes.item_start[item[order]]
    people, answers = (a.astype(np.int64) for a in (codes.item_annotator, codes.item_answer))
    return Hidden(annotations, item, people, answers, place < start)


Policy = Callable[[Hidden, Posterior, int, Rng], IntArray]


def ask_random(hidden: Hidden, posterior: Posterior, number: int, rng: Rng) -> IntArray:
    """Ask for any label."""
    return rng.permutation(hidden.waiting)[:number]


def ask_balanced(hidden: Hidden, posterior: Posterior, number: int, rng: Rng) -> IntArray:
    """Ask about the items that have the fewest labels, anybody: items stay level, ties by lot."""
    waiting = hidden.waiting
    n_known = hidden.n_known()[hidden.item[waiting]]
    order = rng.permutation(len(waiting))
    level = np.zeros(len(waiting), np.int64)
    level[order] = n_known[order] + _turns(hidden.item[waiting[order]])
    return waiting[np.lexsort((rng.random(len(level)), level))[:number]]


def ask_uncertain(hidden: Hidden, posterior: Posterior, number: int, rng: Rng) -> IntArray:
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


def _turns(item: IntArray) -> IntArray:
    """Give the place of each label among those of its item, in the order in which they come."""
    order = np.argsort(item, kind="stable")
    sizes = np.bincount(item) if len(item) else np.zeros(0, np.int64)
    turn = np.empty(len(item), np.int64)
    turn[order] = np.arange(len(item)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return turn


def ask_best(
    hidden: Hidden,
    posterior: Posterior,
    number: int,
    rng: Rng,
    *,
    most: Callable[[int, int], int] = fair_share,
) -> IntArray:
    """Ask for the labels that are expected to tell most: :func:`coterie.assign.next_labels`.

    ``most`` says how many of one annotator, from the number and how many people there are.
    """
    problem = _problem_of(hidden, posterior)
    left = np.full(len(problem.matrix), most(number, hidden.available))
    small = len(problem.items) * problem.matrix.size <= SMALL
    everybody = len(problem.matrix) <= FEW or small
    picks = choose(problem, min(number, len(hidden.waiting)), left, everybody)
    n = hidden.annotations.n_annotators
    pairs = hidden.item[hidden.waiting] * n + hidden.annotator[hidden.waiting]
    place = dict(zip(pairs.tolist(), hidden.waiting.tolist(), strict=True))
    chosen = np.array([place[pair] for pair in (picks.item * n + picks.person).tolist()], np.int64)
    rest = number - len(chosen)
    if rest <= 0:
        return chosen
    return np.concatenate([chosen, ask_balanced(hidden.revealed(chosen), posterior, rest, rng)])


def ask_audited(hidden: Hidden, posterior: Posterior, number: int, rng: Rng) -> IntArray:
    """Do the same, but let chance choose one label in five."""
    by_lot = ask_random(hidden, posterior, math.ceil(number / 5), rng)
    rest = number - len(by_lot)
    return np.concatenate([by_lot, ask_best(hidden.revealed(by_lot), posterior, rest, rng)])


def _problem_of(hidden: Hidden, posterior: Posterior) -> Problem:
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
    "information": ask_best,
    # nobody is asked for less than everything: what the limit is there against
    "unlimited": partial(ask_best, most=lambda number, people: 2**40),
    # nobody is asked for more than an even share: only what they are asked is chosen
    "even": partial(ask_best, most=lambda number, people: math.ceil(number / max(people, 1))),
    "audited": ask_audited,
}
