"""One more answer about one item: what it tells, what it gains, and what is believed after it.

With belief p, matrix Psi and worth w, an answer c has the chance m[c] = sum over t of p[t] Psi[t,c]
and leaves the belief p[t] (w Psi[t,c] / m[c] + 1 - w): Bayes' rule with probability w, else nothing
new. On average that is p again, so that no answer is expected to move belief anywhere.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.jit import kernel, part, piece

FloatArray = NDArray[np.float64]

NOISE = 1e-12
"""Gains up to this are those of rounding."""


@piece
def expect_answer(c: int, belief: FloatArray, matrix: FloatArray) -> float:
    """Give the chance of an answer."""
    chance = 0.0
    for t in range(len(belief)):
        chance += belief[t] * matrix[t, c]
    return chance


@part
def information(belief: FloatArray, matrix: FloatArray, worth: float) -> float:
    """Give the information in bits that an answer is expected to bring about the item's class.

    Sum over t, c of p[t] q[t,c] log2(q[t,c] / m[c]) with q = w Psi + (1 - w) m.
    """
    total = 0.0
    for c in range(matrix.shape[1]):
        chance = expect_answer(c, belief, matrix)
        if chance <= 0.0:
            continue
        for t in range(len(belief)):
            ratio = worth * matrix[t, c] / chance + 1.0 - worth
            if belief[t] > 0.0 and ratio > 0.0:
                total += belief[t] * chance * ratio * math.log2(ratio)
    return max(total, 0.0)


@part
def accuracy_gain(belief: FloatArray, matrix: FloatArray, worth: float) -> float:
    """Give by how much an answer is expected to raise the chance that the label is right."""
    best = 0.0
    for t in range(len(belief)):
        best = max(best, belief[t])
    after = 0.0
    for c in range(matrix.shape[1]):
        chance, highest = expect_answer(c, belief, matrix), 0.0
        for t in range(len(belief)):
            highest = max(highest, belief[t] * (worth * matrix[t, c] + (1.0 - worth) * chance))
        after += highest
    return max(after - best, 0.0)


@part
def update_belief(c: int, belief: FloatArray, matrix: FloatArray, worth: float) -> None:
    """Move belief by an answer, in place; one that cannot be changes nothing."""
    chance = expect_answer(c, belief, matrix)
    if chance <= 0.0:
        return
    for t in range(len(belief)):
        belief[t] *= worth * matrix[t, c] / chance + 1.0 - worth


@part
def spread_beliefs(
    n: int, states: FloatArray, weights: FloatArray, matrix: FloatArray, worth: float
) -> int:
    """Replace n states of belief by what they become with every answer; give how many there are.

    States are rows of ``states`` with their chances in ``weights``. Where there is no room for all
    of them, the answers of the least probable states are left open, which keeps the mean of belief.
    """
    n_answers = matrix.shape[1]
    room, end = len(weights), n
    for s in range(n):
        if end + n_answers - 1 > room:
            break
        for c in range(n_answers - 1, -1, -1):
            chance = expect_answer(c, states[s], matrix)
            place = s if c == 0 else end
            for t in range(states.shape[1]):
                states[place, t] = states[s, t]
            weights[place] = weights[s] * chance
            update_belief(c, states[place], matrix, worth)
            end += 0 if c == 0 else 1
    sort_states(end, states, weights)
    return end


@part
def sort_states(n: int, states: FloatArray, weights: FloatArray) -> None:
    """Sort states by falling weight, by insertion: they are few, and nearly sorted."""
    for s in range(1, n):
        r = s
        while r > 0 and weights[r] > weights[r - 1]:
            weights[r], weights[r - 1] = weights[r - 1], weights[r]
            for t in range(states.shape[1]):
                states[r, t], states[r - 1, t] = states[r - 1, t], states[r, t]
            r -= 1


@part
def mean_information(
    n: int, states: FloatArray, weights: FloatArray, matrix: FloatArray, worth: float
) -> float:
    """Give the expected information over states of belief."""
    total = 0.0
    for s in range(n):
        total += weights[s] * information(states[s], matrix, worth)
    return total


def without_noise(gain: FloatArray) -> FloatArray:
    """Give gains, 0 where there is only the error of rounding: no label changes.

    Examples
    --------
    >>> without_noise(np.array([2e-16, 0.01])).tolist()
    [0.0, 0.01]
    """
    return np.where(gain > NOISE, gain, 0.0)


@part
def mean_gain(
    n: int, states: FloatArray, weights: FloatArray, matrix: FloatArray, worth: float
) -> float:
    """Give the expected gain in accuracy over states of belief."""
    total = 0.0
    for s in range(n):
        total += weights[s] * accuracy_gain(states[s], matrix, worth)
    return total


@kernel
def inform_all(items: FloatArray, worth: FloatArray, matrix: FloatArray, found: FloatArray) -> None:
    """Write the information and the gain of one more answer of each matrix about each item.

    Parameters
    ----------
    items, worth
        Belief, shape (items, classes), and what a label is worth, shape (items,).
    matrix
        Shape (people, classes, answers).
    found
        Shape (2, items, people): information in bits, gain in accuracy.
    """
    for i in range(len(items)):
        for l in range(len(matrix)):
            found[0, i, l] = information(items[i], matrix[l], worth[i])
            found[1, i, l] = accuracy_gain(items[i], matrix[l], worth[i])
