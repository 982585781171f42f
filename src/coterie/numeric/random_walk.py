"""A scalar random walk seen through Gaussian pseudo-data: forward filter, backward sample.

v[0] ~ N(mean, variance),  v[s] = v[s-1] + N(0, Q[s]);  what is seen at s has precision omega[s] and
linear term kappa[s], both zero where nothing is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.jit import piece

FloatArray = NDArray[np.float64]


@piece
def filter_walk(
    start: tuple[float, float],
    drift: float,
    seen: tuple[FloatArray, FloatArray, FloatArray],
    filtered: tuple[FloatArray, FloatArray],
) -> float:
    """Filter forward; give the log evidence, up to what does not depend on the drift.

    Parameters
    ----------
    start
        Mean and variance of the first state.
    drift
        Variance per step.
    seen
        The steps before each state, omega and kappa, shape (states,) each.
    filtered
        Room for the filtered means and variances, shape (states,) each.
    """
    step, omega, kappa = seen
    m, p = filtered
    before, spread, result = start[0], start[1], 0.0
    for s in range(len(step)):
        r = spread + drift * step[s] if s > 0 else spread
        p[s] = 1 / (1 / r + omega[s])
        m[s] = p[s] * (before / r + kappa[s])
        result += 0.5 * math.log(p[s] / r) + 0.5 * (m[s] * m[s] / p[s] - before * before / r)
        before, spread = m[s], p[s]
    return result


@piece
def sample_walk(
    drift: float,
    step: FloatArray,
    filtered: tuple[FloatArray, FloatArray],
    rng: np.random.Generator,
    out: FloatArray,
) -> None:
    """Draw the states backwards, given what :func:`filter_walk` left; without drift all are one."""
    m, p = filtered
    last = len(out) - 1
    out[last] = m[last] + math.sqrt(p[last]) * rng.standard_normal()
    for back in range(last):
        s = last - 1 - back
        q = drift * step[s + 1]
        if q == 0:
            out[s] = out[s + 1]
        else:
            v = 1 / (1 / p[s] + 1 / q)
            mean = v * (m[s] / p[s] + out[s + 1] / q)
            out[s] = mean + math.sqrt(v) * rng.standard_normal()
