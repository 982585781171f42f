"""How accurate the labels will be as more come in, what that costs, and whether it can be had."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coterie.arguments import checked
from coterie.assign.belief import belief_of
from coterie.assign.draws import (
    SHARED,
    draw_world,
    mixed_quantile,
    own_spread,
    shift_points,
    shift_probability,
)
from coterie.assign.greedy import Problem
from coterie.assign.people import (
    Costs,
    a_share,
    at_least_zero,
    costs_of,
    people_of,
    strength_of_rows,
    whole,
)
from coterie.assign.simulated import labelled_pairs, simulate
from coterie.assign.tasks import make_problem
from coterie.errors import DataError
from coterie.numeric import FloatArray, IntArray, LongArray
from coterie.posterior import Posterior
from coterie.words.numbers import count, decimal, span, tenths

POLICIES = ("information", "random")
AHEAD, FAR = 5, 20
"""Further labels per item that are looked ahead: if nothing is said, and to reach a target."""
SIMULATIONS, MOST_SIMULATIONS = 20, 100_000
MOST_ITEMS = 400
"""Of more items so many are simulated, and the labels counted in proportion."""
SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Of all labels that are looked ahead, where the curve has points."""
SHIFTS = 21
INTERVAL = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Forecast:
    """Expected accuracy as labels are added.

    Parameters
    ----------
    curve
        One row per policy and number of further labels: policy ("information": as
        ``next_labels`` chooses; "random"), labels, cost, accuracy (expected), accuracy_low,
        accuracy_high (95 %).
    target
        The accuracy that was asked for, if any.
    needed
        By policy, the further labels that reach it; infinite if those looked ahead do not.
    costs
        By policy, what they cost.
    whole
        Whether everybody has labelled everything at the end of the curve.
    """

    curve: pd.DataFrame
    target: float | None
    needed: dict[str, float]
    costs: dict[str, float]
    whole: bool

    @property
    def sentence(self) -> str:
        """What it says, for a person."""
        best = self.curve[self.curve["policy"] == "information"]
        now, end = (
            f"{tenths(row['accuracy'])} ({span(row['accuracy_low'], row['accuracy_high'])})"
            for _, row in best.iloc[[0, -1]].iterrows()
        )
        if len(best) == 1:
            return f"No further label can be had: the accuracy stays what it is, {now}."
        more = count(int(best["labels"].iloc[-1]), "more label")
        last = f"{more} of these people lead from {now} to {end}"
        if self.target is None:
            return f"{last}."
        goal, needed, other = tenths(self.target), *(self.needed[name] for name in POLICIES)
        if best["accuracy"].iloc[0] >= self.target:
            return f"The target of {goal} is expected to be reached already: {now}."
        if math.isinf(needed):
            why = "cannot be reached with these people" if self.whole else "is not reached"
            return f"The target of {goal} {why}: {last}."
        many = f"{other:,.0f}" if math.isfinite(other) else "more than are looked ahead"
        return (
            f"The target of {goal} is expected to be reached with {needed:,.0f} more labels for"
            f" {decimal(self.costs['information'])}; {many} if assigned at random."
        )

    def __str__(self) -> str:
        return self.sentence


@checked
def forecast(
    posterior: Posterior,
    labels: int | None = None,
    target: float | None = None,
    *,
    annotators: Iterable[Hashable] | None = None,
    cost: Costs = None,
    simulations: int = SIMULATIONS,
    random_state: int = 0,
    shared_mistakes: float = SHARED,
) -> Forecast:
    """Foretell the accuracy as labels are added: chosen as ``next_labels`` does, and at random.

    Answers are drawn from the posterior predictive: a class for every item from what is believed,
    a matrix for everybody from what is known of them. What is believed after every answer follows
    docs/decisions.md.

    Parameters
    ----------
    posterior
        The result so far.
    labels
        Further labels to look ahead; by default five per item, and twenty if there is a target.
    target
        An accuracy, to be told how many labels and how much money reach it.
    annotators, cost
        Who is available, and at what price, as for ``next_labels``.
    simulations, random_state
        Runs that are averaged, and their seed.
    shared_mistakes
        As for ``stop``.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=40, annotators=8, labels_per_item=2, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> found = coterie.assign.forecast(posterior, labels=80)
    >>> best = found.curve[found.curve["policy"] == "information"]
    >>> bool(best["accuracy"].iloc[-1] > best["accuracy"].iloc[0])
    True
    """
    at_least_zero(shared_mistakes=shared_mistakes)
    if target is not None:
        a_share(target)
    if not 1 <= simulations <= MOST_SIMULATIONS:
        raise DataError(
            f"simulations must be between 1 and {MOST_SIMULATIONS:,}, got {simulations!r}",
            argument="simulations",
        )
    belief, codes = belief_of(posterior), posterior.annotations.codes
    people = people_of(posterior, belief, annotators)
    costs = costs_of(cost, people.names)
    unknown = np.flatnonzero(codes.gold < 0)
    problem = make_problem(posterior, belief, people, costs, unknown, math.inf)
    n, n_known = len(unknown), len(codes.gold) - len(unknown)
    labels = whole("labels", labels, (AHEAD if target is None else FAR) * n)
    shared = math.hypot(shared_mistakes, own_spread(posterior))
    room = int((~labelled_pairs(problem)).sum()) if n <= 10 * MOST_ITEMS else 2**62
    total = min(labels, room)

    strength = strength_of_rows(posterior)
    shapes = _shapes(problem, strength)
    answers = codes.item_answer[np.repeat(codes.gold < 0, np.diff(codes.item_start))]
    chosen = np.arange(n, dtype=np.int64)
    if n > MOST_ITEMS:
        chosen = np.sort(np.random.default_rng(random_state).choice(n, MOST_ITEMS, replace=False))
    some, answers = _part(problem, answers, chosen)
    items, scale = unknown[chosen], n / len(chosen) if len(chosen) else 1.0
    points = np.unique([0, *(round(share * total / scale) for share in SHARES)])
    seeds = np.random.SeedSequence(random_state).spawn(simulations)
    rows = []
    for policy in POLICIES:
        spent, runs = zip(
            *(
                simulate(
                    some, answers, shapes,
                    lambda rng: draw_world(posterior, people, shapes, items, some.items, rng),
                    points, policy, np.random.default_rng(seed),
                )
                for seed in seeds
            ),
            strict=True,
        )  # fmt: skip
        money = np.mean(spent, axis=0) * scale
        now = problem.items.max(axis=1, initial=0.0)
        middle, _ = _spread(runs, now, n_known, 0.0)
        mean, deviation = _spread(runs, now, n_known, shared)
        for k, number in enumerate(points):
            low, high = (sum(mixed_quantile(mean[k], deviation[k], x)) / 2 for x in INTERVAL)
            many = total if number == points[-1] else round(number * scale)
            rows.append((policy, many, money[k], float(middle[k].mean()), low, high))
    columns = ["policy", "labels", "cost", "accuracy", "accuracy_low", "accuracy_high"]
    curve = pd.DataFrame(rows, columns=columns)
    reached = {name: _reached(curve[curve["policy"] == name], target) for name in POLICIES}
    return Forecast(
        curve,
        target,
        {name: found[0] for name, found in reached.items()},
        {name: found[1] for name, found in reached.items()},
        bool(curve["labels"].max() >= room),
    )


