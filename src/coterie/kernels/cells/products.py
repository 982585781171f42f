"""The probability of an item's labels in its cells, as products of what is in the tables.

In the cell in which the item is counted its own labels are left out: a label counts down, n - 1 -
(labels before it), where in any other it counts up: the same factors in another order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.rows import STRETCH, TINY_FACTOR, Rows
from coterie.kernels.cells.tables import Work
from coterie.numeric.jit import piece

FloatArray = NDArray[np.float64]

ONE, TWO = np.uintp(1), np.uintp(2)  # uintp + int would be a float


@piece
def multiply_all(i: int, own: int, prior: FloatArray, rows: Rows, data: Codes, work: Work) -> None:
    """Write the weight of every cell for item i: its prior times the probability of the labels.

    The labels are counted in cell ``own``, or nowhere: -1.
    """
    n_apart = len(work.ratios.cell)
    j = 0
    while j + 2 < n_apart:
        last = min(j + 3, n_apart - 1)
        first, second, third, fourth = multiply_four(i, j, own, prior, data, work)
        work.weights[work.ratios.cell[j]] = first
        work.weights[work.ratios.cell[j + 1]] = second
        work.weights[work.ratios.cell[j + 2]] = third
        work.weights[work.ratios.cell[last]] = fourth
        j += 4
    if j < n_apart:
        first, second = multiply_two(i, j, own, prior, data, work)
        work.weights[work.ratios.cell[j]] = first
        work.weights[work.ratios.cell[n_apart - 1]] = second
    for j in range(len(work.layers.first)):
        start, end = work.layers.first[j], work.layers.end[j]
        for f in range(start, end, 2):
            first, second = multiply_layer(i, j, f, prior, data, work)
            work.weights[f] = first
            work.weights[min(f + 1, end - 1)] = second
        if start <= own < end:
            work.weights[own] = prior[own] * multiply_own(i, j, own, rows, data, work)


@piece
def multiply_only_four(
    i: int, own: int, prior: FloatArray, rows: Rows, data: Codes, work: Work
) -> tuple[float, float, float, float]:
    """Do so where there are four cells, two of them or all apart, without writing anything."""
    if len(work.layers.first) == 0:
        return multiply_four(i, 0, own, prior, data, work)
    first, second = multiply_layer(i, 0, 0, prior, data, work)
    third, fourth = multiply_two(i, 0, own, prior, data, work)
    if own < 2:
        mine = prior[own] * multiply_own(i, 0, own, rows, data, work)
        first, second = (mine, second) if own == 0 else (first, mine)
    return first, second, third, fourth


@piece
def ratio_place(j: int, own: int, work: Work) -> np.uintp:
    """Give how far the ratios in number j of the cells apart are from those of the labels."""
    less = np.uintp(work.ratios.cell[j] == own)  # no branch to guess wrong
    place: np.uintp = work.ratios.offset[j] + less * np.uintp(len(work.above))
    return place


@piece
def multiply_four(
    i: int, j: int, own: int, prior: FloatArray, data: Codes, work: Work
) -> tuple[float, float, float, float]:
    """Multiply priors and ratios of item i's labels in four cells apart from number j, or three."""
    ratio, label, cell, last = work.ratios.ratio, work.ratios.label, work.ratios.cell, j + 3
    last = min(last, len(cell) - 1)
    place_0, place_1 = ratio_place(j, own, work), ratio_place(j + 1, own, work)
    place_2, place_3 = ratio_place(j + 2, own, work), ratio_place(last, own, work)
    # Four products at a time: a multiplication takes four beats, but others can start meanwhile.
    product_0, product_1 = prior[cell[j]], prior[cell[j + 1]]
    product_2, product_3 = prior[cell[j + 2]], prior[cell[last]]
    k, end = np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])
    while k + ONE < end:
        place, another = label[k], label[k + ONE]
        product_0 *= ratio[place + place_0] * ratio[another + place_0]
        product_1 *= ratio[place + place_1] * ratio[another + place_1]
        product_2 *= ratio[place + place_2] * ratio[another + place_2]
        product_3 *= ratio[place + place_3] * ratio[another + place_3]
        k += TWO
    if k < end:
        place = label[k]
        product_0 *= ratio[place + place_0]
        product_1 *= ratio[place + place_1]
        product_2 *= ratio[place + place_2]
        product_3 *= ratio[place + place_3]
    return product_0, product_1, product_2, product_3


