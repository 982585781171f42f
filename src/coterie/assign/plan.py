"""A plan: tasks, people and forecast together, and in a few lines what it would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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

SHOWN = 3
"""Names that a line lists."""
LONGEST = 40


class Plan(NamedTuple):
    """What to do next."""

    tasks: pd.DataFrame  # as next_labels gives them
    people: pd.DataFrame  # what labels were worth and, of sampled models, what to do
    forecast: Forecast
    stop: Stop
    newcomers: tuple[Any, ...] = ()  # who may be asked, and have no labels here

    @property
    def lines(self) -> list[str]:
        """What it would do, in ten lines at most."""
        told = [self.stop.sentence, self.tasks.attrs["sentence"]]
        new = _newcomers(self.newcomers)
        if len(self.tasks):
            told.append(_first_task(self.tasks.iloc[0]))
            told.append(_who(self.tasks) + (f" {new}" if new else ""))
        elif new:
            told.append(new)
        told.append(self.forecast.sentence)
        if "action" in self.people:
            told += _actions(self.people)
        return told


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
    asked, new = _available(posterior, annotators, cost)
    tasks = next_labels(posterior, budget, annotators=asked, cost=cost, most_per_item=most_per_item)
    people = contributions(posterior)
    if posterior.abilities.uncertainty:
        names = set(map(str, posterior.annotations.annotators.tolist()))
        partly = isinstance(cost, Mapping | pd.Series) and not names <= set(map(str, dict(cost)))
        people = people.drop(columns="bits_per_label").merge(
            actions(posterior, cost=None if partly else cost).drop(columns="n_labels"),
            on="annotator",
        )
    found = forecast(posterior, target=target, annotators=asked, cost=cost)
    return Plan(tasks, people, found, stop(posterior, target), new)


def _available(
    posterior: Posterior, annotators: Sequence[Any] | None, cost: Costs
) -> tuple[list[Any] | None, tuple[Any, ...]]:
    """Give whom to ask, None for everybody who has labels; and who of them is new."""
    a = posterior.annotations
    here = {str(name): name for name in a.annotators[a.labels_per_annotator > 0].tolist()}
    if annotators is None:
        new = newcomers_in(cost, posterior)
        return ([*here.values(), *new] if new else None), new
    names = [here.get(str(name), name) for name in annotators]
    return names, tuple(name for name in names if str(name) not in here)


def newcomers_in(cost: Costs, posterior: Posterior) -> tuple[Any, ...]:
    """Give those who have a cost and no labels here; names are compared as text, as in files.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", 7, "yes"), ("q2", 8, "no")]
    >>> posterior = coterie.QuickConsensus().fit(rows).posterior_
    >>> newcomers_in({"7": 0.1, "8": 0.1, "dora": 0.2}, posterior)
    ('dora',)
    """
    if not isinstance(cost, Mapping | pd.Series):
        return ()
    a = posterior.annotations
    here = {str(name) for name in a.annotators[a.labels_per_annotator > 0].tolist()}
    return tuple(name for name in dict(cost) if str(name) not in here)


def _name(value: object) -> str:
    return shorten(visible(value), LONGEST)


def _first_task(task: pd.Series) -> str:
    return f"First: {_name(task['item'])} to {_name(task['annotator'])} ({task['why']})."


def _who(tasks: pd.DataFrame) -> str:
    asked = tasks["annotator"].map(_name).value_counts()
    names = [f"{name} ({n:,})" for name, n in asked.items()]
    return (
        f"Asked: {listed(names, SHOWN)}; {count(tasks['item'].nunique(), 'item')},"
        f" {count(int(tasks['item'].value_counts().max()), 'label')} of one at most."
    )


def _newcomers(names: tuple[Any, ...]) -> str:
    """Say who is new, and what is expected of them."""
    if not names:
        return ""
    called = listed([_name(one) for one in names], SHOWN)
    return f"New here, and expected to answer as people do on average: {called}."


def _actions(people: pd.DataFrame) -> list[str]:
    """Say who is to be rewarded, trained, watched, asked no more; one line each."""
    lines = []
    for action, group in people[people["action"] != WAIT].groupby("action"):
        sure = [f" ({percent(p)} sure)" if p == p else "" for p in group["probability"].tolist()]
        called = [_name(one) for one in group["annotator"].tolist()]
        names = [name + how for name, how in zip(called, sure, strict=True)]
        lines.append(f"{str(action).capitalize()}: {listed(names, SHOWN)}.")
    waiting = int((people["action"] == WAIT).sum())
    if waiting:
        who = count(waiting, "annotator")
        few = f"Too few labels, or nobody to compare them with, to decide anything: {who}."
        lines = [*lines[:-1], f"{lines[-1]} {few}"] if lines else [few]
    return lines
