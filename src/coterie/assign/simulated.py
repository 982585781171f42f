"""What becomes of belief as labels come in: answers drawn, and all labels judged anew.

As answers come in, people are known better, and so are old labels. Belief p0[i] at the start rests
on old labels judged by the matrices then. With shapes A of the matrices (a row's sum is the labels
that it rests on), an old label c of item i by l moves belief by the ratio of A[l,t,c] / A[l,t] now
to what it was then, a new one by A[l,t,c] / A[l,t]; of both the item's own part is taken out, so
that no label bears witness to itself. Shapes follow belief: old labels add p[i] - p0[i], new ones
p[i]. That is repeated a few times.

Only where labels count in full: of models that count them as overlapping, belief cannot be taken
apart into its labels, and stays as the answers left it; shapes follow it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from coterie.assign.belief import expect_answers, worth_of
from coterie.assign.greedy import FEW, Problem, choose
from coterie.assign.people import fair_share
from coterie.numeric import BoolArray, FloatArray, IntArray, LongArray

ROUNDS = 3
"""Times that belief and shapes follow each other."""
SMALLEST = 1e-6
"""No shape is thought less than this."""

World = Callable[[np.random.Generator], tuple[LongArray, FloatArray]]
"""Draws the class of each item that answers follow, and how people answer."""


class Said(NamedTuple):
    """Labels by item, the old ones of each first."""

    start: LongArray  # (items + 1,)
    person: LongArray  # (labels,)   their place, or -1 of those who are not asked
    answer: LongArray  # (labels,)
    new: BoolArray  # (labels,)


def labelled_pairs(problem: Problem) -> BoolArray:
    """Say who has labelled what, shape (items, people)."""
    done = np.zeros((len(problem.items), len(problem.matrix)), bool)
    item = np.repeat(np.arange(len(problem.items)), np.diff(problem.item_start))
    person = problem.place[problem.item_annotator]
    done[item[person >= 0], person[person >= 0]] = True
    return done


def simulate(
    problem: Problem,
    answers: IntArray,
    shapes: FloatArray,
    world: World,
    points: LongArray,
    policy: str,
    rng: np.random.Generator,
) -> tuple[FloatArray, list[FloatArray]]:
    """Simulate once; give what was spent, and the probability of every label, at each point.

    Parameters
    ----------
    problem, answers
        Who may be asked what, and the answers of the labels that are there, shape (labels,).
    shapes
        Of the Dirichlets of how they answer, shape (people, classes, answers).
    world
        What may be true.
    points
        Numbers of labels, the first 0.
    policy
        "information", to choose as ``next_labels`` does, or "random".
    rng
        Where randomness comes from.
    """
    before, n_people = problem.items, len(problem.matrix)
    in_full = problem.overlap == 0 and bool((problem.ease == 1).all())
    person = problem.place[problem.item_annotator]
    said = Said(problem.item_start, person, answers.astype(np.int64), np.zeros(len(person), bool))
    problem = problem._replace(place=np.append(np.arange(n_people), -1), budget=np.inf)
    problem = problem._replace(item_annotator=person.astype(np.int32))  # -1: the last place, nobody
    truth, people = world(rng)
    spent, sure = [0.0], [problem.items.max(axis=1)]
    for number in np.diff(points).tolist():
        if policy == "information":
            left = np.full(n_people, fair_share(number, n_people))
            item, person, *_ = choose(problem, number, left, n_people <= FEW)
        else:
            free = np.flatnonzero(~labelled_pairs(problem))
            item, person = np.divmod(rng.permutation(free)[:number], n_people)
        items, came = _answer(problem, item, person, truth, people, rng)
        said = _joined(said, item, person, came)
        now = rejudge(said, before, shapes, items, in_full)
        problem = problem._replace(
            items=items,
            n_labels=problem.n_labels + np.bincount(item, minlength=len(items)),
            matrix=now / now.sum(axis=2, keepdims=True),
            item_start=said.start,
            item_annotator=said.person.astype(np.int32),
        )
        spent.append(spent[-1] + float(problem.cost[person].sum()))
        sure.append(items.max(axis=1))
    return np.array(spent), sure


def _answer(
    problem: Problem,
    item: LongArray,
    person: LongArray,
    truth: LongArray,
    people: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, LongArray]:
    """Draw the answers to pairs that were asked for; give belief after them, and the answers."""
    items, n_labels = problem.items.copy(), problem.n_labels.copy()
    uniforms, came = rng.random((len(item), 2)), np.zeros(len(item), np.int64)
    order = np.argsort(item, kind="stable")
    turn = np.arange(len(order)) - np.searchsorted(item[order], item[order])
    for r in range(turn.max(initial=-1) + 1):  # the r-th answer of each item
        k = order[turn == r]
        i, l = item[k], person[k]
        worth = (problem.ease[i] * worth_of(n_labels[i], problem.overlap))[:, None]
        chance = expect_answers(items[i], problem.matrix[l])
        new = uniforms[k, :1] < worth  # else what is expected anyway
        ladder = np.where(new, people[l, truth[i]], chance).cumsum(axis=1)
        came[k] = c = (ladder <= uniforms[k, 1:] * ladder[:, -1:]).sum(axis=1)
        likely, of_all = problem.matrix[l, :, c], chance[np.arange(len(k)), c][:, None]
        ratio = np.divide(likely, of_all, out=np.ones_like(likely), where=of_all > 0)
        items[i] = items[i] * (worth * ratio + 1.0 - worth)
        n_labels[i] += 1
    return items, came


def _joined(said: Said, item: LongArray, person: LongArray, came: LongArray) -> Said:
    """Give what was said, with the answers that came."""
    n_items = len(said.start) - 1
    whose = np.concatenate([np.repeat(np.arange(n_items), np.diff(said.start)), item])
    order = np.argsort(whose, kind="stable")
    return Said(
        np.append(0, np.cumsum(np.bincount(whose, minlength=n_items))).astype(np.int64),
        np.concatenate([said.person, person])[order],
        np.concatenate([said.answer, came])[order],
        np.append(said.new, np.ones(len(came), bool))[order],
    )


def rejudge(
    said: Said, before: FloatArray, shapes: FloatArray, items: FloatArray, in_full: bool
) -> FloatArray:
    """Move belief to where all labels put it, in place; give the shapes of the matrices then.

    Parameters
    ----------
    said
        All labels.
    before, shapes
        Belief and shapes at the start, (items, classes) and (people, classes, answers).
    items
        Belief as the new answers left it one by one, shape (items, classes).
    in_full
        Whether labels count in full.
    """
    asked = said.person >= 0
    item = np.repeat(np.arange(len(items)), np.diff(said.start))[asked]
    pair, new = (said.person[asked], said.answer[asked]), said.new[asked, None]
    then, now = before[item], shapes.copy()

    def count() -> None:
        now[:] = shapes
        np.add.at(now.swapaxes(1, 2), pair, items[item] - np.where(new, 0.0, then))

    def shares(shapes: FloatArray, own: FloatArray) -> FloatArray:
        """Give how often each class is answered so, without the labels themselves."""
        same, total = shapes.swapaxes(1, 2)[pair] - own, shapes.sum(axis=2)[pair[0]] - own
        return np.asarray(np.maximum(same, SMALLEST) / np.maximum(total, SMALLEST))

    old = np.where(new, 0.0, np.log(shares(shapes, then)))
    for _ in range(ROUNDS if in_full else 0):
        count()
        logs = np.log(before, out=np.full(items.shape, -np.inf), where=before > 0)
        np.add.at(logs, item, np.log(shares(now, items[item])) - old)
        items[:] = np.exp(logs - logs.max(axis=1, keepdims=True))
        items /= items.sum(axis=1, keepdims=True)
    count()
    return now
