"""How people answer about an item if it is of class t: what they are like depends on that a little.

The answer of l about item i, were its class t, is E[Psi[l,t] | z[i] = t, labels]: draws in which
the labels of i speak for t count more. With draws d of matrices and class balance, that is the mean
of Psi_d[l,t] with weights p(z[i] = t | Psi_d, labels of i). Matrices rest on few labels where that
matters, and so the crowd is small; in a large one it is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.assign.people import People
from coterie.assign.worlds import classes_of_draw, matrices_of_draw, n_draws, reports_its_own
from coterie.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

WORK = 4_000_000_000
"""Products of weights and numbers of matrices, up to which it is done: a second or two."""
PER_LABEL = 200
"""What the weight of an old label, or of a class of an item, takes in a draw: so many products."""
MOST_DRAWS, LEAST_DRAWS = 4_000, 200
"""Draws that are used: evenly spread, fewer where that is too much work; with fewer, none."""
ALIKE = 0.03
"""Draws explain what is reported if probabilities differ by no more than this on average: the
classes of an item depend on matrices and class balance alone."""
LEAST = 1e-12
"""No answer is thought less likely."""


def matrices_given_class(posterior: Posterior, people: People, items: IntArray) -> FloatArray:
    """Give how each of these people answers about each of these items, for every class of it.

    Parameters
    ----------
    posterior, people
        The result, and who may be asked.
    items
        Codes of the items.

    Returns
    -------
    Array of shape (items * people, classes, answers), or ``people.matrix`` where the draws cannot
    tell: there are none, or too few for so large a crowd, or the model reports other probabilities
    than its own.
    """
    draws = _draws_for(posterior, people, items)
    if len(draws) == 0:
        return people.matrix
    classes = np.stack([classes_of_draw(posterior, d, items) for d in draws])
    balance = classes.mean(axis=0)
    if np.abs(balance - posterior.item_probability[items]).mean() > ALIKE:
        return people.matrix
    said = np.stack([_matrices_of(posterior, people, d) for d in draws])
    said -= said.mean(axis=0)  # what is known better than draws show: the mean
    weight = classes / np.maximum(classes.sum(axis=0), LEAST)
    moved = np.stack(
        [weight[:, :, t].T @ said[:, :, t].reshape(len(draws), -1) for t in range(weight.shape[2])],
        axis=1,
    )  # (items, classes, people * answers)
    moved = moved.reshape(len(items), weight.shape[2], len(people.names), -1).swapaxes(1, 2)
    found = np.maximum(people.matrix + moved, LEAST)
    found /= found.sum(axis=3, keepdims=True)
    return np.ascontiguousarray(found.reshape(-1, *people.matrix.shape[1:]))


def _draws_for(posterior: Posterior, people: People, items: IntArray) -> IntArray:
    """Give the draws that are used; none where they cannot tell, or it is too much work."""
    if not reports_its_own(posterior) or len(items) == 0 or people.matrix.size == 0:
        return np.zeros(0, np.int64)
    weighed = posterior.annotations.n_labels + len(items) * people.matrix.shape[1]
    work = len(items) * people.matrix.size + PER_LABEL * weighed
    number = min(n_draws(posterior), MOST_DRAWS, WORK // work)
    if number < min(LEAST_DRAWS, n_draws(posterior)):
        return np.zeros(0, np.int64)
    return np.linspace(0, n_draws(posterior) - 1, number).astype(np.int64)


def _matrices_of(posterior: Posterior, people: People, d: int) -> FloatArray:
    """Give how people answer in a draw; anyone of a coterie as its members do on average."""
    matrices, found = matrices_of_draw(posterior, d), people.matrix.copy()  # the new: as they are
    for k, who in enumerate(people.members):
        if len(who):
            found[k] = matrices[who].mean(axis=0)
    return found
