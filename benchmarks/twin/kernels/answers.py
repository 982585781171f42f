"""Answers given the truth: Dirichlet rows of confusion matrices, integrated out or drawn.

A model says, for every annotator, whose *matrix* produced the labels (the row of the counts) and
whose *base* that matrix was drawn from (the row of the Dirichlet shapes):

=======  ====================  ======================
model    matrix                base
=======  ====================  ======================
iBCC     the annotator's own   one for all
cBCC     the cluster's         one for all
hcBCC    the annotator's own   the cluster's
=======  ====================  ======================
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from benchmarks.twin.numeric.choice import pick
from benchmarks.twin.numeric.draws import draw_dirichlet
from benchmarks.twin.numeric.jit import kernel, piece
from benchmarks.twin.numeric.rising import log_rising

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


TINY = 1e-290
"""Below this a shape has too few digits left: its logarithm is used."""


class Shapes(NamedTuple):
    """Dirichlet shapes ``strength * mean``; the logs stay finite where the shapes underflow."""

    weight: FloatArray  # (bases, classes, answers)   beta * eta
    strength: FloatArray  # (bases, classes)            beta
    log_mean: FloatArray  # (bases, classes, answers)   log eta
    log_strength: FloatArray  # (bases, classes)            log beta


def shapes_of(mean: FloatArray, strength: FloatArray) -> Shapes:
    """Give the shapes of one base from its mean (T, C) and strength (T,)."""
    weight = strength[:, None] * mean
    # A mean sums to one up to rounding; the Dirichlet's strength is the sum of its shapes.
    total = weight.sum(axis=1)
    log_mean = np.log(weight) - np.log(total)[:, None]
    return Shapes(weight[None], total[None], log_mean[None], np.log(total)[None])


def count_answers(
    truth: IntArray, matrix: IntArray, n_matrices: int, data: Codes
) -> tuple[IntArray, IntArray]:
    """Count the labels afresh: n[matrix, t, c], shape (matrices, T, C), and its sum over c."""
    item = np.repeat(np.arange(len(truth)), np.diff(data.item_start))
    said = np.zeros((n_matrices, data.n_classes, data.n_answers), np.int32)
    np.add.at(said, (matrix[data.item_annotator], truth[item], data.item_answer), 1)
    return said, said.sum(axis=2, dtype=np.int32)


@piece
def log_marginal(m: int, said: IntArray, said_total: IntArray, shapes: Shapes, base: int) -> float:
    """Give the log probability of one matrix's labels, the matrix integrated out.

    Sum over t of sum over c of log (beta eta[c])_(n[c]) - log (beta)_(n), where (x)_(n) is the
    rising factorial.

    Parameters
    ----------
    m, said, said_total
        Which matrix, the counts n[m, t, c] and n[m, t] of all of them.
    shapes, base
        The Dirichlet shapes, and which of them.
    """
    result = 0.0
    for t in range(said.shape[1]):
        if said_total[m, t] == 0:
            continue
        log_strength = shapes.log_strength[base, t]
        result -= log_rising(shapes.strength[base, t], said_total[m, t], log_strength)
        for c in range(said.shape[2]):
            if said[m, t, c] > 0:
                log_weight = log_strength + shapes.log_mean[base, t, c]
                result += log_rising(shapes.weight[base, t, c], said[m, t, c], log_weight)
    return result


@kernel
def draw_matrix(
    said: IntArray, shapes: Shapes, base: int, out: FloatArray, rng: np.random.Generator
) -> None:
    """Draw a confusion matrix given its counts: out[t] ~ Dir(n[t] + beta eta[t]), shape (T, C)."""
    for t in range(said.shape[0]):
        total = 0.0
        for c in range(said.shape[1]):
            out[t, c] = said[t, c] + shapes.weight[base, t, c]
            total += out[t, c]
        if total > TINY:
            draw_dirichlet(out[t], out[t], rng)
        else:  # shapes that have underflowed: all on one answer, drawn from the mean
            for c in range(said.shape[1]):
                out[t, c] = math.exp(shapes.log_mean[base, t, c])
            chosen = pick(out[t], rng.random())
            out[t] = 0.0
            out[t, chosen] = 1.0


@kernel
def add_mean_matrix(
    said: IntArray, shapes: Shapes, base: int, share: float, out: FloatArray
) -> None:
    """Add ``share`` times the mean of a confusion matrix given its counts, shape (T, C)."""
    for t in range(said.shape[0]):
        total = said[t].sum()
        for c in range(said.shape[1]):
            if total == 0:
                out[t, c] += share * math.exp(shapes.log_mean[base, t, c])
            else:
                weight = said[t, c] + shapes.weight[base, t, c]
                out[t, c] += share * weight / (total + shapes.strength[base, t])
