"""Matrices and class balance drawn from the counts: what items are given."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.blocked.items import Given, Totals
from coterie.kernels.shapes import TINY, Shapes
from coterie.numeric.draws import draw_log_dirichlet, draw_log_gamma
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


@part
def draw_matrix_logs(
    said: IntArray, shapes: Shapes, base: int, rng: np.random.Generator, l: int, given: Given
) -> None:
    """Draw Psi[l, t] ~ Dir(n[t] + beta eta[t]) for every t, and its log, which never underflows.

    Parameters
    ----------
    said
        The counts n[t, c], shape (C, T).
    shapes, base
        The Dirichlet shapes, and which of them the matrix has.
    l
        Whose matrix it is.
    """
    logs, chance = given.log_chance[l], given.chance[l]
    n_answers, n_classes = said.shape
    for t in range(n_classes):
        most, total = -math.inf, 0.0
        n = 0
        for c in range(n_answers):
            n += said[c, t]
        for c in range(n_answers):
            if n == 0 and shapes.strength[base, t] < TINY:
                # All on one answer, drawn from the mean: who comes first.
                wait = math.log(-math.log1p(-rng.random())) - shapes.log_mean[base, c, t]
                logs[c, t] = -math.exp(wait) / TINY
            else:
                logs[c, t] = draw_log_gamma(shapes.weight[base, c, t] + said[c, t], rng)
            most = logs[c, t] if logs[c, t] > most else most
        for c in range(n_answers):
            logs[c, t] -= most  # the largest becomes one: the sum is neither zero nor infinite
            chance[c, t] = math.exp(logs[c, t])
            total += chance[c, t]
        log_total, scale = math.log(total), 1 / total
        for c in range(n_answers):
            logs[c, t] -= log_total
            chance[c, t] *= scale


@part
def draw_balance(
    class_total: LongArray, class_weight: FloatArray, rng: np.random.Generator, given: Given
) -> None:
    """Draw tau ~ Dir(n + eps mu), and its log."""
    for t in range(len(class_total)):
        given.balance[t] = class_weight[t] + class_total[t]
    draw_log_dirichlet(given.balance, rng, given.log_balance)
    for t in range(len(class_total)):
        given.balance[t] = math.exp(given.log_balance[t])


@piece
def has_labels(l: int, data: Codes) -> bool:
    """Say whether annotator l has labels: of the others no matrix is needed."""
    return bool(data.annotator_start[l] < data.annotator_start[l + 1])


@part
def take_totals(
    totals: Totals, class_total: LongArray, said: IntArray, said_total: IntArray
) -> None:
    """Write what was counted to the state, whose matrices are the annotators' own."""
    n_annotators, n_answers, n_classes = said.shape
    for t in range(n_classes):
        class_total[t] = totals.class_total[t]
    for l in range(n_annotators):
        for t in range(n_classes):
            said_total[l, t] = 0
        for c in range(n_answers):
            for t in range(n_classes):
                said[l, c, t] = totals.said[l, c, t]
                said_total[l, t] += totals.said[l, c, t]


@part
def clear_totals(totals: Totals) -> None:
    """Forget all items."""
    totals.class_total[:] = 0
    totals.said[:] = 0
    totals.agreed[:] = 0
    totals.kind_total[:] = 0
    totals.source[:] = 0
    totals.guessed[:] = 0
