"""What becomes of belief as labels come in: answers drawn from the posterior predictive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.assign.channel import expect_answer, update_belief
from coterie.assign.greedy import FEW, Problem, choose, new_picks, new_progress, worth
from coterie.assign.people import fair_share
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
    """What is true in one simulation, and what is known of people in it."""

    truth: IntArray  # (items,)   the class that answers follow
    people: FloatArray  # (people, classes, answers)   how they answer
    known: FloatArray  # (people, classes, answers)   labels that are counted for this; changed


def answer(problem: Problem, asked: Asked, world: World, rng: np.random.Generator) -> Problem:
    """Give the problem after the answers have come; people are known a little better then.

    Parameters
    ----------
    problem, asked
        What is believed, and what was asked for.
    world
        What is true.
    rng
        Where the answers come from.
    """
    items, n_labels = problem.items.copy(), problem.n_labels.copy()
    uniforms, room = rng.random((len(asked.item), 2)), np.zeros(problem.matrix.shape[2])
    _come_in(problem._replace(items=items, n_labels=n_labels), asked, world, uniforms, room)
    codes = np.flatnonzero(problem.place >= 0)
    code_of = np.zeros(len(problem.matrix), np.int64)
    code_of[problem.place[codes]] = codes
    before = np.repeat(np.arange(len(items)), np.diff(problem.item_start))
    item = np.concatenate([before, asked.item])
    annotator = np.concatenate([problem.item_annotator, code_of[asked.person]]).astype(np.int32)
    order = np.argsort(item, kind="stable")
    start = np.append(0, np.cumsum(np.bincount(item, minlength=len(items)))).astype(np.int64)
    return problem._replace(
        items=items,
        n_labels=n_labels,
        matrix=world.known / world.known.sum(axis=2, keepdims=True),
        item_start=start,
        item_annotator=annotator[order],
    )


@kernel
def _come_in(
    problem: Problem,
    asked: Asked,
    world: World,
    uniforms: FloatArray,
    room: FloatArray,
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
        c = pick(room, uniforms[k, 1])
        update_belief(c, belief, matrix, value)
        for t in range(len(belief)):
            world.known[l, t, c] += belief[t]
        problem.n_labels[i] += 1