def _part(problem: Problem, answers: IntArray, chosen: LongArray) -> tuple[Problem, IntArray]:
    """Give some of the items of a problem with their answers."""
    lengths = np.diff(problem.item_start)[chosen]
    ends = np.cumsum(lengths)
    label = np.repeat(problem.item_start[chosen] - ends + lengths, lengths)
    label += np.arange(len(label))
    some = problem._replace(
        items=problem.items[chosen],
        n_labels=problem.n_labels[chosen],
        ease=problem.ease[chosen],
        item_start=np.append(0, ends).astype(np.int64),
        item_annotator=problem.item_annotator[label],
    )
    return some, answers[label]


def _shapes(problem: Problem, strength: FloatArray) -> FloatArray:
    """Give Dirichlet shapes of how everybody answers: rows that rest on their labels.

    ``strength`` are the labels that rows rest on before there are any, shape (classes,).
    """
    item = np.repeat(np.arange(len(problem.items)), np.diff(problem.item_start))
    person = problem.place[problem.item_annotator]
    has = person >= 0
    rests_on = np.tile(strength, (len(problem.matrix), 1))
    np.add.at(rests_on, person[has], problem.items[item[has]])
    return np.asarray(np.maximum(problem.matrix, 1e-6) * rests_on[..., None], np.float64)


def _spread(
    runs: Iterable[list[FloatArray]], now: FloatArray, n_known: int, shared: float
) -> tuple[FloatArray, FloatArray]:
    """Give the accuracy in every run under every shift, with the chance of items beside it.

    Where some items stand for all, what is added is how far all are from these at the start: there
    the accuracy is that of all items as they are.

    Returns
    -------
    Means and deviations of normal shares that are mixed, each of shape (points, parts).
    """
    n_items, n_all = len(now), max(len(now) + n_known, 1)
    means, deviations = [], []
    for shift in shift_points(shared, SHIFTS):
        start = _mean(shift_probability(now, shift))
        for beliefs in runs:
            right = [shift_probability(belief, shift) for belief in beliefs]
            share = [min(start + _mean(p) - _mean(right[0]), 1.0) for p in right]
            means.append([(n_items * x + n_known) / n_all for x in share])
            deviations.append([np.sqrt(n_items * _mean(p * (1 - p))) / n_all for p in right])
    return np.array(means).T, np.maximum(np.array(deviations).T, 1e-12)


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else 1.0


def _reached(curve: pd.DataFrame, target: float | None) -> tuple[float, float]:
    """Give the labels and the money at which the curve reaches the target, between its points."""
    if target is None:
        return math.nan, math.nan
    accuracy = curve["accuracy"].to_numpy()
    above = np.flatnonzero(accuracy >= target)
    if len(above) == 0:
        return math.inf, math.inf
    k = int(above[0])
    if k == 0:
        return 0.0, 0.0
    part = (target - accuracy[k - 1]) / (accuracy[k] - accuracy[k - 1])
    labels, cost = curve[["labels", "cost"]].to_numpy(np.float64).T
    n_labels = math.ceil(labels[k - 1] + part * (labels[k] - labels[k - 1]))
    return float(n_labels), float(np.interp(n_labels, labels, cost))
