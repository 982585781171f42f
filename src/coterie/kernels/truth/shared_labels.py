"""One item's labels, noted once: where each is counted, and which labels before it count there too.

Labels that share a matrix are not independent: each is weighed after those before it. Under the
item's present class, in whose counts it still is, a label counts down, n - 1 - (labels before it),
where under any other it counts up: the same factors in another order.
"""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.truth.view import Labels, View
from coterie.numeric.jit import piece


@piece
def note_together(i: int, view: View, data: Codes, labels: Labels) -> None:
    """Note the labels where some may share a matrix."""
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
