"""Dirichlet rows given expected counts: expected logs, and how far they are from the prior."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from coterie.numeric.digamma import carried_up
from coterie.numeric.jit import kernel

FloatArray = NDArray[np.float64]

TINY = 1e-100
"""A number between this and its inverse can be multiplied once more."""


class RowPrior(NamedTuple):
    """Dirichlet shapes before any label, and what a row without labels has of them.

    The first axis is one, if all annotators have the same, or the annotators (rows of a pool).
    """

    shape: FloatArray  # (1 or annotators, answers, cells)   a[r, c]
    total: FloatArray  # (1 or annotators, cells)            sum over c
    digamma: FloatArray  # like shape
    weight: FloatArray  # like shape: exp E log Psi
    log_gamma: FloatArray  # like shape
    log_beta: FloatArray  # like total: sum over c of log Gamma(a) - log Gamma(sum a)


def row_prior(shape: FloatArray) -> RowPrior:
    """Prepare Dirichlet shapes, (1 or annotators, answers, cells)."""
    shape = np.ascontiguousarray(shape, np.float64)
    total = shape.sum(axis=1)
    digamma, log_gamma = psi(shape), gammaln(shape)
    weight = np.exp(digamma - psi(total)[:, None])
    return RowPrior(
        shape, total, digamma, weight, log_gamma, log_gamma.sum(axis=1) - gammaln(total)
    )


@kernel
def update_rows(said: NDArray[Any], scale: float, prior: RowPrior, weight: FloatArray) -> float:
    """Write exp E log Psi under Dir(a + n) for every row, and sum up KL(Dir(a + n) || Dir(a)).

    Parameters
    ----------
    said
        Expected counts in whole numbers of 1 / scale, shape (annotators, answers, cells).
    scale
        Of the counts.
    prior
        The shapes a.
    weight
        Overwritten, shape (annotators, answers, cells).
    """
    n_annotators, n_answers, n_cells = said.shape
    distance = 0.0
    for l in range(n_annotators):
        b = l if len(prior.shape) > 1 else 0
        for f in range(n_cells):
            counted = 0
            for c in range(n_answers):
                counted += said[l, c, f]
            if counted == 0:
                for c in range(n_answers):
                    weight[l, c, f] = prior.weight[b, c, f]
                continue
            total = prior.total[b, f] + counted / scale
            psi_total, log_gamma_total, product = carried_up(total)
            distance += prior.log_beta[b, f] + log_gamma_total
            carried = 1 / product  # one logarithm for all of a row, unless it grows too large
            for c in range(n_answers):
                n, p, log_gamma = 0.0, prior.digamma[b, c, f], prior.log_gamma[b, c, f]
                if said[l, c, f] > 0:
                    n = said[l, c, f] / scale
                    p, log_gamma, product = carried_up(prior.shape[b, c, f] + n)
                    if not TINY < carried < 1 / TINY:
                        distance += math.log(carried)
                        carried = 1.0
                    carried *= product
                weight[l, c, f] = math.exp(p - psi_total)
                distance += n * (p - psi_total) - log_gamma
            distance += math.log(carried)
    return distance


def dirichlet_weights(shape: FloatArray, prior: FloatArray) -> tuple[FloatArray, float]:
    """Give exp E log p under Dir(shape), and KL(Dir(shape) || Dir(prior)), over the last axis.

    The weights of several Dirichlets have their shape; their distances are summed.

    Examples
    --------
    >>> weights, distance = dirichlet_weights(np.array([2.0, 1.0]), np.array([1.0, 1.0]))
    >>> weights.round(3).tolist(), round(distance, 3)
    ([0.607, 0.223], 0.193)
    """
    logs = psi(shape) - psi(shape.sum(axis=-1, keepdims=True))
    distance = log_beta(prior) - log_beta(shape) + ((shape - prior) * logs).sum(axis=-1)
    return np.exp(logs), float(np.sum(distance))


def log_beta(shape: FloatArray) -> FloatArray:
    """Give sum log Gamma(a) - log Gamma(sum a) over the last axis."""
    return np.asarray(gammaln(shape).sum(axis=-1) - gammaln(shape.sum(axis=-1)))
