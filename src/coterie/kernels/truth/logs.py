"""Weigh the classes of one item in logarithms: whatever its labels, never wrong, and slow.

Labels that share a matrix are not independent: each is weighed after those before it. Under the
item's present class, in whose counts it still is, a label counts down, n - 1 - (labels before it),
where under any other it counts up: the same factors in another order.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.truth.counts import TINY_PRODUCT, Labels, View, Work
from coterie.numeric.choice import normalise, pick
from coterie.numeric.jit import part, piece

TINY_LOG = 1e-100
"""Numbers between this and its inverse have all their digits: their ratios are multiplied. Others
get a logarithm each."""


@piece
def note_labels(i: int, view: View, data: Codes, labels: Labels) -> None:
    """Note where each label is counted, and which labels before it are counted there too."""
    start, t = np.uintp(data.item_start[i]), np.uintp(view.truth[i])
    n_classes, n_answers = np.uintp(data.n_classes), np.uintp(data.n_answers)
    n = np.uintp(data.item_start[i + 1]) - start
    base_row = np.uintp(0)
    for k in range(n):
        m = np.uintp(data.item_annotator[start + k])
        if len(view.matrix) > 0:
            m = np.uintp(view.matrix[m])
        if len(view.base) > 0:
            base_row = np.uintp(view.base[m]) * n_classes
        row, answer = m * n_classes, np.uintp(data.item_answer[start + k]) * n_classes
        cell = row * n_answers + answer
        labels.row[k] = row
        labels.cell[k] = cell
        before, before_row = labels.seen[cell], labels.seen_row[row]
        labels.seen[cell] = before + 1
        labels.seen_row[row] = before_row + 1
        labels.before[k] = before
        labels.before_row[k] = before_row
        rest, rest_row = view.said[cell + t] - 1 - before, view.said_total[row + t] - 1 - before_row
        labels.own_above[k] = rest + view.shapes.weight[base_row * n_answers + answer + t]
        labels.own_below[k] = rest_row + view.shapes.strength[base_row + t]
    for k in range(n):
        labels.seen[labels.cell[k]] = 0
        labels.seen_row[labels.row[k]] = 0


@piece
def base_places(k: int, view: View, data: Codes) -> tuple[np.uintp, np.uintp]:
    """Give the places, for class 0, of label k of all in the shapes and strengths of its base."""
    n_classes, n_answers = np.uintp(data.n_classes), np.uintp(data.n_answers)
    row = np.uintp(0)
    if len(view.base) > 0:
        row = np.uintp(view.base[data.item_annotator[k]]) * n_classes
    cell = row * n_answers + np.uintp(data.item_answer[k]) * n_classes
    return cell, row


@part
def log_ratios(i: int, t: np.uintp, own: bool, view: View, data: Codes, work: Work) -> float:
    """Give the log of the ratios of item i's noted labels for class t, its own or another."""
    labels, shapes, product, result = work.labels, view.shapes, 1.0, 0.0
    start = data.item_start[i]
    for k in range(data.item_start[i + 1] - start):
        count, total = view.said[labels.cell[k] + t], view.said_total[labels.row[k] + t]
        before, before_row = int(labels.before[k]), int(labels.before_row[k])
        count += -1 - before if own else before
        total += -1 - before_row if own else before_row
        cell, row = base_places(start + k, view, data)
        above, below = count + shapes.weight[cell + t], total + shapes.strength[row + t]
        # The product so far is above TINY_PRODUCT; so must the ratio be, or both may make a zero.
        in_range = above > TINY_LOG and below < 1 / TINY_LOG
        if in_range and above > TINY_PRODUCT * below:
            product *= above / below
        else:
            # With nothing counted the shape itself may have underflowed: use its log.
            log_beta = shapes.log_strength[row + t]
            result += log_beta + shapes.log_mean[cell + t] if count == 0 else math.log(above)
            result -= log_beta if total == 0 else math.log(below)
        if product < TINY_PRODUCT:  # one logarithm for many ratios, before they underflow
            result += math.log(product)
            product = 1.0
    return result + math.log(product)


@part
def choose_in_logs(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Pick a class for item i; the probabilities that it has are left in ``work.weights``."""
    note_labels(i, view, data, work.labels)
    for t in range(np.uintp(data.n_classes)):
        own = t == np.uintp(view.truth[i])
        start = math.log(view.class_total[t] - own + view.class_weight[t])
        work.weights[t] = start + log_ratios(i, np.uintp(t), own, view, data, work)
    normalise(work.weights)
    return pick(work.weights, u)
