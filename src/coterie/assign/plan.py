"""A plan: tasks, people and forecast together, and in a few lines what it would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from coterie.assign.actions import WAIT, actions
from coterie.assign.contributions import contributions
from coterie.assign.forecast import Forecast, forecast
from coterie.assign.people import Costs
from coterie.assign.stop import Stop, stop
from coterie.assign.tasks import next_labels
from coterie.posterior import Posterior
from coterie.words.numbers import count, listed, percent
from coterie.words.visible import shorten, visible

LONGEST = 40
"""Characters of a name."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What to do next."""

    tasks: pd.DataFrame  # as next_labels gives them
    people: pd.DataFrame  # what labels were worth and, of sampled models, what to do
    forecast: Forecast
    stop: Stop
    newcomers: list[Any]  # who may be asked, and have no labels here

    @property
    def lines(self) -> list[str]:
        """What it would do, in ten lines at most."""
        tasks, told, who = self.tasks, [self.stop.sentence, self.tasks.attrs["sentence"]], []
        if len(tasks):
            first, items = tasks.iloc[0], tasks["item"].value_counts()
            told.append(
                f"First: {_name(first['item'])} to {_name(first['annotator'])} ({first['why']})."
            )
            asked = tasks["annotator"].map(_name).value_counts()
            names = listed([f"{name} ({n:,})" for name, n in asked.items()], 3)
            most = count(int(items.max()), "label")
            who.append(f"Asked: {names}; {count(len(items), 'item')}, {most} of one at most.")
        if self.newcomers:
            names = listed([_name(one) for one in self.newcomers], 3)
            who.append(f"New here, and expected to answer as people do on average: {names}.")
        told += [" ".join(who)] if who else []
        told.append(self.forecast.sentence)
        if "action" not in self.people:
            return told
        waiting = self.people["action"] == WAIT
        for action, group in self.people[~waiting].groupby("action"):
            named = [
                _name(who) + (f" ({percent(p)} sure)" if p == p else "")
                for who, p in zip(group["annotator"], group["probability"].tolist(), strict=True)
            ]
            told.append(f"{str(action).capitalize()}: {listed(named, 3)}.")
        if waiting.any():
            few = (
                "Too few labels, or nobody to compare them with, to decide anything: "
                f"{count(int(waiting.sum()), 'annotator')}."
            )
            told = [*told, few] if waiting.all() else [*told[:-1], f"{told[-1]} {few}"]
        return told


def _name(value: object) -> str:
    return shorten(visible(value), LONGEST)


def make_plan(
    posterior: Posterior,
    budget: float,
    *,
    annotators: Sequence[Any] | None = None,
    cost: Costs = None,
    target: float = 0.95,
    most_per_item: int | None = None,
) -> Plan:
    """Put a plan together.

    Parameters
    ----------
    posterior
        The result so far.
    budget, most_per_item
        As for ``next_labels``.
    annotators, cost
        As for ``next_labels``, but names are compared as text, as in files. Those whom ``cost``
        names and who have no labels are newcomers, and can be asked too, unless ``annotators`` says
        who is available.
    target
        Accuracy that is wanted.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=30, annotators=8, labels_per_item=2, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> plan = make_plan(posterior, 10)
    >>> len(plan.tasks), len(plan.lines) <= 10
    (10, True)
    """
    a = posterior.annotations
    here = {str(name): name for name in a.annotators[a.labels_per_annotator > 0].tolist()}
    told = dict(cost) if isinstance(cost, Mapping | pd.Series) else {}
    wanted = [*here.values(), *told] if annotators is None else annotators
    new = [name for name in (told if annotators is None else annotators) if str(name) not in here]
    asked = None if annotators is None and not new else [here.get(str(n), n) for n in wanted]
    tasks = next_labels(posterior, budget, annotators=asked, cost=cost, most_per_item=most_per_item)
    people = contributions(posterior)
    if posterior.abilities.uncertainty:
        partly = told and not set(map(str, a.annotators.tolist())) <= set(map(str, told))
        people = people.drop(columns="bits_per_label").merge(
            actions(posterior, cost=None if partly else cost).drop(columns="n_labels"),
            on="annotator",
        )
    found = forecast(posterior, target=target, annotators=asked, cost=cost)
    return Plan(tasks, people, found, stop(posterior, target), new)
