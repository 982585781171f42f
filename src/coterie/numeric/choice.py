"""Choose from weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.jit import piece

FloatArray = NDArray[np.float64]


@piece
def normalise(log_weights: FloatArray) -> None:
    """Turn log weights into probabilities, in place.

    Examples
    --------
    >>> weights = np.log(np.array([1.0, 3.0])) - 1e4
    >>> normalise(weights)
    >>> weights
    array([0.25, 0.75])
    """
    # Plain loops: on a handful of numbers they are several times faster than max, sum and /=.
    # The highest is taken off all: it becomes one, and what underflows beside it is nothing.
    highest = -math.inf
    for k in range(len(log_weights)):
        highest = max(highest, log_weights[k])
    total = 0.0
    for k in range(len(log_weights)):
        log_weights[k] = math.exp(log_weights[k] - highest)
        total += log_weights[k]
    scale = 1 / total
    for k in range(len(log_weights)):
        log_weights[k] *= scale


@piece
def scale_to_one(weights: FloatArray) -> None:
    """Turn weights into probabilities, in place.

    Examples
    --------
    >>> weights = np.array([1.0, 3.0])
    >>> scale_to_one(weights)
    >>> weights
    array([0.25, 0.75])
    """
    total = 0.0
    for k in range(len(weights)):
        total += weights[k]
    scale = 1 / total
    for k in range(len(weights)):
        weights[k] *= scale


@piece
def pick(probabilities: FloatArray, u: float) -> int:
    """Give the index whose share covers ``u``, a uniform number in [0, 1).

    Indices of probability zero are never picked.

    Examples
    --------
    >>> [pick(np.array([0.25, 0.0, 0.75]), u) for u in (0.0, 0.24, 0.26, 0.99)]
    [0, 0, 2, 2]
    """
    # Without branches: which index it will be cannot be guessed, and a wrong guess costs more.
    last, chosen = 0, 0
    for k in range(len(probabilities)):
        last = k if probabilities[k] > 0 else last
        u -= probabilities[k]
        chosen += u >= 0
    return min(chosen, last)


@piece
def pick_scaled(weights: FloatArray, scale: float, u: float) -> int:
    """Turn weights into probabilities, in place, and pick one of them.

    Examples
    --------
    >>> weights = np.array([1.0, 3.0])
    >>> pick_scaled(weights, 0.25, 0.3), weights
    (1, array([0.25, 0.75]))
    """
    # One loop for both: of two, the first reads what has just been written one by one in fours,
    # and waits for that.
    last, chosen = 0, 0
    for k in range(len(weights)):
        share = weights[k] * scale
        weights[k] = share
        last = k if share > 0 else last
        u -= share
        chosen += u >= 0
    return min(chosen, last)
