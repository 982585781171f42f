"""Mistakes that all annotators share: a shift of everybody's log odds of being right.

No label shows it, so that it comes from outside: N(0, 0.4^2), one number per draw for everybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

FloatArray = NDArray[np.float64]

GOLDEN = 0.6180339887498949
"""Multiples of it, whole parts dropped, fill (0, 1) evenly in any order of the draws."""


def shifts_of(n_draws: int, deviation: float) -> FloatArray:
    """Give one shift per draw, spread as N(0, deviation^2): the same ones every time.

    Examples
    --------
    >>> shifts = shifts_of(1000, 0.4)
    >>> round(float(shifts.mean()), 3), round(float(shifts.std()), 2)
    (0.0, 0.4)
    """
    return np.asarray(deviation * ndtri((np.arange(n_draws) + 0.5) * GOLDEN % 1.0), np.float64)


def shift_matrices(confusion: NDArray[Any], shift: FloatArray) -> FloatArray:
    """Shift the log odds of every right answer: Psi[t, t] times e^shift, and the row to sum one.

    Parameters
    ----------
    confusion
        Matrices, shape (groups, draws, classes, answers).
    shift
        Shape (draws,), or (groups, draws).

    Examples
    --------
    >>> coin = np.full((1, 1, 2, 2), 0.5)
    >>> shift_matrices(coin, np.log([3.0]))[0, 0].round(2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    shifted = np.array(confusion, np.float64)
    for t in range(shifted.shape[2]):
        shifted[:, :, t, t] *= np.exp(shift)
    shifted /= shifted.sum(axis=3, keepdims=True)
    return shifted
