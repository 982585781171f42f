"""A model as the truth update sees it, the same for every model, and room to work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from coterie.kernels.answers import Shapes
from coterie.numeric.jit import piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Places = NDArray[np.uintp]


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
    to_clear: NDArray[np.int64]  # (1,)        how many of ``before`` may not be zero
    seen: IntArray  # (matrices * answers * classes,)   zero between items
    seen_row: IntArray  # (matrices * classes,)             zero between items


class Work(NamedTuple):
    """Room to weigh one item."""

    weights: FloatArray  # (classes,)   a class weighs weights * exp(logs); then probabilities
    logs: FloatArray  # (classes,)
    labels: Labels
    above: FloatArray  # (matrices * answers * classes,)   n[matrix, t, c] + beta eta
    below: FloatArray  # (matrices * classes,)             n[matrix, t] + beta


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
        np.zeros(1, np.int64),
        np.zeros_like(view.said),
        np.zeros_like(view.said_total),
    )
    n_classes = data.n_classes
    above, below = np.zeros(len(view.said)), np.zeros(len(view.said_total))
    return Work(np.zeros(n_classes), np.zeros(n_classes), labels, above, below)


@piece
def add_shapes(view: View, data: Codes, work: Work) -> None:
    """Write counts plus shapes of all matrices in use to ``work.above`` and ``work.below``."""
    n_classes = data.n_classes
    n_cells = n_classes * data.n_answers
    for k in range(view.n_used[0]):
        m = view.used[k]
        b = view.base[m] if len(view.base) > 0 else 0
        if b >= 0:
            for t in range(n_classes):
                strength = view.shapes.strength[b * n_classes + t]
                work.below[m * n_classes + t] = view.said_total[m * n_classes + t] + strength
            for cell in range(n_cells):
                weight = view.shapes.weight[b * n_cells + cell]
                work.above[m * n_cells + cell] = view.said[m * n_cells + cell] + weight
