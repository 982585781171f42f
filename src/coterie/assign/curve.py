"""The curve of expected accuracy: simulated several times, policy by policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from coterie.assign.greedy import Problem
from coterie.assign.rejudged import Before, Said
from coterie.assign.risk import HALVINGS, shift_points, shift_probability
from coterie.assign.simulated import Asked, World, answer, ask_best, ask_random, labelled_pairs

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_ITEMS = 400
"""Of more items so many are simulated, and the labels counted in proportion."""
SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Of all labels that are looked ahead, where the curve has points."""
SHIFTS = 21
INTERVAL = (0.025, 0.975)


Draw = Callable[[FloatArray, IntArray, np.random.Generator], tuple[IntArray, FloatArray]]
"""From shapes of matrices and places of items: what the items are, and how people answer."""


class Curve(NamedTuple):
    """What is simulated."""

    labels: int
    simulations: int
    shared: float
    n_known: int  # items whose label is known, and right
    strength: FloatArray  # (classes,)   labels that rows of matrices rest on before there are any
    seed: int
    world: Draw


class Spread(NamedTuple):
    """Means and deviations of normal numbers that are mixed, each of shape (points, parts)."""

    mean: FloatArray
    deviation: FloatArray


class Given(NamedTuple):
    """What every simulation starts from."""

    shapes: FloatArray  # (people, classes, answers)   of the Dirichlets of how they answer
    said: Said
    draw: Callable[[np.random.Generator], tuple[IntArray, FloatArray]]  # truth, people


