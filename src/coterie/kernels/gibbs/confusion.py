"""Confusion matrices and class balance given a state: means and draws, for the draws that are kept.

Plain numpy: they are needed once in many sweeps, and compile to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.shapes import TINY, Shapes
from coterie.numeric.draws import log_gamma_draws

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Index = NDArray[np.int64] | IntArray

AT_ONCE = 2**20
"""Cells that are worked on at once."""


class Classes(Protocol):
    """Any model's state."""

    @property
    def class_total(self) -> NDArray[np.int64]:
        """Items of each true class, n[t], shape (T,)."""


class ClassPrior(Protocol):
    """Any model's prior."""

    @property
    def class_weight(self) -> FloatArray:
        """Pseudo-counts eps mu, shape (T,)."""


def draw_class_balance(
    state: Classes, prior: ClassPrior, rng: np.random.Generator, out: FloatArray
) -> None:
    """Draw the class balance given the state: tau ~ Dir(n + eps mu), out of shape (T,)."""
    logs = log_gamma_draws(state.class_total + prior.class_weight, rng)
    out[:] = np.exp(logs - logs.max())
    out /= out.sum()


def labelled(data: Codes) -> NDArray[np.bool_]:
    """Say which annotators have labels, shape (L,)."""
    return np.diff(data.annotator_start) > 0


def slabs(who: NDArray[np.int64], n_cells: int) -> Iterator[NDArray[np.int64]]:
    """Cut a list of matrices with so many cells each, so that a part of them fits in the cache."""
    step = max(1, AT_ONCE // n_cells)
    for start in range(0, len(who), step):
        yield who[start : start + step]


def mean_matrices(said: IntArray, shapes: Shapes, base: Index) -> FloatArray:
    """Give the means of confusion matrices given their counts.

    Parameters
    ----------
    said
        The counts n[t, c], shape (matrices, C, T).
    shapes, base
        The Dirichlet shapes, and which of them each matrix has, shape (matrices,).

    Returns
    -------
    Array of shape (matrices, T, C).
    """
    total = said.sum(axis=1, keepdims=True)
    strength = shapes.strength[base][:, None]
    # Where nothing is counted the shapes may have underflowed: the mean is known from its log.
    with np.errstate(invalid="ignore"):
        mean = (said + shapes.weight[base]) / (total + strength)
    return np.where(total == 0, np.exp(shapes.log_mean[base]), mean).swapaxes(1, 2)


def draw_matrices(
    said: IntArray, shapes: Shapes, base: Index, rng: np.random.Generator
) -> FloatArray:
    """Draw confusion matrices given their counts, Psi[t] ~ Dir(n[t] + beta eta[t]).

    The parameters and the result are those of :func:`mean_matrices`.
    """
    weight, log_mean = said + shapes.weight[base], shapes.log_mean[base]
    logs = log_gamma_draws(weight, rng)
    logs -= logs.max(axis=1, keepdims=True, initial=-np.finfo(float).max)
    matrix = np.exp(logs)
    # Shapes that have underflowed: all on one answer, drawn from the mean.
    (k, t) = np.nonzero(weight.sum(axis=1) < TINY)
    if len(k):
        race = log_mean[k, :, t]
        first = (race - np.log(rng.standard_exponential(race.shape))).argmax(axis=1)
        matrix[k, :, t] = 0
        matrix[k, first, t] = 1
    matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix.swapaxes(1, 2)
