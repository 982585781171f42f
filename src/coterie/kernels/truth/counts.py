"""What is counted for the truths, and the tables that the counts make."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.batches import parts_of
from coterie.data.codes import Codes
from coterie.kernels.shapes import Shapes
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.rising import log_rising

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Places = NDArray[np.uintp]

TINY_FACTOR = 1e-15
"""Smaller factors are left to logarithms: the shapes may have underflowed, and a few of them
multiplied could."""
TINY_PRODUCT = 1e-150
"""So are smaller products. Ratios are at most one: a product that ends above this has on the way
never been near the smallest float, where digits get lost."""


class View(NamedTuple):
    """A model's counts and shapes, and whose each label uses. Arrays by cell are flat.

    An array of three dimensions costs two multiplications to index, a flat one none: the place of
    a label is worked out once, and class t is t places further on.
    """

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
    """The labels of one item, noted (:func:`coterie.kernels.truth.logs.note_labels`).

    Places are unsigned: the compiler then leaves out the code for negative indices, which would
    cost as much as the arithmetic.
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
    """Room to weigh one item, and tables that are up to date with the counts."""

    weights: FloatArray  # (classes,)   a class weighs weights * exp(logs); then probabilities
    logs: FloatArray  # (classes,)
    labels: Labels
    above: FloatArray  # (matrices * answers * classes,)   n[matrix, t, c] + beta eta
    below: FloatArray  # (matrices * classes,)             n[matrix, t] + beta
    ratio: FloatArray  # (2 * matrices * answers * classes,)   above / below; then the same with
    # one label less, such as the one that is weighed. Empty if matrices are shared.


def starting_truth(truth: IntArray, data: Codes) -> tuple[IntArray, NDArray[np.int64]]:
    """Clamp gold, drop items that nobody knows anything about; give z (N,) and n[t] (T,)."""
    labelled = np.diff(data.item_start) > 0
    start = np.where(data.gold >= 0, data.gold, np.where(labelled, truth, -1)).astype(np.int32)
    return start, np.bincount(start[start >= 0], minlength=data.n_classes)


def count_answers(
    truth: IntArray, matrix: IntArray, n_matrices: int, data: Codes
) -> tuple[IntArray, IntArray]:
    """Count the labels afresh: n[matrix, t, c], shape (matrices, C, T), and its sum over c."""
    said = np.zeros((n_matrices, data.n_answers, data.n_classes), np.int32)
    for items, labels, item in parts_of(data):
        z = truth[items][item]
        np.add.at(said, (matrix[data.item_annotator[labels]], data.item_answer[labels], z), 1)
    return said, said.sum(axis=1, dtype=np.int32)


def new_work(data: Codes, view: View) -> Work:
    """Give room to weigh any one item."""
    most = int(np.diff(data.item_start).max(initial=0))
    labels = Labels(
        cell=np.zeros(most, np.uintp),
        row=np.zeros(most, np.uintp),
        before=np.zeros(most),
        before_row=np.zeros(most),
        own_above=np.zeros(most),
        own_below=np.zeros(most),
        seen=np.zeros_like(view.said),
        seen_row=np.zeros_like(view.said_total),
    )
    return Work(
        weights=np.zeros(data.n_classes),
        logs=np.zeros(data.n_classes),
        labels=labels,
        above=np.zeros(len(view.said)),
        below=np.zeros(len(view.said_total)),
        ratio=np.zeros(2 * len(view.said) if len(view.matrix) == 0 else 0),
    )


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


@piece
def move_to(new: int, i: int, view: View, data: Codes, work: Work) -> None:
    """Count item i under class ``new``, if it is not there."""
    if new != view.truth[i]:
        move_item(i, new, view, data, work)


@part
def move_item(i: int, new: int, view: View, data: Codes, work: Work) -> None:
    """Count item i under class ``new``."""
    old, now = np.uintp(view.truth[i]), np.uintp(new)
    n_classes, n_answers = np.uintp(data.n_classes), np.uintp(data.n_answers)
    view.truth[i] = new
    view.class_total[old] -= 1
    view.class_total[now] += 1
    for k in range(data.item_start[i], data.item_start[i + 1]):
        l, c = np.uintp(data.item_annotator[k]), np.uintp(data.item_answer[k])
        m = np.uintp(view.matrix[l]) if len(view.matrix) > 0 else l
        for t, sign in ((old, -1), (now, 1)):
            cell, row = (m * n_answers + c) * n_classes + t, m * n_classes + t
            view.said[cell] += sign
            view.said_total[row] += sign
            if len(work.ratio) > 0:
                add_shapes_to(m, t, view, data, work)
            else:
                # Afresh from the integers: a float that is added to and taken from drifts.
                work.above[cell] = view.said[cell] + view.shapes.weight[c * n_classes + t]
                work.below[row] = view.said_total[row] + view.shapes.strength[t]
                view.own[(l * n_answers + c) * n_classes + t] += sign


@piece
def log_truth(view: View) -> float:
    """Give log p(z), the class balance integrated out."""
    result, total, strength = 0.0, int64(0), 0.0
    for t in range(len(view.class_total)):
        weight = view.class_weight[t]
        result += log_rising(weight, view.class_total[t], math.log(weight))
        total += view.class_total[t]
        strength += weight
    return result - log_rising(strength, total, math.log(strength))
