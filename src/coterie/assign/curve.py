"""The curve of expected accuracy: simulated several times, policy by policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from coterie.assign.greedy import Problem
from coterie.assign.risk import HALVINGS, shift_points, shift_probability
from coterie.assign.simulated import Asked, World, answer, ask_best, ask_random, labelled_pairs
from coterie.assign.without import STRENGTH
from coterie.simulation.dirichlet import draw_dirichlet

FloatArray = NDArray[np.float64]

MOST_ITEMS = 400
"""Of more items so many are simulated, and the labels counted in proportion."""
SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Of all labels that are looked ahead, where the curve has points."""
SHIFTS = 21
INTERVAL = (0.025, 0.975)


class Curve(NamedTuple):
    """What is simulated."""

    labels: int
    simulations: int
    shared: float
    n_known: int  # items whose label is known, and right
    seed: int


class Spread(NamedTuple):
    """Means and deviations of normal numbers that are mixed, each of shape (points, parts)."""

    mean: FloatArray
    deviation: FloatArray


def curve_of(problem: Problem, drawn: Curve, policies: Sequence[str]) -> tuple[pd.DataFrame, int]:
    """Give one row per policy and number of labels, and how many labels there could be."""
    rng = np.random.default_rng(drawn.seed)
    n_items = len(problem.items)
    room = int((~labelled_pairs(problem)).sum()) if n_items <= 10 * MOST_ITEMS else 2**62
    known = draw_shapes(problem)
    some, scale = _sample(with_codes(problem), rng)
    total = min(drawn.labels, room)
    points = np.unique([0, *(round(share * total / scale) for share in SHARES)])
    rows = []
    seeds = np.random.SeedSequence(drawn.seed).spawn(drawn.simulations)
    for policy in policies:
        runs = [_run(some, points, policy, known, np.random.default_rng(seed)) for seed in seeds]
        cost = np.mean([spent for spent, _ in runs], axis=0) * scale
        spread = _spread([beliefs for _, beliefs in runs], drawn, n_items)
        for k, number in enumerate(points):
            part = Spread(spread.mean[k], spread.deviation[k])
            low, high = (_quantile(part, level) for level in INTERVAL)
            labels = total if number == points[-1] else round(number * scale)
            rows.append((policy, labels, cost[k], float(part.mean.mean()), low, high))
    columns = ["policy", "labels", "cost", "accuracy", "accuracy_low", "accuracy_high"]
    return pd.DataFrame(rows, columns=columns), room


def _sample(problem: Problem, rng: np.random.Generator) -> tuple[Problem, float]:
    """Give some of the items of a large problem, and how many items each stands for."""
    n_items = len(problem.items)
    if n_items <= MOST_ITEMS:
        return problem, 1.0
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
    return some, n_items / MOST_ITEMS


def _run(
    problem: Problem,
    points: NDArray[np.int64],
    policy: str,
    known: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, list[FloatArray]]:
    """Simulate once; give what was spent, and the probability of every label, at each point."""
    n_items, n_classes = problem.items.shape
    chance = problem.items.cumsum(axis=1)
    truth = (rng.random((n_items, 1)) * chance[:, -1:] > chance).sum(axis=1)
    truth = np.minimum(truth, n_classes - 1).astype(np.int64)
    world = World(truth, draw_dirichlet(known, rng), known.copy())
    spent, beliefs = [0.0], [problem.items.max(axis=1)]
    for number in np.diff(points):
        asked = (
            ask_best(problem, int(number), np.inf)
            if policy == "information"
            else ask_random(problem, int(number), rng)
        )
        problem = answer(problem, asked, world, rng)
        spent.append(spent[-1] + _price(problem, asked))
        beliefs.append(problem.items.max(axis=1))
    return np.array(spent), beliefs


def _price(problem: Problem, asked: Asked) -> float:
    return float(problem.cost[asked.person].sum())


def with_codes(problem: Problem) -> Problem:
    """Give a code also to those who have none yet, so that their labels can be noted."""
    new = np.setdiff1d(np.arange(len(problem.matrix)), problem.place)
    return problem._replace(place=np.concatenate([problem.place, new]).astype(np.int64))


def draw_shapes(problem: Problem) -> FloatArray:
    """Give Dirichlet shapes of how everybody answers: rows that rest on their labels."""
    belief = problem.items
    item = np.repeat(np.arange(len(belief)), np.diff(problem.item_start))
    person = problem.place[problem.item_annotator]
    has = person >= 0
    rests_on = np.full(problem.matrix.shape[:2], STRENGTH)
    np.add.at(rests_on, person[has], belief[item[has]])
    return np.asarray(np.maximum(problem.matrix, 1e-6) * rests_on[..., None], np.float64)


def _spread(runs: list[list[FloatArray]], drawn: Curve, n_items: int) -> Spread:
    """Give the accuracy in every run under every shift, with the chance of items beside it."""
    shifts = shift_points(drawn.shared, SHIFTS)
    n_points, n_all = len(runs[0]), max(n_items + drawn.n_known, 1)
    mean = np.zeros((n_points, len(runs) * len(shifts)))
    deviation = np.zeros_like(mean)
    for k in range(n_points):
        for r, beliefs in enumerate(runs):
            for s, shift in enumerate(shifts):
                right = shift_probability(beliefs[k], shift)
                place = r * len(shifts) + s
                share = right.mean() if len(right) else 1.0
                mean[k, place] = (n_items * share + drawn.n_known) / n_all
                chance = (right * (1 - right)).mean() if len(right) else 0.0
                deviation[k, place] = np.sqrt(n_items * chance) / n_all
    return Spread(mean, np.maximum(deviation, 1e-12))


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
