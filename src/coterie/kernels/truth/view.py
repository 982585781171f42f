"""A model as the truth update sees it, the same for every model, and room to work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.truth.shapes import Shapes
from coterie.numeric.jit import part, piece
from coterie.numeric.lines import on_own_lines

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Places = NDArray[np.uintp]

TINY_FACTOR = 1e-15
"""Smaller factors are left to logarithms: the shapes may have underflowed."""
TINY_PRODUCT = 1e-150
"""So are smaller products."""


class View(NamedTuple):
    """A model's counts and shapes, and whose each label uses. Arrays by cell are flat."""

    truth: IntArray  # (items,)                            z, or -1
    class_total: NDArray[np.int64]  # (classes,)                          n[t]
    class_weight: FloatArray  # (classes,)                          eps mu
    said: IntArray  # (matrices * answers * classes,)     n[matrix, t, c]
    said_total: IntArray  # (matrices * classes,)               n[matrix, t]
    own: IntArray  # (annotators * answers * classes,)   n[l, t, c]; empty if said is that
    matrix: IntArray  # (annotators,)   whose matrix spoke; empty if the annotator's own
    base: IntArray  # (matrices,)     whose shapes it was drawn from; empty if there is one base
    used: IntArray  # (matrices,)     first come the matrices in use
    n_used: NDArray[np.int64]  # (1,)            how many those are
    shapes: Shapes  # by base


class Labels(NamedTuple):
    """The labels of one item, noted. Places are offsets, class t is t places further on.

    They are unsigned: the compiler then leaves out the code for negative indices, which would cost
    as much as the arithmetic.
    """

    cell: Places  # (labels,)   of the answer in the counts of its matrix
    row: Places  # (labels,)   of the matrix in the totals
    before: FloatArray  # (labels,)   labels before this one with its matrix and answer
    before_row: FloatArray  # (labels,)   labels before this one with its matrix
    own_above: FloatArray  # (labels,)   under the item's own class, the item taken out:
    own_below: FloatArray  # (labels,)   the ratio's numerator and denominator
    seen: IntArray  # (matrices * answers * classes,)   zero between items
    seen_row: IntArray  # (matrices * classes,)             zero between items


class Work(NamedTuple):
    """Room to weigh one item."""

    weights: FloatArray  # (classes,)   a class weighs weights * exp(logs); then probabilities
    logs: FloatArray  # (classes,)
    labels: Labels
    above: FloatArray  # (matrices * answers * classes,)   n[matrix, t, c] + beta eta
    below: FloatArray  # (matrices * classes,)             n[matrix, t] + beta
    ratio: FloatArray  # (2 * matrices * answers * classes,)   above / below; then the same with
    # one label less, such as the one that is weighed. Empty if matrices are shared.


def new_work(data: Codes, view: View) -> Work:
    """Give room to weigh any one item."""
    most = int(np.diff(data.item_start).max(initial=0))
    labels = Labels(
        np.zeros(most, np.uintp),
        np.zeros(most, np.uintp),
        np.zeros(most),
        np.zeros(most),
        np.zeros(most),
        np.zeros(most),
        np.zeros_like(view.said),
        np.zeros_like(view.said_total),
    )
    n_classes = data.n_classes
    above, below = np.zeros(len(view.said)), np.zeros(len(view.said_total))
    ratio = np.zeros(2 * len(above) if len(view.matrix) == 0 else 0)
    weights, logs = np.zeros(n_classes), np.zeros(n_classes)
    return on_own_lines(Work(weights, logs, labels, above, below, ratio))


@part
def add_shapes(view: View, data: Codes, work: Work) -> None:
    """Write counts plus shapes of all matrices in use, and their ratios, to ``work``."""
    for k in range(view.n_used[0]):
        m = np.uintp(view.used[k])
        if len(view.base) == 0 or view.base[m] >= 0:
            for t in range(data.n_classes):
                add_shapes_to(m, np.uintp(t), view, data, work)


@piece
def add_shapes_to(m: np.uintp, t: np.uintp, view: View, data: Codes, work: Work) -> None:
    """Do so for class t of matrix m."""
    n_classes, n_answers = np.uintp(data.n_classes), np.uintp(data.n_answers)
    base = np.uintp(view.base[m]) if len(view.base) > 0 else np.uintp(0)
    row, shape = m * n_classes + t, base * n_classes + t
    total, strength = view.said_total[row], view.shapes.strength[shape]
    work.below[row] = total + strength
    over, over_less = 1 / (total + strength), 1 / (total - 1 + strength) if total > 0 else 0.0
    cell, shape = m * n_answers * n_classes + t, base * n_answers * n_classes + t
    for _ in range(n_answers):
        count, weight = view.said[cell], view.shapes.weight[shape]
        work.above[cell] = count + weight
        if len(work.ratio) > 0:
            above, less = count + weight, (count - 1) + weight
            # From the integers: one would not come off where the shape is far below it. Zero is
            # what has no label to take off, and what is too small: it is left to logarithms.
            place = np.uintp(len(work.above)) + cell
            work.ratio[cell] = above * over if above > TINY_FACTOR else 0.0
            work.ratio[place] = less * over_less if less > TINY_FACTOR else 0.0
        cell += n_classes
        shape += n_classes
