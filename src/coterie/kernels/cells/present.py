"""Weigh an item that is still counted: most items keep their cell, and then nothing is written.

It takes cells that share no rows. Where annotators share none either, a label is a look-up and a
multiplication: its ratio is tabulated, and again with one label less, for the item's own cell.
"""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.cells.rows import (
    TINY_PRODUCT,
    Rows,
    Work,
    count_labels,
    weigh_together,
)
from coterie.numeric.jit import piece

ONE, TWO = np.uintp(1), np.uintp(2)  # uintp + int would be a float


@piece
def is_quick(i: int, work: Work) -> bool:
    """Say whether item i can be weighed while it is counted."""
    return bool(len(work.ratios.ratio) > 0 and not work.repeated[i])


@piece
def find_labels(i: int, rows: Rows, data: Codes, work: Work) -> None:
    """Note where the ratios of item i's labels are."""
    start, stride = np.uintp(data.item_start[i]), np.uintp(rows.stride)
    first, label = work.ratios.first, work.ratios.label
    for k in range(np.uintp(data.item_start[i + 1]) - start):
        l, c = np.uintp(data.item_annotator[start + k]), np.uintp(data.item_answer[start + k])
        label[k] = first[l] + c * stride


@piece
def weigh_present(i: int, f: int, own: int, rows: Rows, data: Codes, work: Work) -> float:
    """Give the probability of item i's labels in cell f, zero if it is too small.

    The item is counted in cell ``own``, and its labels are found.
    """
    if work.apart[f]:
        return multiply_ratios(f, f == own, data.item_start[i + 1] - data.item_start[i], work)
    if f != own:
        return weigh_together(i, f, rows, data)
    count_labels(i, f, -1, rows, data)
    weight = weigh_together(i, f, rows, data)
    count_labels(i, f, 1, rows, data)
    return weight


@piece
def multiply_ratios(f: int, own: bool, n: int, work: Work) -> float:
    """Multiply the tabulated ratios of n labels in cell f; zero if the product is too small."""
    ratio, label = work.ratios.ratio, work.ratios.label
    place = work.ratios.offset[f] + np.uintp(own) * np.uintp(len(work.above))
    k, end, product, second = np.uintp(0), np.uintp(n), 1.0, 1.0
    # Two products at a time: a multiplication takes four beats, but another can start meanwhile.
    while k + ONE < end:
        product *= ratio[label[k] + place]
        second *= ratio[label[k + ONE] + place]
        k += TWO
    if k < end:
        product *= ratio[label[k] + place]
    product *= second
    return product if product > TINY_PRODUCT else 0.0
