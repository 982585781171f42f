"""Weigh an item whose labels come from a matrix each: a look-up and a multiplication a label.

The ratio of every label is in the table ``work.ratio``, and in its second half with one label less,
which is what the item's own class needs: the item is still counted there.
"""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.truth.counts import TINY_PRODUCT, Labels, View, Work
from coterie.kernels.truth.logs import choose_in_logs
from coterie.numeric.choice import pick, scale_to_one
from coterie.numeric.jit import piece

ONE, TWO = np.uintp(1), np.uintp(2)  # uintp + int would be a float
NOBODY = np.int32(-1)  # of the type of an annotator: comparing others converts each of them


@piece
def weigh_two(i: int, view: View, data: Codes, work: Work) -> tuple[float, float]:
    """Give the weights of both of two classes; zeros if labels are repeated or a weight is tiny."""
    own, less = np.uintp(view.truth[i]), np.uintp(len(work.above))
    place_0, place_1 = (ONE - own) * less, own * less + ONE  # no branch to guess wrong
    weight_0 = view.class_total[0] - (own == 0) + view.class_weight[0]
    weight_1 = view.class_total[1] - (own == 1) + view.class_weight[1]
    # Two products at a time: a multiplication takes four beats, but another can start meanwhile.
    second_0, second_1 = 1.0, 1.0
    k, end = np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])
    repeated, last = False, NOBODY
    while k + ONE < end:
        cell, next_cell = cell_of(k, data), cell_of(k + ONE, data)
        weight_0 *= work.ratio[cell + place_0]
        weight_1 *= work.ratio[cell + place_1]
        second_0 *= work.ratio[next_cell + place_0]
        second_1 *= work.ratio[next_cell + place_1]
        l, next_l = data.item_annotator[k], data.item_annotator[k + ONE]
        repeated |= (l == last) | (l == next_l)  # an annotator's labels are neighbours
        last = next_l
        k += TWO
    if k < end:
        cell = cell_of(k, data)
        weight_0 *= work.ratio[cell + place_0]
        weight_1 *= work.ratio[cell + place_1]
        repeated |= data.item_annotator[k] == last
    weight_0 *= second_0
    weight_1 *= second_1
    if repeated or not (weight_0 > TINY_PRODUCT and weight_1 > TINY_PRODUCT):
        return 0.0, 0.0
    return weight_0, weight_1


@piece
def cell_of(k: np.uintp, data: Codes) -> np.uintp:
    """Give where label k is counted in its annotator's matrix, for the first class."""
    l, c = np.uintp(data.item_annotator[k]), np.uintp(data.item_answer[k])
    return (l * np.uintp(data.n_answers) + c) * np.uintp(data.n_classes)


@piece
def weigh_many(i: int, view: View, data: Codes, work: Work) -> bool:
    """Weigh any number of classes, unless labels are repeated or a weight is tiny; say whether so.

    Class t weighs ``work.weights[t]``.
    """
    if note_cells(i, data, work.labels) > 0:
        return False
    n, own = data.item_start[i + 1] - data.item_start[i], np.uintp(view.truth[i])
    in_range = True
    for t in range(np.uintp(data.n_classes)):
        weight = view.class_total[t] - (t == own) + view.class_weight[t]
        place = np.uintp(t == own) * np.uintp(len(work.above)) + t  # no branch to guess wrong
        weight = multiply_ratios(weight, place, n, work)
        in_range = in_range and weight > TINY_PRODUCT
        work.weights[t] = weight
    return in_range


@piece
def note_cells(i: int, data: Codes, labels: Labels) -> int:
    """Note where everybody's own matrix counts the labels; give how many labels are repeated."""
    start, end = np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])
    repeats, last = 0, -1
    for k in range(start, end):
        labels.cell[k - start] = cell_of(np.uintp(k), data)
        l = data.item_annotator[k]
        repeats += l == last  # an annotator's labels are neighbours
        last = l
    return repeats


@piece
def multiply_ratios(product: float, place: np.uintp, n: int, work: Work) -> float:
    """Multiply by the tabulated ratios of n labels, a place after their cells."""
    cell, ratio = work.labels.cell, work.ratio
    k, end, second = np.uintp(0), np.uintp(n), 1.0
    while k + ONE < end:  # two products at a time, as in weigh_two
        product *= ratio[cell[k] + place]
        second *= ratio[cell[k + ONE] + place]
        k += TWO
    if k < end:
        product *= ratio[cell[k] + place]
    return product * second


@piece
def choose_many(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Pick a class for item i; the probabilities that it has are left in ``work.weights``."""
    if not weigh_many(i, view, data, work):
        return choose_in_logs(i, view, data, work, u)
    scale_to_one(work.weights)
    return pick(work.weights, u)


@piece
def choose_two(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Do so where there are two classes."""
    first, second = weigh_two(i, view, data, work)
    if first == 0:
        return choose_in_logs(i, view, data, work, u)
    scale = 1 / (first + second)
    work.weights[0] = first * scale
    work.weights[1] = second * scale
    return int(u >= first * scale)
