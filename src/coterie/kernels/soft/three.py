"""The pass of :mod:`coterie.kernels.soft.engine` for three cells, the commonest after two.

The same numbers to the last bit, in half the time: what is multiplied stays in registers, and a
label's three weights are found by one address.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.soft.parts import SMALL, Sums, Weights, weigh_in_logs
from coterie.numeric.jit import int64, kernel

FloatArray = NDArray[np.float64]
ONE, TWO = np.uint64(1), np.uint64(2)  # an unsigned address needs no look whether it is negative


@kernel
def add_sweep_of_three(codes: Codes, weights: Weights, probability: FloatArray, sums: Sums) -> None:
    """Weigh items, and add what is expected: see :func:`coterie.kernels.soft.engine.add_sweep`."""
    start, annotator, answer = codes.item_start, codes.item_annotator, codes.item_answer
    gold, prior, n_answers = codes.gold, weights.prior, int64(codes.n_answers)
    rows, said, scale = weights.rows.reshape(-1), sums.said.reshape(-1), sums.scale
    cells = np.empty(3)
    total_a, total_b, total_c, whole, broken, impossible = 0, 0, 0, 0, 0, 0
    for i in range(len(gold)):
        first, last = start[i], start[i + 1]
        a, b, c = prior[0, 0], prior[0, 1], prior[0, 2]
        for k in range(first, last):
            at = np.uint64(3 * (int64(annotator[k]) * n_answers + answer[k]))
            a *= rows[at]
            b *= rows[at + ONE]
            c *= rows[at + TWO]
        total, log_weight = a + b + c, 0.0
        if gold[i] >= 0 or total < SMALL:
            log_weight = weigh_in_logs(i, codes, weights, cells)
            a, b, c, total = cells[0], cells[1], cells[2], 1.0
        elif first < last:
            log_weight = np.log(total)
        a, b, c = a / total, b / total, c / total
        probability[i, 0], probability[i, 1], probability[i, 2] = a, b, c
        if first == last and gold[i] < 0:
            continue  # see is_counted
        if log_weight == -np.inf:
            impossible += 1
        else:
            floor = np.floor(log_weight)
            whole += int64(floor)
            broken += int64((log_weight - floor) * sums.log_scale)
        x, y, z = int64(a * scale + 0.5), int64(b * scale + 0.5), int64(c * scale + 0.5)
        total_a, total_b, total_c = total_a + x, total_b + y, total_c + z
        for k in range(first, last):
            at = np.uint64(3 * (int64(annotator[k]) * n_answers + answer[k]))
            said[at] += x
            said[at + ONE] += y
            said[at + TWO] += z
    for f, more in enumerate((total_a, total_b, total_c)):
        sums.cell_total[f] += more
    for f, more in enumerate((whole, broken, impossible)):
        sums.log_weight[f] += more
