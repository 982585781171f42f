"""Who may be asked, at what price, and in which groups they are looked at."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.assign.belief import STRENGTH, Belief
from coterie.assign.channel import inform_all
from coterie.errors import Argument, DataError
from coterie.posterior import Posterior
from coterie.words.values import join, written
from coterie.words.visible import quoted

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Costs = float | Mapping[Any, float] | pd.Series | None
LEAST, MOST = 1e-100, 1e100
"""Of costs: sums and ratios of them are numbers."""
FAIR = 2
"""Even shares that one is asked for at most, if nothing is said."""
DRAWS = 100
"""Draws of each chain, the last ones, that tell how alike people are."""
ANYONE = "anyone in coterie {}"
"""Whom to ask where only the coterie matters."""


class People(NamedTuple):
    """Those who may be asked."""

    names: list[Any]  # (people,)
    row: IntArray  # (people,)      of the matrices; the last row is of somebody new
    matrix: FloatArray  # (people, classes, answers)
    members: list[IntArray]  # (people,)   annotators that each stands for; empty for the new
    group: IntArray  # (people,)    in which they are looked at together


def people_of(
    posterior: Posterior, belief: Belief, annotators: Iterable[Hashable] | str | None
) -> People:
    """Give those who may be asked.

    Parameters
    ----------
    posterior, belief
        The result, and what is read off it.
    annotators
        Names, among them new ones; None for everybody who has labels; ``"coteries"`` for anyone
        in each coterie.
    """
    if isinstance(annotators, str):
        if annotators != "coteries":
            raise DataError(
                f"annotators={annotators!r} is neither a list of names nor 'coteries'",
                argument="annotators",
            )
        return coteries_as_people(posterior, belief)
    known = {name: l for l, name in enumerate(posterior.annotations.annotators.tolist())}
    if annotators is None:
        labelled = posterior.annotations.labels_per_annotator > 0
        chosen = [name for name, has in zip(known, labelled, strict=True) if has]
    else:
        chosen = list(dict.fromkeys(annotators))
    row = np.array([known.get(name, belief.newcomer) for name in chosen], np.int64)
    members = [np.array([known[n]] if n in known else [], np.int64) for n in chosen]
    return People(chosen, row, belief.matrix[row], members, groups_of(posterior, belief, row))


def coteries_as_people(posterior: Posterior, belief: Belief) -> People:
    """Give one for each coterie: anyone of it, who answers as its members do on average."""
    group = posterior.partition().group
    members = [np.flatnonzero(group == m) for m in range(group.max(initial=-1) + 1)]
    names = [ANYONE.format(m + 1) for m in range(len(members))]
    shape = (len(members), *belief.matrix.shape[1:])
    matrix = np.array([belief.matrix[who].mean(axis=0) for who in members]).reshape(shape)
    unknown = np.full(len(members), belief.newcomer)
    return People(names, unknown, matrix, members, np.zeros(len(members), np.int64))


def groups_of(posterior: Posterior, belief: Belief, row: IntArray) -> IntArray:
    """Give people groups: their coteries, or else the class that each knows best."""
    if posterior.abilities.coteries:
        group = np.append(posterior.partition().group, -1) + 1
        return group[row].astype(np.int64)
    diagonal = np.diagonal(belief.matrix[row], axis1=1, axis2=2)
    if diagonal.size == 0:
        return np.zeros(len(row), np.int64)
    return np.asarray((diagonal - diagonal.mean(axis=0)).argmax(axis=1), np.int64)


def usual_information(balance: FloatArray, matrix: FloatArray) -> FloatArray:
    """Give the bits that an answer tells of an item of which only the class balance is known.

    Parameters
    ----------
    balance
        Shape (classes,).
    matrix
        Shape (people, classes, answers).

    Examples
    --------
    >>> noise, expert = [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    >>> usual_information(np.array([0.5, 0.5]), np.array([noise, expert])).tolist()
    [0.0, 1.0]
    """
    return np.asarray(inform_all(balance[None], np.ones(1), matrix)[0, 0])


def strength_of_rows(posterior: Posterior) -> FloatArray:
    """Give the labels that a row of somebody new rests on, shape (classes,): how alike people are.

    A Dirichlet with mean m and strength s has the variance m (1 - m) / (s + 1): s is read off the
    variance of all draws of all people's matrices. Without draws it is what ``QuickConsensus``
    takes, ten.
    """
    n_classes = posterior.annotations.n_classes
    labelled = posterior.annotations.labels_per_annotator > 0
    if not posterior.abilities.uncertainty or not labelled.any() or n_classes == 0:
        return np.full(n_classes, STRENGTH)
    rows = posterior.require_draws("matrices").confusion[:, -DRAWS:, labelled].astype(np.float64)
    rows = rows.reshape(-1, *rows.shape[3:])
    mean = rows.mean(axis=0)
    ratio = (mean * (1 - mean)).sum(axis=1) / np.maximum(rows.var(axis=0).sum(axis=1), 1e-9)
    return np.asarray(np.clip(ratio - 1, 1.0, 100.0))


def fair_share(labels: float, n_people: int) -> int:
    """Give how many labels one of these people is asked for at most: twice an even share.

    Who agrees with what is believed looks best; asked for everything, a few who err alike would
    decide what is believed. docs/decisions.md has what that does to real data.

    Examples
    --------
    >>> fair_share(100, 10), fair_share(5, 10), fair_share(5, 1)
    (20, 1, 10)
    """
    return max(1, math.ceil(FAIR * labels / max(n_people, 1)))


def costs_of(cost: Costs, names: Sequence[Any]) -> FloatArray:
    """Give the cost of one label of each of these people; 1 if nothing is said.

    Examples
    --------
    >>> costs_of({"ann": 0.5, "bob": 2}, ["bob", "ann"]).tolist()
    [2.0, 0.5]
    """
    if cost is None:
        return np.ones(len(names))
    if isinstance(cost, pd.Series):
        cost = cost.to_dict()
    if isinstance(cost, Mapping):
        by_text = {str(name): value for name, value in cost.items()}
        missing = [name for name in names if str(name) not in by_text]
        if missing:
            raise DataError(
                f"no cost is given for {written(missing)}",
                remedy=["add them to ", Argument("cost"), ", or leave them out of ",
                        Argument("annotators")],
            )  # fmt: skip
        values = np.array([by_text[str(name)] for name in names], object)
    else:
        values = np.empty(len(names), object)
        values[:] = [cost] * len(names)
    try:
        costs = values.astype(np.float64)
    except (TypeError, ValueError, ArithmeticError):
        costs = np.full(len(names), np.nan)
    fair = (costs >= LEAST) & (costs <= MOST)
    if not fair.all():
        bad = join(list(dict.fromkeys(quoted(value) for value in values[~fair])))
        raise DataError(f"the cost of a label must be a number above 0, got {bad}", argument="cost")
    return costs
