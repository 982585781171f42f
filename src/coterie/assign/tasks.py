"""The next labels: which item, whom to ask, what that is expected to tell, and why."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.arguments import checked
from coterie.assign.belief import Belief, belief_of
from coterie.assign.channel import without_noise
from coterie.assign.checks import at_least_zero, whole
from coterie.assign.given_class import matrices_given_class
from coterie.assign.greedy import FEW, Picks, Problem, choose
from coterie.assign.people import Costs, People, costs_of, fair_share, people_of, usual_information
from coterie.assign.reasons import reasons
from coterie.errors import DataError
from coterie.posterior import Posterior
from coterie.words.numbers import count, decimal
from coterie.words.values import did_you_mean

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MANY = 2**40
"""As many as one likes."""
SMALL = 20_000_000
"""Cells of matrices, over all items, up to which everybody is looked at for every item."""
COLUMNS = ["item", "annotator", "information", "accuracy_gain", "cost", "why"]
NO_ITEMS = "No items are named to choose from: name some, or leave that out to choose from all."


@checked
def next_labels(
    posterior: Posterior,
    budget: float,
    *,
    annotators: Iterable[Hashable] | str | None = None,
    cost: Costs = None,
    most_per_item: int | None = None,
    most_per_annotator: int | None = None,
    among: Iterable[Hashable] | None = None,
) -> pd.DataFrame:
    """Say which labels to ask for next, the most informative for their price first.

    Expected information is what an answer tells about the item's true class, with the annotator's
    matrix integrated out and labels of one item counted as overlapping as the model counts them
    (docs/decisions.md). Within the batch belief about an item takes account of what was already
    asked about it. No pair of item and annotator that has a label is asked for again.

    Parameters
    ----------
    posterior
        The result so far.
    budget
        What may be spent, in the unit of ``cost``: without costs, a number of labels.
    annotators
        Who is available; names that are not in the data are of new people, who are expected to
        answer as newcomers do. By default everybody who has labels. ``"coteries"`` asks for anyone
        in a coterie instead of a person.
    cost
        Of one label: one number, or a number for each annotator.
    most_per_item
        Labels of one item to ask for at most; by default as many as are worth it.
    most_per_annotator
        Labels to ask one annotator for at most; by default what twice an even share of the budget
        buys of them, so that no few who err alike decide what is believed.
    among
        The items to choose from; by default all.

    Returns
    -------
    DataFrame
        item, annotator, information (expected, in bits), accuracy_gain (by how much the chance of
        a right label is expected to rise), cost, why. ``.attrs["sentence"]`` says what comes of it,
        or why there is nothing to ask.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=30, annotators=8, labels_per_item=3, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> tasks = coterie.assign.next_labels(posterior, 5, most_per_item=1)
    >>> tasks.columns.tolist()
    ['item', 'annotator', 'information', 'accuracy_gain', 'cost', 'why']
    >>> len(tasks), bool((tasks["information"] > 0).all())
    (5, True)
    """
    at_least_zero("budget", budget)
    belief = belief_of(posterior)
    people = people_of(posterior, belief, annotators)
    costs = costs_of(cost, people.names)
    given = None if among is None else _listed(among)
    items = _items_among(posterior, given)
    problem = make_problem(posterior, belief, people, (costs, items, most_per_item, float(budget)))
    problem = problem._replace(matrix=matrices_given_class(posterior, people, items))
    picks = _choose(problem, _room(people, most_per_annotator, float(budget) / costs))
    table = _table(posterior, belief, people, (problem, picks, items))
    none = among is not None and not given
    table.attrs["sentence"] = NO_ITEMS if none else _sentence(table, budget, people, len(items))
    return table


def _listed(among: Iterable[Hashable]) -> list[Hashable]:
    """Give the items that were named, each once."""
    if isinstance(among, str):
        raise DataError(f"among={among!r} is not a list of items", argument="among")
    return list(dict.fromkeys(among))


def _items_among(posterior: Posterior, chosen: list[Hashable] | None) -> IntArray:
    """Give the codes of the items to choose from; those whose label is known are never asked."""
    a = posterior.annotations
    if chosen is None:
        return np.flatnonzero(a.codes.gold < 0)
    place = {name: i for i, name in enumerate(a.items.tolist())}
    for name in chosen:
        if name not in place:
            hint = did_you_mean(name, place)
            raise DataError(f"no item {name!r} among the {len(place):,} of this data{hint}",
                            argument="among")  # fmt: skip
    codes = np.array(sorted(place[name] for name in chosen), np.int64)
    return codes[a.codes.gold[codes] < 0]


def make_problem(
    posterior: Posterior, belief: Belief, people: People, given: tuple[Any, ...]
) -> Problem:
    """Put together who may be asked what.

    Parameters
    ----------
    posterior, belief, people
        The result, what is read off it, and who may be asked.
    given
        Costs of the people, codes of the items, most labels per item, and the budget.
    """
    costs, items, most_per_item, budget = given
    codes = posterior.annotations.codes
    place = np.full(posterior.annotations.n_annotators, -1, np.int64)
    for k, who in enumerate(people.members):
        place[who] = k
    bits = usual_information(posterior.class_balance, people.matrix)
    order = np.lexsort((-bits / costs, people.group))
    group = people.group[order]
    start = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group))
    lengths = np.diff(codes.item_start)[items]
    label = np.repeat(codes.item_start[items], lengths) + _within(lengths)
    size = np.array([len(who) for who in people.members], np.int64)
    if size.max(initial=0) > 1:  # a coterie can be asked as long as one of it has no label
        row = np.repeat(np.arange(len(items)), lengths)
        row, label = _exhausted(row, label, codes.item_annotator, place, size)
        lengths = np.bincount(row, minlength=len(items))
    return Problem(
        items=belief.items[items],
        n_labels=belief.n_labels[items],
        ease=belief.ease[items],
        overlap=belief.overlap,
        matrix=np.ascontiguousarray(people.matrix),
        cost=costs,
        place=place,
        item_start=np.append(0, np.cumsum(lengths)).astype(np.int64),
        item_annotator=codes.item_annotator[label],
        group_start=start.astype(np.int64),
        member=order.astype(np.int64),
        most_per_item=whole("most_per_item", most_per_item, MANY),
        budget=budget + 1e-9,
    )


def _exhausted(
    row: IntArray, label: IntArray, annotator: NDArray[Any], place: IntArray, size: IntArray
) -> tuple[IntArray, IntArray]:
    """Keep labels of those coteries only that have nobody left to ask about the item."""
    pairs = pd.DataFrame({"row": row, "who": annotator[label], "coterie": place[annotator[label]]})
    said = pairs.groupby(["row", "coterie"])["who"].transform("nunique").to_numpy()
    coterie = pairs["coterie"].to_numpy()
    keep = (coterie >= 0) & (said == size[coterie])
    return row[keep], label[keep]


def _within(lengths: IntArray) -> IntArray:
    """Give places within rows: 0, 1, 0, 0, 1, 2 for lengths 2, 1, 3."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _room(people: People, most_per_annotator: int | None, labels: FloatArray) -> IntArray:
    """Give how many labels each may be asked for; a coterie has as many as its members.

    Parameters
    ----------
    people, most_per_annotator
        Who may be asked, and for how many labels if that is said.
    labels
        That the whole budget would buy of each, shape (people,).
    """
    sizes = np.array([max(len(who), 1) for who in people.members], np.int64)
    fair = [fair_share(min(number, MANY), int(sizes.sum())) for number in labels.tolist()]
    most = [whole("most_per_annotator", most_per_annotator, one) for one in fair]
    return sizes * np.array(most, np.int64)


