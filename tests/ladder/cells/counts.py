"""Counts of cells: of nothing yet, and how probable those of a state are."""

import numpy as np

from coterie.kernels.cells.rows import first_place
from coterie.numeric.rising import log_rising


def nothing_chosen(modules, space):
    """Counts of no item."""
    sizes = len(space.weight), len(space.block_weight)
    return modules.space.Chosen(*(np.zeros(size, np.int64) for size in sizes))


def log_rows(rows, n_answers):
    """The log probability of all labels that are counted, the rows integrated out."""
    shapes, stride, result = rows.shapes, rows.stride, 0.0
    for r, total in enumerate(rows.said_total):
        base, shape = rows.shape_row[r], rows.shape_place[r]
        log_beta = shapes.log_strength[base]
        result -= log_rising(shapes.strength[base], total, log_beta) if total else 0.0
        for c in range(n_answers):
            n, at = rows.said[first_place(r, stride, n_answers) + c * stride], shape + c * stride
            if n > 0:
                result += log_rising(shapes.weight[at], n, log_beta + shapes.log_mean[at])
    return result
