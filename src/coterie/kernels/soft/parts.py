"""What a pass over the items multiplies and sums, and how it weighs what is known or improbable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.numeric.jit import kernel

FloatArray = NDArray[np.float64]
WholeArray = NDArray[np.int64]

# An item whose labels are less probable than this is weighed in logarithms. The cells that
# underflow before that are out of the race: less than 1e-158 against the sum.
SMALL = 1e-150
BITS = 62
"""Of the whole numbers that sums are made of: no sum is longer."""


class Weights(NamedTuple):
    """What a pass multiplies; none of it need sum to one."""

    prior: FloatArray  # (1, cells) for all items alike, or (items, cells)
    rows: FloatArray  # (annotators, answers, cells)
    cell_class: NDArray[np.int32]  # (cells,)   a known class allows its own cells only


class Sums(NamedTuple):
    """What is expected, in whole numbers of 1 / scale; of the log weights whole and broken parts.

    Sums of parts of the items, of the same scales, add up to those of all.
    """

    cell_total: WholeArray  # (cells,)                         items in cell f
    said: WholeArray  # (annotators, answers, cells)     labels c of l for items in f
    log_weight: WholeArray  # (3,)   whole nats, parts of 1 / log_scale, items that nothing explains
    scale: float
    log_scale: float


@kernel
def weigh_in_logs(i: int, codes: Codes, weights: Weights, cells: FloatArray) -> float:
    """Write the cells' probabilities of an item that is known or improbable.

    Cells of other classes than a known one are impossible. An item that no cell explains (only
    for rows that were not estimated from it) falls back to the prior, or to even shares.

    Returns
    -------
    The log of the sum of the weights.
    """
    gold = codes.gold[i]
    prior = weights.prior[i if len(weights.prior) > 1 else 0]
    for f in range(len(cells)):
        allowed = gold < 0 or weights.cell_class[f] == gold
        cells[f] = np.log(prior[f]) if allowed and prior[f] > 0 else -np.inf
        for k in range(codes.item_start[i], codes.item_start[i + 1]):
            p = weights.rows[codes.item_annotator[k], codes.item_answer[k], f]
            cells[f] += np.log(p) if p > 0 else -np.inf
    peak = cells.max()  # taken off below: the largest weight is then one, and cannot underflow
    if peak == -np.inf:
        for f in range(len(cells)):
            allowed = gold < 0 or weights.cell_class[f] == gold
            cells[f] = prior[f] if allowed else 0.0
        if cells.sum() == 0:
            for f in range(len(cells)):
                cells[f] = 1.0 if gold < 0 or weights.cell_class[f] == gold else 0.0
        cells /= cells.sum()
        return float(peak)
    cells[:] = np.exp(cells - peak)
    total = cells.sum()
    cells /= total
    return float(peak + np.log(total))
