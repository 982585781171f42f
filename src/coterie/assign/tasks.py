"""The next labels: which item, whom to ask, what that is expected to tell, and why."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import pandas as pd

from coterie.arguments import checked
from coterie.assign.belief import Belief, belief_of, usual_information, without_noise
from coterie.assign.draws import matrices_given_class
from coterie.assign.greedy import FEW, Problem, choose
from coterie.assign.people import (
    Costs,
    People,
    at_least_zero,
    costs_of,
    fair_share,
    people_of,
    whole,
)
from coterie.errors import DataError
from coterie.numeric import FloatArray, LongArray
from coterie.posterior import Posterior
from coterie.words.numbers import count, decimal, hundredths
from coterie.words.values import did_you_mean
from coterie.words.visible import visible

MANY = 2**40
"""As many as one likes."""
SMALL = 20_000_000
"""Cells of matrices, over all items, up to which everybody is looked at for every item."""


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
    at_least_zero(budget=budget)
    belief = belief_of(posterior)
    people = people_of(posterior, belief, annotators)
    costs = costs_of(cost, people.names)
    named = None if among is None else list(dict.fromkeys(among))
    items = _items_among(posterior, named)
    problem = make_problem(posterior, belief, people, costs, items, budget, most_per_item)
    problem = problem._replace(matrix=matrices_given_class(posterior, people, items))
    # A coterie may be asked for as many labels as its members.
    sizes = np.array([max(len(who), 1) for who in people.members], np.int64)
    n_people, buys = int(sizes.sum()), np.minimum(float(budget) / costs, MANY).tolist()
    each = [whole("most_per_annotator", most_per_annotator, fair_share(n, n_people)) for n in buys]
    left = sizes * np.array(each, np.int64)
    n = int(min(len(items) * len(costs), left.sum(), problem.budget / costs.min(initial=np.inf)))
    everybody = len(costs) <= FEW or len(items) * people.matrix.size <= SMALL
    picks = choose(problem, n, left, everybody)
    names = np.empty(len(people.names), object)
    names[:] = people.names
    table = pd.DataFrame(
        {
            "item": posterior.annotations.items[items[picks.item]],
            "annotator": names[picks.person],
            "information": picks.information,
            "accuracy_gain": without_noise(picks.gain),
            "cost": costs[picks.person],
            "why": _reasons(posterior, belief, people, items[picks.item], picks.person),
        },
    )
    if len(table):
        told, gained = float(table["information"].sum()), float(table["accuracy_gain"].sum())
        said = (
            f"{count(len(table), 'label')} for {decimal(float(table['cost'].sum()))} are expected"
            f" to bring {decimal(told, 1)} bits and {decimal(gained, 1)} more right labels."
        )
    elif named == []:
        said = "No items are named to choose from: name some, or leave that out to choose from all."
    elif budget == 0:
        said = "A budget of 0 buys no label."
    elif not people.names:
        said = "Nobody is available: name annotators, new ones too, to be asked."
    elif len(items) == 0:
        said = "All items are settled: their labels are known."
    else:
        said = (
            "There is nothing to ask: each of these people has labelled every item, or no answer of"
            " theirs would tell more, or the budget is less than one label costs; somebody new can"
            " still be asked."
        )
    table.attrs["sentence"] = said
    return table


def _items_among(posterior: Posterior, chosen: list[Hashable] | None) -> LongArray:
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
    posterior: Posterior,
    belief: Belief,
    people: People,
    costs: FloatArray,
    items: LongArray,
    budget: float,
    most_per_item: int | None = None,
) -> Problem:
    """Put together who may be asked what; a coterie as long as one of it has no label."""
    codes = posterior.annotations.codes
    place = np.full(posterior.annotations.n_annotators, -1, np.int64)
    for k, who in enumerate(people.members):
        place[who] = k
    bits = usual_information(posterior.class_balance, people.matrix)
    order = np.lexsort((-bits / costs, people.group))
    group = people.group[order]
    start = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group))
    lengths = np.diff(codes.item_start)[items]
    row = np.repeat(np.arange(len(items)), lengths)
    label = np.arange(len(row)) + np.repeat(
        codes.item_start[items] - np.cumsum(lengths) + lengths, lengths
    )
    size = np.array([len(who) for who in people.members], np.int64)
    if size.max(initial=0) > 1:  # labels count of those coteries that have nobody left to ask
        who = codes.item_annotator[label]
        said = pd.DataFrame({"row": row, "coterie": place[who], "who": who})
        n_said = said.groupby(["row", "coterie"])["who"].transform("nunique").to_numpy()
        used_up = (place[who] >= 0) & (n_said == size[place[who]])
        label, lengths = label[used_up], np.bincount(row[used_up], minlength=len(items))
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


def _reasons(
    posterior: Posterior, belief: Belief, people: People, item: LongArray, person: LongArray
) -> list[str]:
    """Say for each pair what the doubt is, and what the answer is worth there."""
    classes = [visible(name) for name in posterior.annotations.classes]
    if len(item) == 0 or len(classes) < 2:
        return ["the only class" for _ in item]
    p, rows = belief.items[item], np.arange(len(item))
    first, second = np.argsort(-p, axis=1, kind="stable")[:, :2].T
    right = people.matrix[person, first, first], people.matrix[person, second, second]
    columns = first, second, p[rows, first], p[rows, second], *right, belief.n_labels[item]
    return [
        f"{classes[a]} {hundredths(x)} %, {classes[b]} {hundredths(y)} % after {count(n, 'label')};"
        f" answers {classes[a]} to {hundredths(u)} % and {classes[b]} to {hundredths(v)} % of"
        " theirs"
        for a, b, x, y, u, v, n in zip(*columns, strict=True)
    ]
