"""How accurate the labels will be as more come in, what that costs, and whether it can be had."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.arguments import checked
from coterie.assign.belief import belief_of
from coterie.assign.checks import at_least_zero, is_number, whole
from coterie.assign.curve import Curve, curve_of
from coterie.assign.people import Costs, costs_of, people_of, strength_of_rows
from coterie.assign.risk import SHARED, own_spread
from coterie.assign.tasks import make_problem
from coterie.assign.worlds import draw_world
from coterie.errors import DataError
from coterie.posterior import Posterior
from coterie.words.numbers import count, decimal, span, tenths

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

POLICIES = ("information", "random")
AHEAD = 5
"""Further labels per item that are looked ahead, if nothing is said."""
FAR = 20
"""And if it is asked when a target is reached."""
SIMULATIONS = 20

MOST_SIMULATIONS = 100_000


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
        best = self.curve[self.curve["policy"] == POLICIES[0]]
        now, end = best.iloc[0], best.iloc[-1]
        if len(best) == 1:
            return "No further label can be had: the accuracy stays what it is, " \
                f"{_shown(now)}."  # fmt: skip
        last = f"{count(int(end['labels']), 'more label')} of these people lead from" \
            f" {_shown(now)} to {_shown(end)}"  # fmt: skip
        if self.target is None:
            return f"{last}."
        goal = tenths(self.target)
        if now["accuracy"] >= self.target:
            return f"The target of {goal} is expected to be reached already: {_shown(now)}."
        if math.isinf(self.needed[POLICIES[0]]):
            why = "cannot be reached with these people" if self.whole else "is not reached"
            return f"The target of {goal} {why}: {last}."
        other = self.needed[POLICIES[1]]
        compared = (
            f"{other:,.0f} if assigned at random" if math.isfinite(other)
            else "more than are looked ahead if assigned at random"
        )  # fmt: skip
        return (
            f"The target of {goal} is expected to be reached with {self.needed[POLICIES[0]]:,.0f}"
            f" more labels for {decimal(self.costs[POLICIES[0]])}; {compared}."
        )

    def __str__(self) -> str:
        return self.sentence


def _shown(row: pd.Series) -> str:
    return f"{tenths(row['accuracy'])} ({span(row['accuracy_low'], row['accuracy_high'])})"


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
    at_least_zero("shared_mistakes", shared_mistakes)
    if target is not None and not (is_number(target) and 0 < target <= 1):
        raise DataError(f"target must be above 0 and at most 1, got {target!r}", argument="target")
    if not 1 <= simulations <= MOST_SIMULATIONS:
        raise DataError(
            f"simulations must be between 1 and {MOST_SIMULATIONS:,}, got {simulations!r}",
            argument="simulations",
        )
    belief = belief_of(posterior)
    people = people_of(posterior, belief, annotators)
    costs = costs_of(cost, people.names)
    items = np.flatnonzero(posterior.annotations.codes.gold < 0)
    problem = make_problem(posterior, belief, people, (costs, items, None, math.inf))
    far = (AHEAD if target is None else FAR) * len(items)

    def world(
        shapes: FloatArray, chosen: IntArray, rng: np.random.Generator
    ) -> tuple[IntArray, FloatArray]:
        some = items[chosen]
        return draw_world(posterior, people, shapes, (some, belief.items[some]), rng)

    drawn = Curve(
        labels=whole("labels", labels, far),
        simulations=simulations,
        shared=math.hypot(shared_mistakes, own_spread(posterior)),
        n_known=posterior.annotations.n_items - len(items),
        strength=strength_of_rows(posterior),
        seed=random_state,
        world=world,
    )
    codes = posterior.annotations.codes
    asked = np.repeat(codes.gold < 0, np.diff(codes.item_start))
    curve, room = curve_of(problem, codes.item_answer[asked].astype(np.int64), drawn, POLICIES)
    reached = {name: _reached(curve[curve["policy"] == name], target) for name in POLICIES}
    return Forecast(
        curve,
        target,
        {name: found[0] for name, found in reached.items()},
        {name: found[1] for name, found in reached.items()},
        bool(curve["labels"].max() >= room),
    )


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
