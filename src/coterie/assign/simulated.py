"""What becomes of belief as labels come in: answers drawn from the posterior predictive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import worth_of
from coterie.assign.channel import expect_answers, update_beliefs
from coterie.assign.greedy import FEW, Problem, choose
from coterie.assign.people import fair_share
from coterie.assign.rejudged import Before, Said, rejudge

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Asked(NamedTuple):
    """Pairs that were asked for, in order."""

    item: IntArray  # (labels,)
    person: IntArray  # (labels,)


def labelled_pairs(problem: Problem) -> NDArray[np.bool_]:
    """Say who has labelled what, shape (items, people)."""
    done = np.zeros((len(problem.items), len(problem.matrix)), bool)
    item = np.repeat(np.arange(len(problem.items)), np.diff(problem.item_start))
    person = problem.place[problem.item_annotator]
    done[item[person >= 0], person[person >= 0]] = True
    return done


def ask_best(problem: Problem, number: int, money: float) -> Asked:
    """Choose so many labels as :func:`coterie.assign.next_labels` does."""
    n_people = len(problem.matrix)
    left = np.full(n_people, fair_share(number, n_people))
    picks = choose(problem._replace(budget=money), number, left, n_people <= FEW)
    return Asked(picks.item, picks.person)


def ask_random(problem: Problem, number: int, rng: np.random.Generator) -> Asked:
    """Choose so many labels at random among those that are not there."""
    free = np.flatnonzero(~labelled_pairs(problem))
    chosen = rng.permutation(free)[:number]
    item, person = np.divmod(chosen, len(problem.matrix))
    return Asked(item.astype(np.int64), person.astype(np.int64))


class World(NamedTuple):
    """What is true in one simulation, what was believed at its start, and what was said so far."""

    truth: IntArray  # (items,)   the class that answers follow
    people: FloatArray  # (people, classes, answers)   how they answer
    before: Before
    said: Said


def answer(
    problem: Problem, asked: Asked, world: World, rng: np.random.Generator
) -> tuple[Problem, World]:
    """Give the problem after the answers have come, and all labels been judged anew.

    Parameters
    ----------
    problem, asked
        What is believed, and what was asked for.
    world
        What is true, and what was said so far.
    rng
        Where the answers come from.
    """
    items, n_labels = problem.items.copy(), problem.n_labels.copy()
    uniforms, came = rng.random((len(asked.item), 2)), np.zeros(len(asked.item), np.int64)
    order = np.argsort(asked.item, kind="stable")
    turn = np.arange(len(order)) - np.searchsorted(asked.item[order], asked.item[order])
    for r in range(turn.max(initial=-1) + 1):  # the r-th answer of each item
        k = order[turn == r]
        i, l = asked.item[k], asked.person[k]
        worth = problem.ease[i] * worth_of(n_labels[i], problem.overlap)
        chance = expect_answers(items[i], problem.matrix[l])
        new = uniforms[k, :1] < worth[:, None]  # else what is expected anyway
        ladder = np.where(new, world.people[l, world.truth[i]], chance).cumsum(axis=1)
        came[k] = c = (ladder <= uniforms[k, 1:] * ladder[:, -1:]).sum(axis=1)
        items[i] = update_beliefs(
            items[i], chance[np.arange(len(k)), c], worth, problem.matrix[l, :, c]
        )
        n_labels[i] += 1
    said = joined(world.said, asked, came)
    shapes = rejudge(said, world.before, items)
    code_of = np.zeros(len(problem.matrix), np.int64)
    codes = np.flatnonzero(problem.place >= 0)
    code_of[problem.place[codes]] = codes
    nobody = np.flatnonzero(problem.place < 0)
    annotator = np.where(said.person >= 0, code_of[said.person], nobody[0] if len(nobody) else 0)
    return problem._replace(
        items=items,
        n_labels=n_labels,
        matrix=shapes / shapes.sum(axis=2, keepdims=True),
        item_start=said.start,
        item_annotator=annotator.astype(np.int32),
    ), world._replace(said=said)


def joined(said: Said, asked: Asked, came: IntArray) -> Said:
    """Give what was said, with the answers that came."""
    before = np.repeat(np.arange(len(said.start) - 1), np.diff(said.start))
    item = np.concatenate([before, asked.item])
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=len(said.start) - 1)
    return Said(
        start=np.append(0, np.cumsum(counts)).astype(np.int64),
        person=np.concatenate([said.person, asked.person])[order],
        answer=np.concatenate([said.answer, came])[order],
        new=np.append(said.new, np.ones(len(came), bool))[order],
    )
