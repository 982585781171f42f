"""Dirichlet draws that survive tiny shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from coterie.simulation.crowd import FloatArray


def draw_log_dirichlet(shape: ArrayLike, rng: np.random.Generator) -> FloatArray:
    """Draw log p, p ~ Dir(shape[..., :]), for each leading index.

    Gamma draws of small shape underflow (Gamma(0.001) is 0 in half of all draws), so they are
    drawn as logarithms: Gamma(s) = Gamma(s + 1) * U^(1/s).

    Examples
    --------
    >>> log_p = draw_log_dirichlet([1e-6, 1e-6, 2e-6], np.random.default_rng(0))
    >>> bool(np.isfinite(log_p).all()), float(np.exp(log_p).sum())
    (True, 1.0)
    """
    shape = np.asarray(shape, np.float64)
    log_u = -rng.standard_exponential(shape.shape)
    with np.errstate(divide="ignore", over="ignore"):
        log_gamma = np.log(rng.standard_gamma(shape + 1)) + log_u / shape
    log_p: FloatArray = log_gamma - logsumexp(log_gamma, axis=-1, keepdims=True)
    return log_p


def draw_dirichlet(shape: ArrayLike, rng: np.random.Generator) -> FloatArray:
    """Draw p ~ Dir(shape[..., :]) for each leading index; the shape of the result is the same."""
    return np.exp(draw_log_dirichlet(shape, rng))
