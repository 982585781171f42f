"""One pass over the items: the probabilities of their cells, and what is expected under them.

An item sits in a cell f, which belongs to a class (of several sub-types, say; else cells are the
classes). Its prior has weight[f]; a label c of annotator l has weight rows[l, c, f] there. A pass
multiplies, normalises, and at once adds the item to the expected counts, so that nothing is stored
a label. Arrays over answers are laid out (annotator, answer, cell): one label reads one run of
memory. Expectation-maximisation and variational Bayes differ only in how weights come from counts.

Sums are in fixed point: probabilities become whole numbers of ``1 / scale``, whose sums are exact.
In which order, and in how many parts, items are added changes no bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.soft.parts import BITS, SMALL, Sums, Weights, weigh_in_logs
from coterie.kernels.soft.three import add_sweep_of_three
from coterie.numeric.jit import int64, kernel

FloatArray = NDArray[np.float64]
WholeArray = NDArray[np.int64]


class Size(NamedTuple):
    """How much there is to sum, of all items together."""

    n_annotators: int
    n_answers: int
    n_labels: int
    n_counted: int  # items, see is_counted


def new_sums(codes: Codes, n_cells: int) -> Sums:
    """Make sums of nothing, in the sizes of the data."""
    n_annotators, n_labels = len(codes.annotator_start) - 1, len(codes.item_answer)
    n_counted = int(np.count_nonzero(is_counted(codes)))
    return sums_of(Size(n_annotators, codes.n_answers, n_labels, n_counted), n_cells)


def sums_of(size: Size, n_cells: int) -> Sums:
    """Make sums of nothing, with scales that no sum can overflow."""
    return Sums(
        np.zeros(n_cells, np.int64),
        np.zeros((size.n_annotators, size.n_answers, n_cells), np.int64),
        np.zeros(3, np.int64),
        2.0 ** (BITS - max(size.n_counted, size.n_labels).bit_length()),
        2.0 ** (BITS - size.n_counted.bit_length()),
    )


def clear(sums: Sums) -> None:
    """Make sums those of nothing."""
    for array in (sums.cell_total, sums.said, sums.log_weight):
        array[:] = 0


def add_sums(sums: Sums, more: Sums) -> None:
    """Add sums of other items, of the same scales."""
    for array, other in zip(sums[:3], more[:3], strict=True):
        array += other


def is_counted(codes: Codes) -> NDArray[np.bool_]:
    """Say which items have a label or a known class; the others change nobody's estimate."""
    return (np.diff(codes.item_start) > 0) | (codes.gold >= 0)


def log_weight_of(sums: Sums) -> float:
    """Give the sum over counted items of the log of their weights' sum."""
    whole, broken, impossible = sums.log_weight.tolist()
    return -np.inf if impossible else whole + broken / sums.log_scale


@kernel
def add_item(i: int, codes: Codes, cells: FloatArray, sums: Sums) -> None:
    """Add an item's probabilities of cells, shape (cells,), to the expected counts."""
    for f in range(len(cells)):
        share = int64(cells[f] * sums.scale + 0.5)
        sums.cell_total[f] += share
        for k in range(codes.item_start[i], codes.item_start[i + 1]):
            sums.said[codes.item_annotator[k], codes.item_answer[k], f] += share


def count(codes: Codes, probability: FloatArray, sums: Sums) -> None:
    """Overwrite the expected counts with those under given probabilities, (items, cells)."""
    clear(sums)
    add_count(codes, probability, sums)


@kernel
def add_count(codes: Codes, probability: FloatArray, sums: Sums) -> None:
    """Add what is expected under given probabilities, (items, cells)."""
    for i in range(len(codes.gold)):
        if codes.item_start[i] < codes.item_start[i + 1] or codes.gold[i] >= 0:
            add_item(i, codes, probability[i], sums)


def sweep(codes: Codes, weights: Weights, probability: FloatArray, sums: Sums) -> None:
    """Weigh all items, and sum what is expected, in one pass: :func:`add_sweep` to nothing."""
    clear(sums)
    add_sweep(codes, weights, probability, sums)


def add_sweep(codes: Codes, weights: Weights, probability: FloatArray, sums: Sums) -> None:
    """Weigh items, and add what is expected to the sums, in one pass.

    Parameters
    ----------
    codes
        The labels.
    weights
        What is multiplied.
    probability
        Overwritten with the items' probabilities of cells, shape (items, cells). An item with
        neither label nor known class gets the prior, and is not counted.
    sums
        Added to.
    """
    if len(weights.cell_class) == 3 and len(weights.prior) == 1:
        # Its addresses are those of rows without gaps; what users start from may be a view.
        weights = weights._replace(rows=np.ascontiguousarray(weights.rows))
        add_sweep_of_three(codes, weights, probability, sums)
    else:
        add_sweep_of_any(codes, weights, probability, sums)


@kernel
def add_sweep_of_any(codes: Codes, weights: Weights, probability: FloatArray, sums: Sums) -> None:
    """Do the work of :func:`add_sweep`, for any number of cells."""
    # Names for the fields: reading them from the tuples within the loop is three times slower.
    start, annotator, answer = codes.item_start, codes.item_annotator, codes.item_answer
    gold, prior, rows, n_cells = codes.gold, weights.prior, weights.rows, len(weights.cell_class)
    said, cell_total, scale = sums.said, sums.cell_total, sums.scale
    own_prior = len(prior) > 1
    cells, share = np.empty(n_cells), np.empty(n_cells, np.int64)
    whole, broken, impossible = 0, 0, 0
    for i in range(len(gold)):
        first, last = start[i], start[i + 1]
        for f in range(n_cells):
            cells[f] = prior[i if own_prior else 0, f]
        for k in range(first, last):
            l, c = annotator[k], answer[k]
            for f in range(n_cells):
                cells[f] *= rows[l, c, f]
        total = 0.0
        for f in range(n_cells):
            total += cells[f]
        log_weight = 0.0
        if gold[i] >= 0 or total < SMALL:
            log_weight = weigh_in_logs(i, codes, weights, cells)
            total = 1.0
        elif first < last:
            log_weight = np.log(total)
        for f in range(n_cells):
            cells[f] /= total
            probability[i, f] = cells[f]
            share[f] = int64(cells[f] * scale + 0.5)
        if first == last and gold[i] < 0:
            continue  # see is_counted
        if log_weight == -np.inf:
            impossible += 1
        else:
            floor = np.floor(log_weight)
            whole += int64(floor)
            broken += int64((log_weight - floor) * sums.log_scale)
        for f in range(n_cells):
            cell_total[f] += share[f]
        for k in range(first, last):
            l, c = annotator[k], answer[k]
            for f in range(n_cells):
                said[l, c, f] += share[f]
    sums.log_weight[0] += whole
    sums.log_weight[1] += broken
    sums.log_weight[2] += impossible
