"""The row map: from which row of the pool an annotator answers, whose counts and shapes it has."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.shapes import Shapes, flat
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

TINY_FACTOR = 1e-15
"""Smaller factors are left to logarithms: the shapes may have underflowed."""
TINY_PRODUCT = 1e-150
"""So are smaller products."""
STRETCH = 16
"""Labels whose numerators and denominators are multiplied before they are divided. Sixteen counts
of nine digits make 1e144, as many factors of ``TINY_FACTOR`` 1e-240: neither product leaves the
range of floats. (Where huge shapes do, the quotient is no number, and logarithms are used.)"""


class Rows(NamedTuple):
    """A pool of rows, flat: answer c of row r is counted ``stride * c`` places after its first.

    Rows of one matrix may lie side by side or class by class, whatever the model counts in.
    """

    row: IntArray  # (annotators, cells)   r, the place of its total
    place: IntArray  # (annotators, cells)   the place of its first answer's count
    stride: int
    said: IntArray  # (rows * answers,)     n[r, c]
    said_total: IntArray  # (rows,)               n[r]
    shape_row: IntArray  # (rows,)               the place of its strength
    shape_place: IntArray  # (rows,)               the place of its first answer's shape
    shapes: Shapes  # flat


def map_matrices(matrix: IntArray, n_classes: int, n_answers: int) -> tuple[IntArray, IntArray]:
    """Give rows and places of cells f = k T + t that answer by row t of a matrix per kind.

    Parameters
    ----------
    matrix
        Which matrix annotator l answers from in kind k, shape (L, K).
    n_classes, n_answers
        Of the counts, of shape (matrices, answers, classes).

    Returns
    -------
    The row map and the places of first answers, shape (L, K T) each.

    Examples
    --------
    >>> row, place = map_matrices(np.array([[0, 2]]), 2, 3)
    >>> row, place
    (array([[0, 1, 4, 5]], dtype=int32), array([[ 0,  1, 12, 13]], dtype=int32))
    """
    t = np.arange(n_classes, dtype=np.int32)
    wide = matrix.astype(np.int32)[:, :, None]
    flat = (len(matrix), -1)
    row = (wide * n_classes + t).reshape(flat)
    place = (wide * (n_answers * n_classes) + t).reshape(flat)
    return row.astype(np.int32), place.astype(np.int32)


def map_shapes(base: IntArray, n_classes: int, n_answers: int) -> tuple[IntArray, IntArray]:
    """Give where the shapes of all matrices' rows are, from which base each has, shape (M,).

    Examples
    --------
    >>> map_shapes(np.array([1, 0]), 2, 3)
    (array([2, 3, 0, 1], dtype=int32), array([6, 7, 0, 1], dtype=int32))
    """
    row, place = map_matrices(base[:, None], n_classes, n_answers)
    return row.reshape(-1), place.reshape(-1)


def rows_of(
    said: IntArray, said_total: IntArray, matrix: IntArray, base: IntArray, shapes: Shapes
) -> Rows:
    """Show counts of matrices, shape (M, C, T), to the update of cells f = k T + t.

    Parameters
    ----------
    said, said_total
        n[m, t, c], and its sum over c, shape (M, T).
    matrix
        Which matrix annotator l answers from in kind k, shape (L, K).
    base
        Whose shapes each matrix has, shape (M,).
    shapes
        By base.
    """
    _, n_answers, n_classes = said.shape
    row, place = map_matrices(matrix, n_classes, n_answers)
    shape_row, shape_place = map_shapes(base, n_classes, n_answers)
    return Rows(
        row=row,
        place=place,
        stride=n_classes,
        said=said.reshape(-1),
        said_total=said_total.reshape(-1),
        shape_row=shape_row,
        shape_place=shape_place,
        shapes=flat(shapes),
    )


@piece
def first_place(r: int, stride: int, n_answers: int) -> int:
    """Give the place of row r's first answer: number r % stride of its matrix's rows."""
    return (r - r % stride) * n_answers + r % stride


@piece
def count_label(k: int, f: int, sign: int, rows: Rows, data: Codes) -> None:
    """Count label k of all under cell f, or take it out."""
    l = data.item_annotator[k]
    rows.said[rows.place[l, f] + data.item_answer[k] * rows.stride] += sign
    rows.said_total[rows.row[l, f]] += sign


@piece
def count_labels(i: int, f: int, sign: int, rows: Rows, data: Codes) -> None:
    """Count all labels of item i under cell f, or take them out."""
    for k in range(data.item_start[i], data.item_start[i + 1]):
        count_label(k, f, sign, rows, data)


@piece
def weigh_together(i: int, f: int, rows: Rows, data: Codes) -> float:
    """Give the probability of item i's labels in cell f, zero if it is too small.

    The item is taken out. Labels may share rows: each is counted before the next is weighed, and
    in the end none is.
    """
    shapes, product, least, up, down, left = rows.shapes, 1.0, 1.0, 1.0, 1.0, STRETCH
    for k in range(data.item_start[i], data.item_start[i + 1]):
        l, shift = data.item_annotator[k], data.item_answer[k] * rows.stride
        r, place = rows.row[l, f], rows.place[l, f] + shift
        factor = rows.said[place] + shapes.weight[rows.shape_place[r] + shift]
        least = min(least, factor)
        up *= factor
        down *= rows.said_total[r] + shapes.strength[rows.shape_row[r]]
        rows.said[place] += 1
        rows.said_total[r] += 1
        left -= 1
        if left == 0:
            product *= up / down
            up, down, left = 1.0, 1.0, STRETCH
            if not product > TINY_PRODUCT:
                least = 0.0
    count_labels(i, f, -1, rows, data)
    product *= up / down
    return product if least > TINY_FACTOR and product > TINY_PRODUCT else 0.0


@part
def log_labels(i: int, f: int, rows: Rows, data: Codes) -> float:
    """Give the log probability of item i's labels in cell f: never wrong, and slow.

    As in :func:`weigh_together`, each label is counted before the next is weighed.
    """
    shapes, result = rows.shapes, 0.0
    for k in range(data.item_start[i], data.item_start[i + 1]):
        l, shift = data.item_annotator[k], data.item_answer[k] * rows.stride
        r, place = rows.row[l, f], rows.place[l, f] + shift
        base, shape = rows.shape_row[r], rows.shape_place[r] + shift
        count, total = rows.said[place], rows.said_total[r]
        # With nothing counted the shape itself may have underflowed: use its log.
        log_beta = shapes.log_strength[base]
        log_up = math.log(count + shapes.weight[shape]) if count > 0 else 0.0
        result += log_up if count > 0 else log_beta + shapes.log_mean[shape]
        result -= math.log(total + shapes.strength[base]) if total > 0 else log_beta
        count_label(k, f, 1, rows, data)
    count_labels(i, f, -1, rows, data)
    return result
