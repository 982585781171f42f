"""Gamma, Dirichlet and Chinese restaurant draws of whole arrays.

The former come in logs: small shapes underflow, logs do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln

from coterie.numeric import FloatArray, IntArray, LongArray

SMALL = 1e-290  # a shape below this has lost its digits: its logarithm takes its place
LEAST_LOG = -1e300  # of a probability: nothing times it is nothing


def log_gamma_draws(shape: FloatArray, rng: Generator) -> FloatArray:
    """Draw logs of Gamma(shape, 1) numbers; below one Gamma(s) = Gamma(s + 1) U^(1/s)."""
    shape = np.asarray(shape, np.float64)
    small = shape < 1
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.log(rng.standard_gamma(shape + small))
        if small.any():
            logs[small] -= rng.standard_exponential(np.count_nonzero(small)) / shape[small]
    return np.asarray(logs)


def log_dirichlet(
    shape: FloatArray, rng: Generator, axis: int, log_shape: FloatArray | None = None
) -> FloatArray:
    """Draw log p, p ~ Dir(shape) along an axis.

    Parameters
    ----------
    shape
        The Dirichlets' shapes.
    rng
        Where random numbers come from.
    axis
        Of the numbers that sum to one.
    log_shape
        Logs of the shapes, where these may underflow: all is then on one answer, drawn from the
        mean, which is the limit as the strength goes to zero.
    """
    logs = log_gamma_draws(shape, rng)
    top = logs.max(axis=axis, keepdims=True)
    if log_shape is not None:
        vague = (shape.sum(axis=axis, keepdims=True) < SMALL) | (top == -np.inf)
        if vague.any():
            # Who comes first: the least of exponential waits, each at the rate of its mean.
            with np.errstate(divide="ignore", over="ignore"):
                wait = np.log(rng.standard_exponential(shape.shape)) - log_shape
                wait -= wait.min(axis=axis, keepdims=True)
                corner = np.where(wait == 0, 0.0, -np.exp(np.minimum(wait, 700)) / SMALL)
            logs = np.where(vague, corner, logs)
            top = logs.max(axis=axis, keepdims=True)
    logs -= top
    logs -= np.log(np.exp(logs).sum(axis=axis, keepdims=True))
    return np.maximum(logs, LEAST_LOG)


def log_sequence(count: NDArray[np.integer], weight: FloatArray) -> float:
    """Give the log probability of draws with these counts, their Dirichlet integrated out."""
    own = gammaln(weight + count) - gammaln(weight)
    total = weight.sum()
    return float(own.sum() - gammaln(total + count.sum()) + gammaln(total))


def pick(log_weight: FloatArray, rng: Generator) -> LongArray:
    """Pick a place along the last axis, by the logs of unnormalised probabilities.

    Examples
    --------
    >>> pick(np.log([[1e-300, 1.0], [1.0, 1e-300]]), np.random.default_rng(1)).tolist()
    [1, 0]
    """
    weight = np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
    ladder = np.cumsum(weight, axis=-1)
    u = rng.random(ladder.shape[:-1])[..., None] * ladder[..., -1:]
    return np.asarray((ladder <= u).sum(axis=-1))


def draw_crp(n: int, concentration: float, rng: Generator, before: Sequence[int] = ()) -> IntArray:
    """Draw groups of n things from CRP(concentration), after those whose groups are known; (n,)."""
    group, n_groups = list(before), max(before, default=-1) + 1
    places = rng.random(n) * (len(before) + np.arange(n) + concentration)
    for place in places.tolist():
        # Sitting with a random person is joining a group in proportion to its size.
        if place < len(group):
            group.append(group[int(place)])
        else:
            group.append(n_groups)
            n_groups += 1
    return np.array(group[len(before) :], np.int32)


def canonical_groups(group: IntArray) -> IntArray:
    """Renumber the groups 0, 1, 2 ... by first appearance; -1 (no group) stays; shape (n,)."""
    seated = group >= 0
    out = np.full(len(group), -1, np.int32)
    _, first, which = np.unique(group[seated], return_index=True, return_inverse=True)
    out[seated] = np.argsort(np.argsort(first))[which]
    return out
