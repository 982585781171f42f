"""A few labels ahead: one alone may change no label, and yet several may.

Labels of one item overlap, so that what one label in full would tell takes several. Of an item that
has n labels the next ones are worth ease / (1 + overlap n), ease / (1 + overlap (n + 1)), and so
on, and as many are needed as add up to it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import Belief, worth_of
from coterie.assign.channel import expect_answers, without_noise

FloatArray = NDArray[np.float64]

AHEAD, STATES = 5, 32
"""Labels in full that are looked ahead, and states of belief of one item that are told apart: with
two answers, all."""
FAR = 2**17
"""Labels beyond which none is counted on."""
AT_ONCE = 2**20
"""Numbers in the states of all items that are looked at together."""


def gain_per_label(belief: Belief, matrix: FloatArray, ahead: int = AHEAD) -> FloatArray:
    """Give the expected gain in accuracy per label of each item's next labels, at its best.

    Parameters
    ----------
    belief
        What is believed.
    matrix
        How those answer who would be asked, shape (classes, answers).
    ahead
        Labels in full to look ahead; the number of them that gains most per label counts.

    Returns
    -------
    Array of shape (items,).
    """
    n_items, n_classes = belief.items.shape
    gain = np.zeros(n_items)
    n, room = belief.n_labels, max(STATES, matrix.shape[1])
    told = np.cumsum(worth_of(np.arange(n.max(initial=0) + FAR), belief.overlap))
    told = np.append(0.0, told)  # by so many labels
    step = max(AT_ONCE // (room * max(n_classes, 1)), 1)
    for some in (slice(k, k + step) for k in range(0, n_items if n_classes > 1 else 0, step)):
        states, weights = belief.items[some, None], np.ones((len(gain[some]), 1))
        for k in range(ahead):
            states, weights = spread_all(states, weights, matrix, room)
            after = (weights * states.max(axis=2)).sum(axis=1) - belief.items[some].max(axis=1)
            wanted = told[n[some]] + (k + 1 - 1e-9) / np.maximum(belief.ease[some], 1e-9)
            last = np.searchsorted(told, wanted)
            per_label = np.where(last < len(told), after / (last - n[some]), 0.0)
            gain[some] = np.maximum(gain[some], per_label)
    return without_noise(gain)


def spread_all(
    states: FloatArray, weights: FloatArray, matrix: FloatArray, room: int
) -> tuple[FloatArray, FloatArray]:
    """Give what each item's states become with every answer, the most probable first.

    Where there is no room for all of them, the answers of the least probable states are left open,
    which keeps the mean of belief.

    Parameters
    ----------
    states, weights
        Shapes (items, states, classes) and (items, states).
    matrix, room
        How is answered, shape (classes, answers); and states that an item can have.
    """
    n_items, n, n_classes = states.shape
    k = min(n, (room - n) // max(matrix.shape[1] - 1, 1))  # whose answers there is room for
    chance = expect_answers(states[:, :k], matrix)[..., None]
    ratio = np.divide(
        matrix.T, chance, out=np.ones((*chance.shape[:3], n_classes)), where=chance > 0
    )
    after = (states[:, :k, None] * ratio).reshape(n_items, -1, n_classes)
    weight = (weights[:, :k, None] * chance[..., 0]).reshape(n_items, -1)
    states, weights = np.hstack([after, states[:, k:]]), np.hstack([weight, weights[:, k:]])
    order = np.argsort(-weights, axis=1, kind="stable")
    return np.take_along_axis(states, order[..., None], 1), np.take_along_axis(weights, order, 1)


def price_at(target: float, belief: Belief, matrix: FloatArray) -> float:
    """Give the most that a label of an item at the target can gain: of one that has none yet.

    Whoever calls such an item settled does not pay so much for a label, and pays anything less.

    Parameters
    ----------
    target
        Probability of one class, whichever labels gain most for; the others share the rest.
    belief, matrix
        Those of :func:`gain_per_label`: how much labels of one item overlap.

    Examples
    --------
    >>> one = {"matrix": np.zeros((1, 2, 2)), "n_labels": np.zeros(1, int), "ease": np.ones(1)}
    >>> belief = Belief(items=np.full((1, 2), 0.5), overlap=0.0, **one)
    >>> [round(price_at(0.95, belief, np.array([[a, 1 - a], [1 - a, a]])), 4) for a in (0.9, 0.8)]
    [0.0155, 0.0061]
    >>> alike = replace(belief, overlap=0.5)
    >>> round(price_at(0.95, alike, np.array([[0.9, 0.1], [0.1, 0.9]])), 4)
    0.0103
    """
    n = len(matrix)
    if n < 2:
        return 0.0
    items = np.full((n, n), (1 - target) / (n - 1))
    np.fill_diagonal(items, target)
    ease = np.full(n, belief.ease.max(initial=0.0))
    lone = replace(belief, items=items, n_labels=np.zeros(n, np.int64), ease=ease)
    return float(gain_per_label(lone, matrix).max())
