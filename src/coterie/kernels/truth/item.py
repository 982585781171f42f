"""The truth of one item, z[i]: weigh the classes, pick one, move the counts. For every model.

p(z[i] = t | rest) is proportional to n[t] + eps mu[t] times a ratio for each label of the item,

    (n[matrix, t, c] + beta eta[base, t, c]) / (n[matrix, t] + beta[base, t]),

with the counts of all other items *and of the item's labels before this one*. Known items (gold)
are counted and never move; items with neither label nor gold are not counted, which integrates
them out. The item stays in the counts while it is weighed; counts are written only where a truth
changes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.truth.own_matrix import weigh_many, weigh_two
from coterie.kernels.truth.shared_labels import base_places, note_together
from coterie.kernels.truth.view import TINY_FACTOR, TINY_PRODUCT, View, Work, add_shapes_to
from coterie.numeric.choice import normalise, pick, scale_to_one
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.rising import log_rising

IntArray = NDArray[np.int32]

# So many ratios are multiplied before the product is looked at.
STRETCH = 8
TINY_LOG = 1e-100


def starting_truth(truth: IntArray, data: Codes) -> tuple[IntArray, NDArray[np.int64]]:
    """Clamp gold, drop items that nobody knows anything about; give z (N,) and n[t] (T,)."""
    labelled = np.diff(data.item_start) > 0
    start = np.where(data.gold >= 0, data.gold, np.where(labelled, truth, -1)).astype(np.int32)
    return start, np.bincount(start[start >= 0], minlength=data.n_classes)


@piece
def weigh_together(i: int, view: View, data: Codes, work: Work) -> int:
    """Weigh the classes of item i: t weighs ``work.weights[t]`` times e to the ``work.logs[t]``.

    Labels may share matrices; they are noted in ``work.labels``. Returned is how many classes
    needed logs.
    """
    note_together(i, view, data, work.labels)
    n, in_logs = data.item_start[i + 1] - data.item_start[i], 0
    n_classes, t = np.uintp(data.n_classes), np.uintp(view.truth[i])
    for step in range(n_classes):
        # The item's own class comes first, then the others: no branch to guess wrong.
        own = step == 0
        if own:
            start = view.class_total[t] - 1 + view.class_weight[t]
            weight = multiply_own(start, n, work)
        else:
            start = view.class_total[t] + view.class_weight[t]
            weight = multiply_other(start, t, n, work)
        work.logs[t] = 0.0
        if weight == 0:
            work.logs[t] = math.log(start) + multiply_in_logs(i, t, own, view, data, work)
            weight = 1.0
            in_logs += 1
        work.weights[t] = weight
        t = t + np.uintp(1) if t + np.uintp(1) < n_classes else np.uintp(0)
    return in_logs


@piece
def multiply_other(product: float, t: np.uintp, n: int, work: Work) -> float:
    """Multiply by the ratios of n labels for a class other than the item's; zero if too small."""
    labels, least, k, end = work.labels, 1.0, np.uintp(0), np.uintp(n)
    while k < end:
        above, below = 1.0, 1.0
        stop = k + np.uintp(STRETCH)
        stop = stop if stop < end else end
        while k < stop:
            factor = work.above[labels.cell[k] + t] + labels.before[k]
            least = factor if factor < least else least
            above *= factor
            below *= work.below[labels.row[k] + t] + labels.before_row[k]
            k += np.uintp(1)
        product *= above / below
        if not product > TINY_PRODUCT:
            return 0.0
    return product if least > TINY_FACTOR else 0.0


@piece
def multiply_own(product: float, n: int, work: Work) -> float:
    """Multiply by the ratios of n labels for the item's own class; zero if too small."""
    labels, least, k, end = work.labels, 1.0, np.uintp(0), np.uintp(n)
    while k < end:
        above, below = 1.0, 1.0
        stop = k + np.uintp(STRETCH)
        stop = stop if stop < end else end
        while k < stop:
            factor = labels.own_above[k]
            least = factor if factor < least else least
            above *= factor
            below *= labels.own_below[k]
            k += np.uintp(1)
        product *= above / below
        if not product > TINY_PRODUCT:
            return 0.0
    return product if least > TINY_FACTOR else 0.0


@part
def multiply_in_logs(i: int, t: np.uintp, own: bool, view: View, data: Codes, work: Work) -> float:
    """Give the log of the ratios of item i's labels for any class, whatever their size."""
    labels, shapes, product, result = work.labels, view.shapes, 1.0, 0.0
    start = data.item_start[i]
    for k in range(data.item_start[i + 1] - start):
        count, total = view.said[labels.cell[k] + t], view.said_total[labels.row[k] + t]
        before, before_row = int(labels.before[k]), int(labels.before_row[k])
        count += -1 - before if own else before
        total += -1 - before_row if own else before_row
        cell, row = base_places(start + k, view, data)
        above, below = count + shapes.weight[cell + t], total + shapes.strength[row + t]
        if above > TINY_LOG and below < 1 / TINY_LOG:
            product *= above / below
        else:
            # With nothing counted the shape itself may have underflowed: use its log.
            log_beta = shapes.log_strength[row + t]
            result += log_beta + shapes.log_mean[cell + t] if count == 0 else math.log(above)
            result -= log_beta if total == 0 else math.log(below)
        if product < TINY_PRODUCT:
            result += math.log(product)
            product = 1.0
    return result + math.log(product)


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
                work.above[cell] = view.said[cell] + view.shapes.weight[c * n_classes + t]
                work.below[row] = view.said_total[row] + view.shapes.strength[t]
                view.own[(l * n_answers + c) * n_classes + t] += sign


@piece
def choose_together(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Pick a class for item i; the probabilities that it has are left in ``work.weights``."""
    if weigh_together(i, view, data, work) > 0:
        for t in range(data.n_classes):
            work.weights[t] = math.log(work.weights[t]) + work.logs[t]
        normalise(work.weights)
    else:
        scale_to_one(work.weights)
    return pick(work.weights, u)


@piece
def choose_many(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Do so by tabulated ratios: everybody has a matrix of their own."""
    if not weigh_many(i, view, data, work):
        return choose_rarely(i, view, data, work, u)
    scale_to_one(work.weights)
    return pick(work.weights, u)


@piece
def choose_two(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Do so where there are two classes."""
    first, second = weigh_two(i, view, data, work)
    if first == 0:
        return choose_rarely(i, view, data, work, u)
    scale = 1 / (first + second)
    work.weights[0] = first * scale
    work.weights[1] = second * scale
    return int(u >= first * scale)


@part
def choose_rarely(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Do what ratios cannot, in logs: repeated labels, tiny weights. Called, not pasted."""
    note_together(i, view, data, work.labels)
    for t in range(np.uintp(data.n_classes)):
        own = t == np.uintp(view.truth[i])
        start = math.log(view.class_total[t] - own + view.class_weight[t])
        work.weights[t] = start + multiply_in_logs(i, np.uintp(t), own, view, data, work)
    normalise(work.weights)
    return pick(work.weights, u)


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
