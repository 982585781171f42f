"""The Dirichlet shapes that rows of confusion matrices are drawn from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

TINY = 1e-290
"""Below this a shape has too few digits left (floats lose them from 2e-308 on): its logarithm is
used."""


class Shapes(NamedTuple):
    """Dirichlet shapes ``strength * mean``; the logs stay finite where the shapes underflow.

    In the kernels every array over classes and answers has the classes last: a label reads one run
    of memory.
    """

    weight: FloatArray  # (bases, answers, classes)   beta * eta
    strength: FloatArray  # (bases, classes)            beta
    log_mean: FloatArray  # (bases, answers, classes)   log eta
    log_strength: FloatArray  # (bases, classes)            log beta


def shapes_of(mean: FloatArray, strength: FloatArray) -> Shapes:
    """Give the shapes of one base from its mean (T, C) and strength (T,)."""
    weight = np.ascontiguousarray((strength[:, None] * mean).T)
    # A mean sums to one up to rounding; the Dirichlet's strength is the sum of its shapes.
    total = weight.sum(axis=0)
    log_mean = np.log(weight) - np.log(total)
    return Shapes(weight[None], total[None], log_mean[None], np.log(total)[None])


def flat(shapes: Shapes) -> Shapes:
    """Show the same shapes in one dimension each."""
    return Shapes._make(array.reshape(-1) for array in shapes)