def curve_of(
    problem: Problem, answers: IntArray, drawn: Curve, policies: Sequence[str]
) -> tuple[pd.DataFrame, int]:
    """Give one row per policy and number of labels, and how many labels there could be.

    Parameters
    ----------
    problem, answers
        Who may be asked what, and the answers of the labels that are there, shape (labels,).
    drawn, policies
        What is simulated.
    """
    rng = np.random.default_rng(drawn.seed)
    n_items = len(problem.items)
    room = int((~labelled_pairs(problem)).sum()) if n_items <= 10 * MOST_ITEMS else 2**62
    shapes = draw_shapes(problem, drawn.strength)
    some, answers, chosen = _sample(with_codes(problem), answers, rng)
    scale = n_items / len(chosen) if len(chosen) else 1.0

    def draw(rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
        return drawn.world(shapes, chosen, rng)

    given = Given(shapes, said_so_far(some, answers), draw)
    total = min(drawn.labels, room)
    points = np.unique([0, *(round(share * total / scale) for share in SHARES)])
    rows = []
    seeds = np.random.SeedSequence(drawn.seed).spawn(drawn.simulations)
    for policy in policies:
        runs = [_run(some, points, policy, given, np.random.default_rng(seed)) for seed in seeds]
        cost = np.mean([spent for spent, _ in runs], axis=0) * scale
        beliefs = [found for _, found in runs]
        middle, spread = (
            _spread(beliefs, problem, drawn._replace(shared=s)) for s in (0.0, drawn.shared)
        )
        for k, number in enumerate(points):
            part = Spread(spread.mean[k], spread.deviation[k])
            low, high = (_quantile(part, level) for level in INTERVAL)
            labels = total if number == points[-1] else round(number * scale)
            rows.append((policy, labels, cost[k], float(middle.mean[k].mean()), low, high))
    columns = ["policy", "labels", "cost", "accuracy", "accuracy_low", "accuracy_high"]
    return pd.DataFrame(rows, columns=columns), room


def _sample(
    problem: Problem, answers: IntArray, rng: np.random.Generator
) -> tuple[Problem, IntArray, IntArray]:
    """Give some of the items of a large problem with their answers, and which they are."""
    n_items = len(problem.items)
    if n_items <= MOST_ITEMS:
        return problem, answers, np.arange(n_items)
    chosen = np.sort(rng.choice(n_items, MOST_ITEMS, replace=False))
    lengths = np.diff(problem.item_start)[chosen]
    label = np.concatenate([np.arange(*problem.item_start[i : i + 2]) for i in chosen])
    some = problem._replace(
        items=problem.items[chosen],
        n_labels=problem.n_labels[chosen],
        ease=problem.ease[chosen],
        item_start=np.append(0, np.cumsum(lengths)).astype(np.int64),
        item_annotator=problem.item_annotator[label],
    )
    return some, answers[label], chosen


def _run(
    problem: Problem,
    points: NDArray[np.int64],
    policy: str,
    given: Given,
    rng: np.random.Generator,
) -> tuple[FloatArray, list[FloatArray]]:
    """Simulate once; give what was spent, and the probability of every label, at each point."""
    in_full = problem.overlap == 0 and bool((problem.ease == 1).all())
    before = Before(problem.items, given.shapes, in_full)
    truth, people = given.draw(rng)
    world = World(truth, people, before, given.said)
    spent, beliefs = [0.0], [problem.items.max(axis=1)]
    for number in np.diff(points):
        asked = (
            ask_best(problem, int(number), np.inf)
            if policy == "information"
            else ask_random(problem, int(number), rng)
        )
        problem, world = answer(problem, asked, world, rng)
        spent.append(spent[-1] + _price(problem, asked))
        beliefs.append(problem.items.max(axis=1))
    return np.array(spent), beliefs


def _price(problem: Problem, asked: Asked) -> float:
    return float(problem.cost[asked.person].sum())


def said_so_far(problem: Problem, answers: IntArray) -> Said:
    """Give the labels that are there."""
    return Said(
        start=problem.item_start,
        person=problem.place[problem.item_annotator],
        answer=answers.astype(np.int64),
        new=np.zeros(len(answers), bool),
    )


def with_codes(problem: Problem) -> Problem:
    """Give a code also to those who have none yet, so that their labels can be noted."""
    new = np.setdiff1d(np.arange(len(problem.matrix)), problem.place)
    return problem._replace(place=np.concatenate([problem.place, new]).astype(np.int64))


def draw_shapes(problem: Problem, strength: FloatArray) -> FloatArray:
    """Give Dirichlet shapes of how everybody answers: rows that rest on their labels.

    Parameters
    ----------
    problem
        What is believed.
    strength
        Labels that rows rest on before there are any, shape (classes,).
    """
    belief = problem.items
    item = np.repeat(np.arange(len(belief)), np.diff(problem.item_start))
    person = problem.place[problem.item_annotator]
    has = person >= 0
    rests_on = np.tile(strength, (len(problem.matrix), 1))
    np.add.at(rests_on, person[has], belief[item[has]])
    return np.asarray(np.maximum(problem.matrix, 1e-6) * rests_on[..., None], np.float64)


def _spread(runs: list[list[FloatArray]], problem: Problem, drawn: Curve) -> Spread:
    """Give the accuracy in every run under every shift, with the chance of items beside it.

    Where some items stand for all, what is added is how far all are from these at the start: there
    the accuracy is that of all items as they are.
    """
    shifts, n_items = shift_points(drawn.shared, SHIFTS), len(problem.items)
    n_points, n_all = len(runs[0]), max(n_items + drawn.n_known, 1)
    now = problem.items.max(axis=1, initial=0.0)
    mean = np.zeros((n_points, len(runs) * len(shifts)))
    deviation = np.zeros_like(mean)
    for s, shift in enumerate(shifts):
        start = _mean(shift_probability(now, shift))
        for r, beliefs in enumerate(runs):
            right = [shift_probability(belief, shift) for belief in beliefs]
            place = r * len(shifts) + s
            for k in range(n_points):
                share = min(start + _mean(right[k]) - _mean(right[0]), 1.0)
                mean[k, place] = (n_items * share + drawn.n_known) / n_all
                deviation[k, place] = np.sqrt(n_items * _mean(right[k] * (1 - right[k]))) / n_all
    return Spread(mean, np.maximum(deviation, 1e-12))


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else 1.0


def _quantile(part: Spread, level: float) -> float:
    """Give a quantile of the mixture."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if ndtr((middle - part.mean) / part.deviation).mean() < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2