@piece
def multiply_two(
    i: int, j: int, own: int, prior: FloatArray, data: Codes, work: Work
) -> tuple[float, float]:
    """Do so in two of them, or in the one there is."""
    ratio, label, cell = work.ratios.ratio, work.ratios.label, work.ratios.cell
    last = min(j + 1, len(cell) - 1)
    place_0, place_1 = ratio_place(j, own, work), ratio_place(last, own, work)
    product_0, product_1 = prior[cell[j]], prior[cell[last]]
    k, end = np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])
    while k + ONE < end:
        place, another = label[k], label[k + ONE]
        product_0 *= ratio[place + place_0] * ratio[another + place_0]
        product_1 *= ratio[place + place_1] * ratio[another + place_1]
        k += TWO
    if k < end:
        place = label[k]
        product_0 *= ratio[place + place_0]
        product_1 *= ratio[place + place_1]
    return product_0, product_1


@piece
def multiply_layer(
    i: int, j: int, f: int, prior: FloatArray, data: Codes, work: Work
) -> tuple[float, float]:
    """Multiply what item i's labels give in cells f and f + 1 of layer j, or in f alone.

    Labels may share rows: each is weighed after those before it. Numerators and denominators are
    multiplied apart for a stretch of labels, and one division serves them all.
    """
    layers, above, below = work.layers, work.above, work.below
    g = min(f + 1, layers.end[j] - 1)
    at_0, at_1 = np.uintp(f - layers.first[j]), np.uintp(g - layers.first[j])
    place_of, row_of = layers.place[j], layers.row[j]
    before_of, before_row_of = layers.before[j], layers.before_row[j]
    product_0, product_1 = prior[f], prior[g]
    k, end = np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])
    while k < end:
        up_0, up_1, down_0, down_1 = 1.0, 1.0, 1.0, 1.0
        stop = min(k + np.uintp(STRETCH), end)
        while k < stop:
            place, before = np.uintp(place_of[k]), before_of[k]
            row, before_row = np.uintp(row_of[k]), before_row_of[k]
            up_0 *= above[place + at_0] + before
            up_1 *= above[place + at_1] + before
            down_0 *= below[row + at_0] + before_row
            down_1 *= below[row + at_1] + before_row
            k += ONE
        product_0 *= up_0 / down_0
        product_1 *= up_1 / down_1
    return product_0, product_1


@piece
def multiply_own(i: int, j: int, f: int, rows: Rows, data: Codes, work: Work) -> float:
    """Do so in the cell of layer j in which item i is counted."""
    layers, shapes, product, least = work.layers, rows.shapes, 1.0, 1.0
    at = f - layers.first[j]
    k, end = data.item_start[i], data.item_start[i + 1]
    while k < end:
        up, down, stop = 1.0, 1.0, min(k + STRETCH, end)
        while k < stop:
            place, r = layers.place[j, k] + at, layers.row[j, k] + at
            shape = rows.shape_place[r] + data.item_answer[k] * rows.stride
            above = (rows.said[place] - 1 - layers.before[j, k]) + shapes.weight[shape]
            total = rows.said_total[r] - 1 - layers.before_row[j, k]
            least = min(least, above)
            up *= above
            down *= total + shapes.strength[rows.shape_row[r]]
            k += 1
        product *= up / down
    return product if least > TINY_FACTOR else 0.0
