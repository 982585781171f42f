"""One annotator's labels as counts, to move them from cluster to cluster as a whole (cBCC)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from benchmarks.twin.kernels.answers import Shapes
from benchmarks.twin.numeric.jit import piece
from benchmarks.twin.numeric.rising import log_rising_after

IntArray = NDArray[np.int32]


class Cells(NamedTuple):
    """One annotator's labels as counts, with the lists of what is not zero."""

    said: IntArray  # (classes, answers)   n[l, t, c]
    said_total: IntArray  # (classes,)           n[l, t]
    row: IntArray  # (classes,)           t with n[l, t] > 0
    cell: IntArray  # (cells, 2)           (t, c) with n[l, t, c] > 0
    lengths: IntArray  # (2,)                 how many rows, how many cells


def new_cells(data: Codes) -> Cells:
    """Give room for the labels of any one annotator."""
    most = int(np.diff(data.annotator_start).max(initial=0))
    n_cells = min(most, data.n_classes * data.n_answers)
    return Cells(
        np.zeros((data.n_classes, data.n_answers), np.int32),
        np.zeros(data.n_classes, np.int32),
        np.zeros(data.n_classes, np.int32),
        np.zeros((n_cells, 2), np.int32),
        np.zeros(2, np.int32),
    )


@piece
def gather_cells(l: int, truth: IntArray, data: Codes, cells: Cells) -> None:
    """Count annotator l's labels by true class and answer, in place of what was in ``cells``."""
    for k in range(cells.lengths[1]):
        cells.said[cells.cell[k, 0], cells.cell[k, 1]] = 0
        cells.said_total[cells.cell[k, 0]] = 0
    cells.lengths[:] = 0
    for k in range(data.annotator_start[l], data.annotator_start[l + 1]):
        t = truth[data.annotator_item[k]]
        c = data.annotator_answer[k]
        if cells.said_total[t] == 0:
            cells.row[cells.lengths[0]] = t
            cells.lengths[0] += 1
        if cells.said[t, c] == 0:
            cells.cell[cells.lengths[1], 0] = t
            cells.cell[cells.lengths[1], 1] = c
            cells.lengths[1] += 1
        cells.said[t, c] += 1
        cells.said_total[t] += 1


@piece
def add_cells(cells: Cells, sign: int, m: int, said: IntArray, said_total: IntArray) -> None:
    """Add the annotator's labels to matrix m's counts, or take them out with ``sign`` -1."""
    for k in range(cells.lengths[1]):
        t, c = cells.cell[k, 0], cells.cell[k, 1]
        said[m, t, c] += sign * cells.said[t, c]
        said_total[m, t] += sign * cells.said[t, c]


@piece
def log_predictive(
    cells: Cells, m: int, said: IntArray, said_total: IntArray, shapes: Shapes
) -> float:
    """Give the log probability of the annotator's labels after matrix m's other labels.

    Sum over t of sum over c of log (n[m, t, c] + beta eta[c])_(n[l, t, c]) minus
    log (n[m, t] + beta)_(n[l, t]), where (x)_(n) is the rising factorial.

    Parameters
    ----------
    cells
        The annotator's labels, n[l, t, c].
    m, said, said_total
        Which matrix; the counts n[m, t, c] and n[m, t] of all of them.
    shapes
        The Dirichlet shapes, one base.
    """
    result = 0.0
    for k in range(cells.lengths[0]):
        t = cells.row[k]
        beta, log_beta = shapes.strength[0, t], shapes.log_strength[0, t]
        result -= log_rising_after(beta, said_total[m, t], cells.said_total[t], log_beta)
    for k in range(cells.lengths[1]):
        t, c = cells.cell[k, 0], cells.cell[k, 1]
        weight, log_weight = (
            shapes.weight[0, t, c],
            shapes.log_strength[0, t] + shapes.log_mean[0, t, c],
        )
        result += log_rising_after(weight, said[m, t, c], cells.said[t, c], log_weight)
    return result
