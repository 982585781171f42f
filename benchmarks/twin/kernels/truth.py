"""The truth of every item, z: take out, weigh, pick, put back. The same code for every model.

p(z[i] = t | rest) is proportional to n[t] + eps mu[t] times a ratio for each label of the item,

    (n[matrix, t, c] + beta eta[base, t, c]) / (n[matrix, t] + beta[base, t]),

with the counts of all other items *and of the item's labels before this one*: labels that share a
matrix are not independent. Known items (gold) are counted and never move; items with neither
label nor gold are not counted, which integrates them out.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from benchmarks.twin.kernels.answers import Shapes
from benchmarks.twin.kernels.record import Tally
from benchmarks.twin.numeric.choice import normalise, pick
from benchmarks.twin.numeric.draws import draw_dirichlet
from benchmarks.twin.numeric.jit import kernel, piece
from benchmarks.twin.numeric.rising import log_rising

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

# Ratios are multiplied while that is safe: one log for many labels.
TINY_FACTOR = 1e-100
TINY_PRODUCT = 1e-150


class View(NamedTuple):
    """A model as the truth update sees it: its counts and shapes, and whose each label uses."""

    truth: IntArray  # (items,)                        z, or -1
    class_total: NDArray[np.int64]  # (classes,)                      n[t]
    class_weight: FloatArray  # (classes,)                      eps mu
    said: IntArray  # (matrices, classes, answers)    n[matrix, t, c]
    said_total: IntArray  # (matrices, classes)             n[matrix, t]
    matrix: IntArray  # (annotators,)                   whose matrix spoke
    base: IntArray  # (annotators,)                   whose shapes it was drawn from
    shapes: Shapes


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


class Work(NamedTuple):
    """Room to weigh one item."""

    weights: FloatArray  # (classes,)           log weights, then probabilities
    product: FloatArray  # (classes,)
    before: IntArray  # (labels, 2)           earlier labels of the matrix: this answer, all
    seen: IntArray  # (matrices, answers)   zero between items
    seen_total: IntArray  # (matrices,)           zero between items


def new_work(data: Codes, n_matrices: int) -> Work:
    """Give room to weigh any one item."""
    most = int(np.diff(data.item_start).max(initial=0))
    return Work(
        np.zeros(data.n_classes),
        np.zeros(data.n_classes),
        np.zeros((most, 2), np.int32),
        np.zeros((n_matrices, data.n_answers), np.int32),
        np.zeros(n_matrices, np.int32),
    )


def starting_truth(truth: IntArray, data: Codes) -> tuple[IntArray, NDArray[np.int64]]:
    """Clamp gold, drop items that nobody knows anything about; give z (N,) and n[t] (T,)."""
    labelled = np.diff(data.item_start) > 0
    start = np.where(data.gold >= 0, data.gold, np.where(labelled, truth, -1)).astype(np.int32)
    return start, np.bincount(start[start >= 0], minlength=data.n_classes)


@piece
def take_out_item(i: int, view: View, data: Codes) -> None:
    """Take item i and its labels out of the counts."""
    t = view.truth[i]
    view.class_total[t] -= 1
    for k in range(data.item_start[i], data.item_start[i + 1]):
        m = view.matrix[data.item_annotator[k]]
        view.said[m, t, data.item_answer[k]] -= 1
        view.said_total[m, t] -= 1


@piece
def put_back_item(i: int, view: View, data: Codes) -> None:
    """Count item i and its labels under its truth."""
    t = view.truth[i]
    view.class_total[t] += 1
    for k in range(data.item_start[i], data.item_start[i + 1]):
        m = view.matrix[data.item_annotator[k]]
        view.said[m, t, data.item_answer[k]] += 1
        view.said_total[m, t] += 1


@piece
def count_before(i: int, view: View, data: Codes, work: Work) -> None:
    """Count, for each label of item i, the item's earlier labels from the same matrix."""
    start, end = data.item_start[i], data.item_start[i + 1]
    for k in range(start, end):
        m, c = view.matrix[data.item_annotator[k]], data.item_answer[k]
        work.before[k - start, 0] = work.seen[m, c]
        work.before[k - start, 1] = work.seen_total[m]
        work.seen[m, c] += 1
        work.seen_total[m] += 1
    for k in range(start, end):
        m, c = view.matrix[data.item_annotator[k]], data.item_answer[k]
        work.seen[m, c] = 0
        work.seen_total[m] = 0


