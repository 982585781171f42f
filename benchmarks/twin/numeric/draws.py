"""Gamma, Beta, Dirichlet and Antoniak draws, in logs where the numbers themselves underflow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.twin.numeric.jit import kernel

FloatArray = NDArray[np.float64]


@kernel
def draw_log_gamma(shape: float, rng: np.random.Generator) -> float:
    """Draw the log of a Gamma(shape, 1) number.

    Gamma(s) = Gamma(s + 1) * U^(1/s): a shape of 0.018, one of 50 classes in the paper's prior,
    gives numbers far below the smallest float. A shape that has underflowed to zero gives -inf.

    Examples
    --------
    >>> draw_log_gamma(1e-5, np.random.default_rng(1)) < -700
    True
    """
    if shape == 0:
        return -math.inf
    if shape >= 1:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1)) + math.log1p(-rng.random()) / shape


@kernel
def draw_log_beta(a: float, b: float, rng: np.random.Generator) -> float:
    """Draw the log of a Beta(a, b) number.

    Examples
    --------
    >>> draw_log_beta(1e-5, 5.0, np.random.default_rng(1)) < -700
    True
    """
    log_ratio = draw_log_gamma(b, rng) - draw_log_gamma(a, rng)
    if log_ratio > 0:
        return -log_ratio - math.log1p(math.exp(-log_ratio))
    return -math.log1p(math.exp(log_ratio))


@kernel
def draw_log_dirichlet(shapes: FloatArray, out: FloatArray, rng: np.random.Generator) -> None:
    """Fill ``out`` with the logs of a Dirichlet draw; both of shape (C,), may be one array.

    Examples
    --------
    >>> out = np.empty(50)
    >>> draw_log_dirichlet(np.full(50, 0.018), out, np.random.default_rng(1))
    >>> bool(np.isfinite(out).all()), round(float(np.exp(out).sum()), 9)
    (True, 1.0)
    """
    for c in range(len(shapes)):
        out[c] = draw_log_gamma(shapes[c], rng)
    highest = out.max()
    total = 0.0
    for c in range(len(shapes)):
        total += math.exp(out[c] - highest)
    out -= highest + math.log(total)


@kernel
def draw_dirichlet(shapes: FloatArray, out: FloatArray, rng: np.random.Generator) -> None:
    """Fill ``out`` with a Dirichlet draw; both of shape (C,), may be one array.

    Examples
    --------
    >>> out = np.empty(2)
    >>> draw_dirichlet(np.array([1e6, 3e6]), out, np.random.default_rng(1))
    >>> out.round(2)
    array([0.25, 0.75])
    """
    draw_log_dirichlet(shapes, out, rng)
    for c in range(len(out)):
        out[c] = math.exp(out[c])


@kernel
def draw_antoniak(n: int, x: float, rng: np.random.Generator) -> int:
    """Draw the number of clusters of n things under a CRP(x).

    It is the sum over j < n of Bernoulli(x / (x + j)); the first is always one, even where x has
    underflowed to zero.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> draw_antoniak(0, 2.0, rng), draw_antoniak(5, 0.0, rng), draw_antoniak(5, 1e9, rng)
    (0, 1, 5)
    """
    if n == 0:
        return 0
    clusters = 1
    for j in range(1, n):
        if rng.random() * (x + j) < x:
            clusters += 1
    return clusters
