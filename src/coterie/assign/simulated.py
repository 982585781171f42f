"""What becomes of belief as labels come in: answers drawn from the posterior predictive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.assign.channel import expect_answer, update_belief
from coterie.assign.greedy import FEW, Problem, choose, new_picks, new_progress, worth
from coterie.assign.people import fair_share
from coterie.assign.rejudged import Before, Said, rejudge
from coterie.numeric.choice import pick
from coterie.numeric.jit import kernel

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
    picks, left = new_picks(number), np.full(n_people, fair_share(number, n_people))
    everybody = n_people <= FEW
    found = choose(problem._replace(budget=money), picks, new_progress(problem, left), everybody)
    return Asked(picks.item[:found], picks.person[:found])


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
    uniforms, room = rng.random((len(asked.item), 2)), np.zeros(problem.matrix.shape[2])
    came = np.zeros(len(asked.item), np.int64)
    after = problem._replace(items=items, n_labels=n_labels)
    _come_in(after, asked, world, uniforms, room, came)
    said = joined(world.said, asked, came)
    shapes = rejudge(said, world.before, items)
    code_of = np.zeros(len(problem.matrix), np.int64)
    codes = np.flatnonzero(problem.place >= 0)
    code_of[problem.place[codes]] = codes
    nobody = np.flatnonzero(problem.place < 0)
    annotator = np.where(said.person >= 0, code_of[said.person], nobody[0] if len(nobody) else 0)
    return after._replace(
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


@kernel
def _come_in(
    problem: Problem,
    asked: Asked,
    world: World,
    uniforms: FloatArray,
    room: FloatArray,
    came: IntArray,
) -> None:
    """Draw the answers one by one, and move belief by each, in place."""
    for k in range(len(asked.item)):
        i, l = asked.item[k], asked.person[k]
        belief, matrix = problem.items[i], problem.matrix[l]
        value = worth(problem.n_labels[i], problem.ease[i], problem.overlap)
        for c in range(len(room)):
            room[c] = world.people[l, world.truth[i], c]
        if uniforms[k, 0] >= value:  # nothing new: what is expected anyway
            for c in range(len(room)):
                room[c] = expect_answer(c, belief, matrix)
        came[k] = pick(room, uniforms[k, 1])
        update_belief(came[k], belief, matrix, value)
        problem.n_labels[i] += 1