@piece
def weigh_truth(i: int, view: View, data: Codes, work: Work) -> None:
    """Write the log weights of item i's truth to ``work.weights``; the item is taken out."""
    shapes, log_weight, product = view.shapes, work.weights, work.product
    for t in range(data.n_classes):
        log_weight[t] = math.log(view.class_total[t] + view.class_weight[t])
        product[t] = 1.0
    count_before(i, view, data, work)
    start = data.item_start[i]
    for k in range(start, data.item_start[i + 1]):
        l, c = data.item_annotator[k], data.item_answer[k]
        m, b = view.matrix[l], view.base[l]
        for t in range(data.n_classes):
            n = view.said[m, t, c] + work.before[k - start, 0]
            n_row = view.said_total[m, t] + work.before[k - start, 1]
            above = n + shapes.weight[b, t, c]
            below = n_row + shapes.strength[b, t]
            if above < TINY_FACTOR or below < TINY_FACTOR:
                # Nothing counted, and the shape itself may have underflowed: use its log.
                log_beta = shapes.log_strength[b, t]
                log_weight[t] += log_beta + shapes.log_mean[b, t, c] if n == 0 else math.log(above)
                log_weight[t] -= log_beta if n_row == 0 else math.log(below)
                continue
            product[t] *= above / below
            if product[t] < TINY_PRODUCT:
                log_weight[t] += math.log(product[t])
                product[t] = 1.0
    for t in range(data.n_classes):
        log_weight[t] += math.log(product[t])


@piece
def update_truth(i: int, view: View, data: Codes, work: Work, u: float) -> None:
    """Give item i a new truth; its probabilities are left in ``work.weights``."""
    take_out_item(i, view, data)
    weigh_truth(i, view, data, work)
    normalise(work.weights)
    view.truth[i] = pick(work.weights, u)
    put_back_item(i, view, data)


@piece
def sweep_truth(
    view: View, data: Codes, work: Work, rng: np.random.Generator, tally: Tally
) -> None:
    """Update every item that has labels and no gold; tally every item's probabilities."""
    for i in range(len(view.truth)):
        if data.gold[i] < 0 and data.item_start[i] < data.item_start[i + 1]:
            update_truth(i, view, data, work, rng.random())
            for t in range(data.n_classes):
                tally.probability[i, t] += tally.weight * work.weights[t]
    tally_the_rest(view, data, tally)


@piece
def tally_the_rest(view: View, data: Codes, tally: Tally) -> None:
    """Tally gold items as certain and items without labels as the predictive n[t] + eps mu[t]."""
    tally.sweeps[0] += tally.weight
    total = view.class_total.sum() + view.class_weight.sum()
    for i in range(len(view.truth)):
        if data.gold[i] >= 0:
            tally.probability[i, data.gold[i]] += tally.weight
        elif view.truth[i] < 0:
            for t in range(data.n_classes):
                share = (view.class_total[t] + view.class_weight[t]) / total
                tally.probability[i, t] += tally.weight * share


@piece
def log_truth(view: View) -> float:
    """Give log p(z), the class balance integrated out."""
    result, total, strength = 0.0, 0, 0.0
    for t in range(len(view.class_total)):
        weight = view.class_weight[t]
        result += log_rising(weight, view.class_total[t], math.log(weight))
        total += view.class_total[t]
        strength += weight
    return result - log_rising(strength, total, math.log(strength))


@kernel
def draw_class_balance(
    state: Classes, prior: ClassPrior, rng: np.random.Generator, out: FloatArray
) -> None:
    """Draw the class balance given the state: tau ~ Dir(n + eps mu), out of shape (T,)."""
    for t in range(len(out)):
        out[t] = state.class_total[t] + prior.class_weight[t]
    draw_dirichlet(out, out, rng)