def _choose(problem: Problem, left: IntArray) -> Picks:
    """Choose, and give what was chosen."""
    n_items, n_people = len(problem.items), len(problem.cost)
    cheapest = problem.cost.min(initial=np.inf)
    most = min(n_items * n_people, float(left.sum()), problem.budget / cheapest)
    everybody = n_people <= FEW or n_items * problem.matrix[:n_people].size <= SMALL
    return choose(problem, int(most), left, everybody)


def _table(
    posterior: Posterior, belief: Belief, people: People, chosen: tuple[Problem, Picks, IntArray]
) -> pd.DataFrame:
    problem, picks, items = chosen
    names = np.empty(len(people.names), object)
    names[:] = people.names
    return pd.DataFrame(
        {
            "item": posterior.annotations.items[items[picks.item]],
            "annotator": names[picks.person],
            "information": picks.information,
            "accuracy_gain": without_noise(picks.gain),
            "cost": problem.cost[picks.person],
            "why": reasons(posterior, belief, people, items[picks.item], picks.person),
        },
        columns=COLUMNS,
    )


def _sentence(table: pd.DataFrame, budget: float, people: People, n_items: int) -> str:
    """Say what the labels are expected to bring, or why there are none."""
    if len(table):
        return (
            f"{count(len(table), 'label')} for {decimal(float(table['cost'].sum()))} are expected"
            f" to bring {decimal(float(table['information'].sum()), 1)} bits and"
            f" {decimal(float(table['accuracy_gain'].sum()), 1)} more right labels."
        )
    if budget == 0:
        return "A budget of 0 buys no label."
    if not people.names:
        return "Nobody is available: name annotators, new ones too, to be asked."
    if n_items == 0:
        return "All items are settled: their labels are known."
    return (
        "There is nothing to ask: each of these people has labelled every item, or no answer of"
        " theirs would tell more, or the budget is less than one label costs; somebody new can"
        " still be asked."
    )
