"""Choose from weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.twin.numeric.jit import piece

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
    highest = -math.inf
    for k in range(len(log_weights)):
        highest = max(highest, log_weights[k])
    total = 0.0
    for k in range(len(log_weights)):
        log_weights[k] = math.exp(log_weights[k] - highest)
        total += log_weights[k]
    for k in range(len(log_weights)):
        log_weights[k] /= total


@piece
def pick(weights: FloatArray, u: float) -> int:
    """Give the index whose share of the weights covers ``u``, a uniform number in [0, 1).

    Indices of weight zero are never picked.

    Examples
    --------
    >>> [pick(np.array([1.0, 0.0, 3.0]), u) for u in (0.0, 0.24, 0.26, 0.99)]
    [0, 0, 2, 2]
    """
    total = 0.0
    for k in range(len(weights)):
        total += weights[k]
    left = u * total
    last = 0
    for k in range(len(weights)):
        if weights[k] > 0:
            last = k
            left -= weights[k]
            if left < 0:
                break
    return last
