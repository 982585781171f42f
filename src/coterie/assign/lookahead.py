"""A few labels ahead: one alone may change no label, and yet several may.

Labels of one item overlap, so that what one label in full would tell takes several. Of an item that
has n labels the next ones are worth ease / (1 + overlap n), ease / (1 + overlap (n + 1)), and so
on, and as many are needed as add up to it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import Belief
from coterie.assign.channel import spread_beliefs, without_noise
from coterie.assign.greedy import STATES, worth
from coterie.numeric.jit import kernel

FloatArray = NDArray[np.float64]

AHEAD = 5
"""Labels in full that are looked ahead: with two answers, all states of belief are told apart."""


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
    gain = np.zeros(len(belief.items))
    if belief.items.shape[1] < 2:
        return gain
    room = max(STATES, matrix.shape[1])
    states, weights = np.zeros((room, belief.items.shape[1])), np.zeros(room)
    _write_gains(belief.items, belief.n_labels, belief.ease, belief.overlap,
                 np.ascontiguousarray(matrix), ahead, gain, (states, weights))  # fmt: skip
    return without_noise(gain)


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


@kernel
def _write_gains(
    items: FloatArray,
    n_labels: NDArray[np.int64],
    ease: FloatArray,
    overlap: float,
    matrix: FloatArray,
    ahead: int,
    gain: FloatArray,
    room: tuple[FloatArray, FloatArray],
) -> None:
    """Write the gain per label of each item."""
    states, weights = room
    for i in range(len(items)):
        now = items[i].max()
        states[0, :] = items[i]
        weights[0] = 1.0
        n, needed, told = 1, 0, 0.0
        for k in range(ahead):
            n = spread_beliefs(n, states, weights, matrix, 1.0)
            after = -now
            for s in range(n):
                after += weights[s] * states[s].max()
            while told < k + 1 - 1e-9 and after > gain[i] * needed:
                told += worth(n_labels[i] + needed, ease[i], overlap)
                needed += 1
            if told >= k + 1 - 1e-9:
                gain[i] = max(gain[i], after / needed)
