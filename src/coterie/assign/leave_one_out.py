"""Beliefs without one annotator's labels, by taking out what each of them had brought.

A label c of an item with n labels moved belief from r to p[t] = r[t] (w Psi[t,c] / m[c] + 1 - w),
with m[c] = sum over t of r[t] Psi[t,c] and w its worth among n. Psi is the annotator's matrix
without this very label: of a row that rests on A labels, p[t] belongs to it. That is undone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import STRENGTH, Belief
from coterie.assign.channel import expect_answer
from coterie.data.codes import Codes
from coterie.numeric.jit import kernel, part

FloatArray = NDArray[np.float64]

ROUNDS = 8
"""Steps of the fixed point for r; it contracts by w at least."""
SMALLEST = 1e-6
"""No answer is thought less likely than this."""


def bits_per_label(codes: Codes, belief: Belief) -> FloatArray:
    """Give how far belief about an item would move without its annotator's labels, in bits.

    It is the divergence of belief as it is from belief without them. Of an annotator's repeated
    labels of one item the first has it, and the others 0.

    Returns
    -------
    Array of shape (labels,), in the order by annotator.
    """
    n_classes = codes.n_classes
    rests_on = np.full((len(codes.annotator_start) - 1, n_classes), STRENGTH)
    l = np.repeat(np.arange(len(rests_on)), np.diff(codes.annotator_start))
    np.add.at(rests_on, l, belief.items[codes.annotator_item])
    bits = np.zeros(len(codes.annotator_item))
    room = np.zeros((2, n_classes)), np.zeros((n_classes, codes.n_answers))
    _write_bits(codes, belief.items, belief.matrix, belief.ease,
                belief.overlap, rests_on, bits, room)  # fmt: skip
    return bits


@part
def take_out(
    c: int, after: FloatArray, matrix: FloatArray, worth: float, before: FloatArray
) -> None:
    """Write the belief that an answer has moved to ``after``."""
    for t in range(len(after)):
        before[t] = after[t]
    for _ in range(ROUNDS):
        chance, total = expect_answer(c, before, matrix), 0.0
        for t in range(len(after)):
            ratio = worth * matrix[t, c] / max(chance, SMALLEST) + 1.0 - worth
            before[t] = after[t] / max(ratio, SMALLEST)
            total += before[t]
        for t in range(len(after)):
            before[t] /= total


@part
def matrix_without(
    belief: FloatArray, whole: FloatArray, rests_on: FloatArray, c: int, matrix: FloatArray
) -> None:
    """Write a matrix as it would be without one label c of an item of this belief."""
    for t in range(len(belief)):
        base = max(rests_on[t] - belief[t], SMALLEST)
        for y in range(matrix.shape[1]):
            counted = rests_on[t] * whole[t, y] - (belief[t] if y == c else 0.0)
            matrix[t, y] = max(counted / base, SMALLEST)


@part
def divergence(p: FloatArray, q: FloatArray) -> float:
    """Give sum over t of p[t] log2(p[t] / q[t])."""
    total = 0.0
    for t in range(len(p)):
        if p[t] > 0:
            total += p[t] * math.log2(p[t] / max(q[t], 1e-300))
    return max(total, 0.0)


@kernel
def _write_bits(
    codes: Codes,
    items: FloatArray,
    matrix: FloatArray,
    ease: FloatArray,
    overlap: float,
    rests_on: FloatArray,
    bits: FloatArray,
    room: tuple[FloatArray, FloatArray],
) -> None:
    """Write the bits of each label, by annotator."""
    (belief, without), own = (room[0][0], room[0][1]), room[1]
    for l in range(len(rests_on)):
        k = codes.annotator_start[l]
        while k < codes.annotator_start[l + 1]:
            first, i = k, codes.annotator_item[k]
            n = codes.item_start[i + 1] - codes.item_start[i]
            for t in range(items.shape[1]):
                belief[t] = items[i, t]
            while k < codes.annotator_start[l + 1] and codes.annotator_item[k] == i:
                c = codes.annotator_answer[k]
                worth = ease[i] / (1 + overlap * max(n - 1 - (k - first), 0))
                matrix_without(items[i], matrix[l], rests_on[l], c, own)
                take_out(c, belief, own, worth, without)
                for t in range(items.shape[1]):
                    belief[t] = without[t]
                k += 1
            bits[first] = divergence(items[i], belief) if codes.gold[i] < 0 else 0.0
