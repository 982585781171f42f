"""Communities of annotators after the fact: whose matrices are alike, by a factorisation.

After Simpson and others (2011) and Psorakis and others (2011). How alike two annotators are is
V[l, m] = exp(-sum over t of h), h = sqrt(1 - sum_c sqrt(Psi[l,t,c] Psi[m,t,c])), the Hellinger
distance of their rows. V is then factorised, V ~ W H with non-negative W (L, K) and H (K, L); a
half-normal prior of precision b[k] ~ Gamma(5, rate 2) on every column k empties what is not needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MOST = 50
"""Communities that are looked for at most."""
SHAPE, RATE = 5.0, 2.0
"""Of the Gamma prior of the precisions."""
ROUNDS, LEAST_FALL = 2_000, 1e-8
LOOK = 5
"""Rounds between two looks at J, which cost more than a round."""
MANY, LANDMARKS = 600, 400
"""Of more annotators than the first, as many as the second are factorised first."""
MANY_FALL = 1e-6
"""What is next to nothing then: memberships stand long before J does."""
JOINING = 50
"""Rounds in which the others join them."""
EMPTY = 1e-9
"""A column whose largest entries are below this, beside the largest of all, is taken out."""


class Factors(NamedTuple):
    """A factorisation, and how good it is."""

    people: FloatArray  # (annotators, columns)   W
    other: FloatArray  # (columns, annotators)   H
    precision: FloatArray  # (columns,)              b
    objective: float  # J, the smaller the better
    n_columns: int  # that there were at the start: those without mass are taken out


def similarity(confusion: FloatArray) -> FloatArray:
    """Say how alike the matrices of all pairs are, from 0 to 1, shape (annotators, annotators).

    Parameters
    ----------
    confusion
        Matrices, shape (annotators, classes, answers).

    Examples
    --------
    >>> right, wrong = np.eye(2), np.eye(2)[::-1]
    >>> similarity(np.array([right, right, wrong])).round(3).tolist()
    [[1.0, 1.0, 0.135], [1.0, 1.0, 0.135], [0.135, 0.135, 1.0]]
    """
    roots = np.sqrt(np.clip(confusion, 0.0, None))
    total = np.zeros((len(confusion), len(confusion)))
    for t in range(confusion.shape[1]):
        overlap = roots[:, t] @ roots[:, t].T
        # Of two equal rows, rounding may leave a little either way.
        apart = np.where(overlap > 1 - 1e-14, 0.0, 1 - overlap)
        total += np.sqrt(np.clip(apart, 0.0, None))
    alike = np.exp(-total)
    np.fill_diagonal(alike, 1.0)
    return np.asarray((alike + alike.T) / 2)


def scaled(alike: FloatArray) -> FloatArray:
    """Stretch similarities over (0, 1]; if all are equal, all are one."""
    shifted = alike - alike.min() + 1e-16
    return np.asarray(shifted / shifted.max())


def objective(
    v: FloatArray, people: FloatArray, other: FloatArray, b: FloatArray, weight: float = 1.0
) -> float:
    """Give J: the divergence of V from W H, and the priors, up to a constant.

    With a ``weight`` every row and column stands for so many annotators who are just like it.
    """
    fitted = people @ other
    np.divide(v, fitted, out=fitted)
    np.log(fitted, out=fitted)
    distance = float(np.vdot(v, fitted) - v.sum() + people.sum(axis=0) @ other.sum(axis=1))
    mass = weight * ((people**2).sum(axis=0) + (other**2).sum(axis=1))
    prior = b * mass / 2 - (weight * len(v) + SHAPE - 1) * np.log(b) + RATE * b
    return weight**2 * distance + float(prior.sum())


def update(
    v: FloatArray, kept: FloatArray, moved: FloatArray, b: FloatArray, weight: float = 1.0
) -> FloatArray:
    """Give H that minimises a majoriser of J at H, W kept: J never rises.

    Parameters
    ----------
    v
        What is factorised, shape (rows, columns).
    kept, moved
        W and H, shape (rows, K) and (K, columns); of the transposed problem for W.
    b
        The precisions, shape (K,).
    weight
        Annotators that a row stands for.
    """
    ratio = kept @ moved
    np.divide(v, ratio, out=ratio)
    gain = weight * moved * (kept.T @ ratio)
    total = weight * kept.sum(axis=0)[:, None]
    return np.asarray(2 * gain / (total + np.sqrt(total**2 + 4 * b[:, None] * gain)))


def factorise(
    v: FloatArray,
    rng: np.random.Generator,
    n_columns: int | None = None,
    *,
    weight: float = 1.0,
    fall: float = LEAST_FALL,
) -> Factors:
    """Factorise from a random start until J falls by next to nothing.

    Parameters
    ----------
    v
        Positive numbers, symmetric, shape (annotators, annotators).
    rng
        Where the start comes from.
    n_columns
        Columns; half as many as annotators unless told, and at most ``MOST``.
    weight
        Annotators that each of these stands for.
    fall
        Beside J, what is next to nothing in a round.
    """
    n = len(v)
    k = n_columns or most_columns(n)
    start = Factors(rng.random((n, k)), rng.random((k, n)), np.ones(k), math.inf, k)
    return descend(v, start, weight, fall)


def most_columns(n: int) -> int:
    """Say how many communities are looked for among so many annotators."""
    return min(math.ceil(n / 2), MOST)


def descend(v: FloatArray, start: Factors, weight: float, fall: float) -> Factors:
    """Go down from a factorisation until J falls by next to nothing."""
    people, other, b, _, n_columns = start
    n, before = weight * len(v), math.inf
    for done in range(1, ROUNDS + 1):
        other = update(v, people, other, b, weight)
        people = update(v.T, other.T, people.T, b, weight).T
        mass = (people**2).sum(axis=0) + (other**2).sum(axis=1)
        full = mass > EMPTY**2 * mass.max()
        people, other, mass = people[:, full], other[full], mass[full]
        b = (n + SHAPE - 1) / (weight * mass / 2 + RATE)
        if done % LOOK == 0:
            gone = (n_columns - len(b)) * empty_column(n)
            now = objective(v, people, other, b, weight) + gone
            if before - now < LOOK * fall * abs(now):
                break
            before = now
    return Factors(people, other, b, now, n_columns)


def empty_column(n: float) -> float:
    """Give what a column without mass adds to J: its precision is then that of the prior alone."""
    shape = n + SHAPE - 1
    return shape - shape * math.log(shape / RATE)


def memberships(factors: Factors) -> FloatArray:
    """Give everybody's share in every community, (annotators, communities); rows sum to one.

    A column in which nobody has their largest share is emptied, or on the way there: it is none.
    """
    people = factors.people[:, np.unique(factors.people.argmax(axis=1))]
    return np.asarray(people / people.sum(axis=1, keepdims=True))


def find_communities(
    confusion: FloatArray, restarts: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Factorise how alike matrices are from several starts; give the best one's memberships.

    Parameters
    ----------
    confusion
        Matrices, shape (annotators, classes, answers).
    restarts
        Number of starts.
    rng
        Where starts come from.

    Returns
    -------
    The memberships, and J.

    Examples
    --------
    >>> right, wrong = np.full((3, 2, 2), 0.1), np.full((3, 2, 2), 0.9)
    >>> right[:, [0, 1], [0, 1]], wrong[:, [0, 1], [0, 1]] = 0.9, 0.1
    >>> share, _ = find_communities(np.concatenate([right, wrong]), 3, np.random.default_rng(0))
    >>> found = share.argmax(axis=1)
    >>> (found[:3] == found[0]).all(), (found[3:] == found[3]).all(), found[0] != found[3]
    (np.True_, np.True_, np.True_)
    """
    v = scaled(similarity(confusion))
    if len(v) > MANY:
        best = factorise_many(v, restarts, rng)
    else:
        best = least(factorise(v, rng) for _ in range(restarts))
    return memberships(best), best.objective


