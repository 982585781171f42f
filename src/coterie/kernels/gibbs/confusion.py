"""One confusion matrix given its counts: its mean, and a draw of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.shapes import TINY, Shapes
from coterie.numeric.draws import draw_corner, draw_dirichlet
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@piece
def add_mean(said: IntArray, shapes: Shapes, base: int, share: float, out: NDArray[Any]) -> None:
    """Add a share of the mean of a matrix, (n[t, c] + beta eta[t, c]) / (n[t] + beta[t]).

    Parameters
    ----------
    said
        The counts n[t, c], shape (C, T).
    shapes, base
        The Dirichlet shapes, and which of them the matrix has.
    share
        What the mean is multiplied by.
    out
        Where it is added, shape (T, C).
    """
    n_answers, n_classes = said.shape
    for t in range(n_classes):
        total = shapes.strength[base, t]
        for c in range(n_answers):
            total += said[c, t]
        for c in range(n_answers):
            if total < TINY:  # nothing is counted and the shapes have underflowed: use their logs
                out[t, c] += share * math.exp(shapes.log_mean[base, c, t])
            else:
                out[t, c] += share * (said[c, t] + shapes.weight[base, c, t]) / total


@part
def draw_matrix(
    said: IntArray,
    shapes: Shapes,
    base: int,
    rng: np.random.Generator,
    row: FloatArray,
    out: NDArray[Any],
) -> None:
    """Draw a matrix given its counts, Psi[t] ~ Dir(n[t] + beta eta[t]).

    The parameters are those of :func:`add_mean`; ``row`` is room for the answers, shape (C,).
    """
    n_answers, n_classes = said.shape
    for t in range(n_classes):
        total = 0.0
        for c in range(n_answers):
            row[c] = said[c, t] + shapes.weight[base, c, t]
            total += row[c]
        if total < TINY:  # shapes that have underflowed: all on one answer, drawn from the mean
            for c in range(n_answers):
                row[c] = shapes.log_mean[base, c, t]
            draw_corner(row[:n_answers], rng)
        else:
            draw_dirichlet(row[:n_answers], rng)
        for c in range(n_answers):
            out[t, c] = row[c]


@piece
def copy_matrix(source: int, target: int, matrices: NDArray[Any]) -> None:
    """Copy one matrix to another place, matrices of shape (L, T, C)."""
    for t in range(matrices.shape[1]):
        for c in range(matrices.shape[2]):
            matrices[target, t, c] = matrices[source, t, c]
