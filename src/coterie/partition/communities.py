"""Communities of annotators after the fact: whose matrices are alike, by a factorisation.

After Simpson and others (2011) and Psorakis and others (2011). How alike two annotators are is
V[l, m] = exp(-sum over t of h), h = sqrt(1 - sum_c sqrt(Psi[l,t,c] Psi[m,t,c])), the Hellinger
distance of their rows. V is then factorised, V ~ W H with non-negative W (L, K) and H (K, L); a
half-normal prior of precision b[k] ~ Gamma(5, rate 2) on every column k empties what is not needed.
Where a row stands for ``weight`` annotators who are just like it, so does every column.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MOST = 50  # communities that are looked for at most
SHAPE, RATE = 5.0, 2.0  # of the Gamma prior of the precisions
ROUNDS, LEAST_FALL = 2_000, 1e-8
LOOK = 5  # rounds between two looks at J, which cost more than a round
MANY, LANDMARKS = 600, 400  # of more annotators, as many are factorised first
MANY_FALL = 1e-6  # next to nothing then: memberships stand long before J does
JOINING = 50  # rounds in which the others join them
EMPTY = 1e-9  # a column whose largest entries are below this part of the largest is taken out


class Factors(NamedTuple):
    """A factorisation, and how good it is."""

    people: FloatArray  # (annotators, columns)   W
    other: FloatArray  # (columns, annotators)   H
    precision: FloatArray  # (columns,)              b
    objective: float  # J, the smaller the better
    n_columns: int  # that there were at the start: those without mass are taken out

    def memberships(self) -> FloatArray:
        """Give everybody's share in every community in which somebody has their largest share."""
        people = self.people[:, np.unique(self.people.argmax(axis=1))]
        return np.asarray(people / people.sum(axis=1, keepdims=True))


def similarity(confusion: FloatArray) -> FloatArray:
    """Say how alike the matrices, shape (annotators, classes, answers), of all pairs are: V.

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
        total += np.sqrt(np.clip(np.where(overlap > 1 - 1e-14, 0.0, 1 - overlap), 0.0, None))
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
    """Give J: the divergence of V from W H, and the priors, up to a constant."""
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
    """Give H that minimises a majoriser of J at H, W kept: J never rises; transposed, W."""
    ratio = kept @ moved
    np.divide(v, ratio, out=ratio)
    gain = weight * moved * (kept.T @ ratio)
    total = weight * kept.sum(axis=0)[:, None]
    return np.asarray(2 * gain / (total + np.sqrt(total**2 + 4 * b[:, None] * gain)))


def descend(v: FloatArray, start: Factors, weight: float, fall: float) -> Factors:
    """Go down from a factorisation until J falls by next to nothing, beside J, in a round."""
    people, other, b, _, n_columns = start
    shape, before = weight * len(v) + SHAPE - 1, math.inf
    empty = shape - shape * math.log(shape / RATE)  # what a column without mass adds to J
    for done in range(1, ROUNDS + 1):
        other = update(v, people, other, b, weight)
        people = update(v.T, other.T, people.T, b, weight).T
        mass = (people**2).sum(axis=0) + (other**2).sum(axis=1)
        full = mass > EMPTY**2 * mass.max()
        people, other, mass = people[:, full], other[full], mass[full]
        b = shape / (weight * mass / 2 + RATE)
        if done % LOOK == 0:
            now = objective(v, people, other, b, weight) + (n_columns - len(b)) * empty
            if before - now < LOOK * fall * abs(now):
                break
            before = now
    return Factors(people, other, b, now, n_columns)


def factorise(v: FloatArray, restarts: int, rng: np.random.Generator) -> Factors:
    """Factorise V from random starts; give the one with the smallest objective.

    Of many annotators starts are tried on some, landmarks that stand for as many as there are of
    each, and the best one goes on with all: communities that the priors let live are large enough
    to have landmarks among them.
    """
    some, fall = np.arange(len(v)), LEAST_FALL
    if len(v) > MANY:
        some, fall = np.sort(rng.choice(len(v), LANDMARKS, replace=False)), MANY_FALL
    n, k, weight = len(some), min(math.ceil(len(v) / 2), MOST), len(v) / len(some)
    found = []
    for _ in range(restarts):
        start = Factors(rng.random((n, k)), rng.random((k, n)), np.ones(k), math.inf, k)
        found.append(descend(v[np.ix_(some, some)], start, weight, fall))
    best = min(found, key=lambda factors: factors.objective)
    if n == len(v):
        return best
    # Everybody else's rows and columns, those of the landmarks held fixed.
    other = np.repeat(best.other.mean(axis=1, keepdims=True), len(v), axis=1)
    people = np.repeat(best.people.mean(axis=0, keepdims=True), len(v), axis=0)
    for _ in range(JOINING):
        other = update(v[some], best.people, other, best.precision, weight)
        people = update(v[:, some].T, best.other.T, people.T, best.precision, weight).T
    return descend(v, best._replace(people=people, other=other), 1.0, fall)


def find_communities(
    confusion: FloatArray, restarts: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Give the memberships, (annotators, communities), rows that sum to one, and J.

    Examples
    --------
    >>> right, wrong = np.full((3, 2, 2), 0.1), np.full((3, 2, 2), 0.9)
    >>> right[:, [0, 1], [0, 1]], wrong[:, [0, 1], [0, 1]] = 0.9, 0.1
    >>> share, _ = find_communities(np.concatenate([right, wrong]), 3, np.random.default_rng(0))
    >>> found = share.argmax(axis=1)
    >>> (found[:3] == found[0]).all(), (found[3:] == found[3]).all(), found[0] != found[3]
    (np.True_, np.True_, np.True_)
    """
    best = factorise(scaled(similarity(confusion)), restarts, rng)
    return best.memberships(), best.objective