def least(found: Iterable[Factors]) -> Factors:
    """Give the one with the smallest objective."""
    return min(found, key=lambda factors: factors.objective)


def factorise_many(v: FloatArray, restarts: int, rng: np.random.Generator) -> Factors:
    """Factorise a large V: starts are tried on some annotators, the best one goes on with all.

    Every landmark stands for as many annotators as there are of each. Communities that the priors
    let live are large enough to have landmarks among them.
    """
    some = np.sort(rng.choice(len(v), LANDMARKS, replace=False))
    part, weight, k = v[np.ix_(some, some)], len(v) / LANDMARKS, most_columns(len(v))
    best = least(factorise(part, rng, k, weight=weight, fall=MANY_FALL) for _ in range(restarts))
    # Everybody else's rows and columns, those of the landmarks held fixed.
    other = join(v[some], best.people, best.other, best.precision, weight)
    people = join(v[:, some].T, best.other.T, best.people.T, best.precision, weight).T
    return descend(v, best._replace(people=people, other=other), 1.0, MANY_FALL)


def join(
    v: FloatArray, kept: FloatArray, near: FloatArray, b: FloatArray, weight: float
) -> FloatArray:
    """Give H of all columns of V, shape (landmarks, annotators), from that of the landmarks."""
    moved = np.repeat(near.mean(axis=1, keepdims=True), v.shape[1], axis=1)
    for _ in range(JOINING):
        moved = update(v, kept, moved, b, weight)
    return moved
