"""One base for all matrices (iBCC, cBCC): labels weighed as counts, by tables of the shapes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.shapes import Shapes
from coterie.numeric.jit import piece
from coterie.numeric.rising import log_rising, log_rising_after

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

TABLE_SIZE = 2**18
"""Numbers that are tabulated at most, in all: they should stay in the cache."""
LONGEST_TABLE = 2**13
"""Of which for one cell."""


class Tables(NamedTuple):
    """Log rising factorials of the shapes, for counts n up to the length of a table."""

    cell: FloatArray  # (answers, classes, n)   log (beta eta)_(n)
    row: FloatArray  # (classes, n)            log (beta)_(n)


class Cells(NamedTuple):
    """One annotator's labels as counts: those that are not zero."""

    row: IntArray  # (classes, 2)   t, n[l, t]
    cell: IntArray  # (cells, 3)     t, c, n[l, t, c]
    lengths: IntArray  # (2,)           how many rows, how many cells


def tables_of(shapes: Shapes) -> Tables:
    """Tabulate the log rising factorials of the one base."""
    length = min(max(TABLE_SIZE // (shapes.weight.size + shapes.strength.size), 1), LONGEST_TABLE)
    log_weight = shapes.log_strength[:, None] + shapes.log_mean
    return Tables(
        _log_rising(shapes.weight[0], log_weight[0], length),
        _log_rising(shapes.strength[0], shapes.log_strength[0], length),
    )


def _log_rising(x: FloatArray, log_x: FloatArray, length: int) -> FloatArray:
    # The first factor is x itself, which may have underflowed: its log is handed in.
    logs = np.log(x[..., None] + np.arange(1, length))
    return np.cumsum(
        np.concatenate([np.zeros_like(x)[..., None], log_x[..., None], logs], axis=-1), axis=-1
    )


def new_cells(data: Codes) -> Cells:
    """Give room for the labels of any one annotator."""
    most = int(np.diff(data.annotator_start).max(initial=0))
    n_cells = min(most, data.n_classes * data.n_answers)
    return Cells(
        np.zeros((data.n_classes, 2), np.int32),
        np.zeros((n_cells, 3), np.int32),
        np.zeros(2, np.int32),
    )


@piece
def gather_cells(l: int, own: IntArray, cells: Cells) -> None:
    """Note annotator l's counts, own of shape (L, C, T), in place of what was in ``cells``."""
    n_rows, n_cells = 0, 0
    for t in range(own.shape[2]):
        total = 0
        for c in range(own.shape[1]):
            n = own[l, c, t]
            if n > 0:
                cells.cell[n_cells, 0] = t
                cells.cell[n_cells, 1] = c
                cells.cell[n_cells, 2] = n
                n_cells += 1
                total += n
        if total > 0:
            cells.row[n_rows, 0] = t
            cells.row[n_rows, 1] = total
            n_rows += 1
    cells.lengths[0] = n_rows
    cells.lengths[1] = n_cells


@piece
def add_cells(cells: Cells, sign: int, m: int, said: IntArray, said_total: IntArray) -> None:
    """Add the annotator's labels to matrix m's counts, or take them out with ``sign`` -1."""
    for k in range(cells.lengths[1]):
        t, c, n = cells.cell[k, 0], cells.cell[k, 1], cells.cell[k, 2]
        said[m, c, t] += sign * n
        said_total[m, t] += sign * n


@piece
def log_predictive(
    cells: Cells, m: int, said: IntArray, said_total: IntArray, shapes: Shapes, tables: Tables
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
    shapes, tables
        The Dirichlet shapes, one base; their log rising factorials as far as tabulated.
    """
    result = 0.0
    length = tables.row.shape[1]
    for k in range(cells.lengths[0]):
        t, n = cells.row[k, 0], cells.row[k, 1]
        before = said_total[m, t]
        # (x + before)_(n) = (x)_(before + n) / (x)_(before): two look-ups, whatever n is.
        if before + n < length:
            result -= tables.row[t, before + n] - tables.row[t, before]
        else:
            result -= log_rising_after(shapes.strength[0, t], before, n, shapes.log_strength[0, t])
    for k in range(cells.lengths[1]):
        t, c, n = cells.cell[k, 0], cells.cell[k, 1], cells.cell[k, 2]
        before = said[m, c, t]
        if before + n < length:
            result += tables.cell[c, t, before + n] - tables.cell[c, t, before]
        else:
            log_weight = shapes.log_strength[0, t] + shapes.log_mean[0, c, t]
            result += log_rising_after(shapes.weight[0, c, t], before, n, log_weight)
    return result


@piece
def log_marginal(
    m: int, said: IntArray, said_total: IntArray, shapes: Shapes, tables: Tables
) -> float:
    """Give the log probability of one matrix's labels, the matrix integrated out.

    Sum over t of sum over c of log (beta eta[c])_(n[m, t, c]) minus log (beta)_(n[m, t]).
    """
    result = 0.0
    length = tables.row.shape[1]
    for t in range(said.shape[2]):
        n, log_strength = said_total[m, t], shapes.log_strength[0, t]
        if n < length:
            result -= tables.row[t, n]
        else:
            result -= log_rising(shapes.strength[0, t], n, log_strength)
        for c in range(said.shape[1]):
            n = said[m, c, t]
            if n < length:
                result += tables.cell[c, t, n]
            else:
                log_weight = log_strength + shapes.log_mean[0, c, t]
                result += log_rising(shapes.weight[0, c, t], n, log_weight)
    return result
