"""Who may be asked, at what price, and in which groups they are looked at."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coterie.assign.belief import STRENGTH, Belief
from coterie.errors import Argument, DataError
from coterie.numeric import FloatArray, LongArray
from coterie.posterior import Posterior
from coterie.words.values import join, written
from coterie.words.visible import quoted

Costs = float | Mapping[Any, float] | pd.Series | None
LEAST, MOST = 1e-100, 1e100
"""Of costs and of what is weighed: sums, products and ratios of two are numbers."""
MOST_WHOLE = 2**31 - 1
"""Of what is counted: more than there can be."""
FAIR = 2
"""Even shares that one is asked for at most, if nothing is said."""
DRAWS = 100
"""Draws of each chain, the last ones, that tell how alike people are."""
ANYONE = "anyone in coterie {}"
"""Whom to ask where only the coterie matters."""


@dataclass(frozen=True, eq=False)
class People:
    """Those who may be asked."""

    names: list[Any]  # (people,)
    row: LongArray  # (people,)   of the matrices; the last row is of somebody new
    matrix: FloatArray  # (people, classes, answers)
    members: list[LongArray]  # (people,)   annotators that each stands for; empty for the new
    group: LongArray  # (people,)   in which they are looked at together


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
        in each coterie, who answers as its members do on average.
    """
    newcomer = len(belief.matrix) - 1
    if isinstance(annotators, str):
        if annotators != "coteries":
            raise DataError(
                f"annotators={annotators!r} is neither a list of names nor 'coteries'",
                argument="annotators",
            )
        group = posterior.partition().group
        members = [np.flatnonzero(group == m) for m in range(group.max(initial=-1) + 1)]
        n, shape = len(members), belief.matrix.shape[1:]
        matrix = np.array([belief.matrix[who].mean(axis=0) for who in members]).reshape(n, *shape)
        names = [ANYONE.format(m + 1) for m in range(n)]
        return People(names, np.full(n, newcomer), matrix, members, np.zeros(n, np.int64))
    known = {name: l for l, name in enumerate(posterior.annotations.annotators.tolist())}
    if annotators is None:
        labelled = posterior.annotations.labels_per_annotator > 0
        chosen = [name for name, has in zip(known, labelled, strict=True) if has]
    else:
        chosen = list(dict.fromkeys(annotators))
    row = np.array([known.get(name, newcomer) for name in chosen], np.int64)
    members = [np.array([known[n]] if n in known else [], np.int64) for n in chosen]
    return People(chosen, row, belief.matrix[row], members, groups_of(posterior, belief, row))


def groups_of(posterior: Posterior, belief: Belief, row: LongArray) -> LongArray:
    """Give people groups: their coteries, or else the class that each knows best."""
    if posterior.abilities.coteries:
        group = np.append(posterior.partition().group, -1) + 1
        return group[row].astype(np.int64)
    diagonal = np.diagonal(belief.matrix[row], axis1=1, axis2=2)
    if diagonal.size == 0:
        return np.zeros(len(row), np.int64)
    return np.asarray((diagonal - diagonal.mean(axis=0)).argmax(axis=1), np.int64)


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
    values = np.empty(len(names), object)
    if isinstance(cost, Mapping | pd.Series):
        by_text = {str(name): value for name, value in cost.items()}
        missing = [name for name in names if str(name) not in by_text]
        if missing:
            raise DataError(
                f"no cost is given for {written(missing)}",
                remedy=["add them to ", Argument("cost"), ", or leave them out of ",
                        Argument("annotators")],
            )  # fmt: skip
        values[:] = [by_text[str(name)] for name in names]
    else:
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


def at_least_zero(**numbers: float | None) -> None:
    """Refuse a number below 0, or too large to weigh with."""
    for name, value in numbers.items():
        if value is not None and not 0 <= value <= MOST:
            raise DataError(
                f"{name} must be a number of at least 0, {MOST:g} at most, got {value!r}",
                argument=name,
            )


def a_share(target: float) -> float:
    """Give an accuracy or a probability that is wanted; refuse what can be none."""
    if not 0 < target <= 1:
        raise DataError(f"target must be above 0 and at most 1, got {target!r}", argument="target")
    return float(target)


def whole(name: str, value: int | None, otherwise: int) -> int:
    """Give a whole number of at least 0, or what is meant where there is none."""
    if value is None:
        return otherwise
    if value < 0:
        raise DataError(
            f"{name} must be a whole number of at least 0, got {value!r}", argument=name
        )
    return min(value, MOST_WHOLE)
