"""A few labels ahead: one alone may change no label, and yet several may."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import Belief
from coterie.assign.channel import spread_beliefs, without_noise
from coterie.assign.greedy import STATES, worth
from coterie.numeric.jit import kernel

FloatArray = NDArray[np.float64]

AHEAD = 3
"""Labels that are looked ahead."""


def gain_per_label(belief: Belief, matrix: FloatArray, ahead: int = AHEAD) -> FloatArray:
    """Give the expected gain in accuracy per label of each item's next labels, at its best.

    Parameters
    ----------
    belief
        What is believed.
    matrix
        How those answer who would be asked, shape (classes, answers).
    ahead
        Labels to look ahead; the number of them that gains most per label counts.

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
        n = 1
        for k in range(ahead):
            value = worth(n_labels[i] + k, ease[i], overlap)
            n = spread_beliefs(n, states, weights, matrix, value)
            after = 0.0
            for s in range(n):
                after += weights[s] * states[s].max()
            gain[i] = max(gain[i], (after - now) / (k + 1))
