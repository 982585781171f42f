"""The truths of items, given matrices: every item by itself, with random numbers of its own.

    p(z[i] = t | tau, Psi, y) is proportional to tau[t] product over labels of Psi[l, t, c].

What comes back are integers, which sum to the same whatever the order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.choice import normalise, pick, scale_to_one
from coterie.numeric.jit import kernel, part, piece
from coterie.numeric.keyed import Stream, uniforms

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]

TINY_PRODUCT = 1e-200
"""Where the largest of the classes' products is smaller, logarithms are used. Where it is larger, a
class whose product has lost digits is 1e-100 times as probable, and no uniform number sees it."""


class Items(NamedTuple):
    """Some items and their labels; each label one number, of its annotator and its answer."""

    key: NDArray[np.uint64]  # (items,)
    item_start: LongArray  # (items + 1,)
    item_cell: IntArray  # (labels,)   annotator * answers + answer
    gold: IntArray  # (items,)   the known class, or -1
    winner: IntArray  # (items,)   whom the vote has elected, -1 where it is not clear


class Given(NamedTuple):
    """What the items of one sweep are given; kernels of items read it flat (:func:`flat_given`)."""

    balance: FloatArray  # (classes,)                       tau
    log_balance: FloatArray  # (classes,)
    chance: FloatArray  # (annotators, answers, classes)   Psi
    log_chance: FloatArray  # (annotators, answers, classes)


class Totals(NamedTuple):
    """What items are counted in: sums over parts of the items are the counts of all."""

    class_total: LongArray  # (classes,)                       n[t]
    said: IntArray  # (annotators, answers, classes)   n[l, t, c]
    agreed: LongArray  # (1,)   items whose truth is the vote's clear winner
    # Of models with hard items; others have no kinds, and arrays of no length.
    kind_total: LongArray  # (kinds,)     items of each kind
    source: LongArray  # (kinds, 2)   labels with g = 0, g = 1
    guessed: LongArray  # (answers,)   labels with g = 0


class Marks(NamedTuple):
    """What is noted of every item; arrays of no length note nothing."""

    weights: FloatArray  # (classes,)   room
    truth: IntArray  # (items,)
    sums: FloatArray  # (items, classes)   probabilities, summed over sweeps


def new_given(n_annotators: int, n_classes: int, n_answers: int) -> Given:
    """Give room for what items are given."""
    shape = (n_annotators, n_answers, n_classes)
    return Given(np.zeros(n_classes), np.zeros(n_classes), np.zeros(shape), np.zeros(shape))


def new_totals(n_annotators: int, n_classes: int, n_answers: int, n_kinds: int = 0) -> Totals:
    """Give counts of nothing."""
    return Totals(
        class_total=np.zeros(n_classes, np.int64),
        said=np.zeros((n_annotators, n_answers, n_classes), np.int32),
        agreed=np.zeros(1, np.int64),
        kind_total=np.zeros(n_kinds, np.int64),
        source=np.zeros((n_kinds, 2), np.int64),
        guessed=np.zeros(n_answers if n_kinds else 0, np.int64),
    )


def flat_given(given: Given) -> Given:
    """Show the same matrices in one dimension: a label's cell, times classes, is where it reads."""
    return given._replace(chance=given.chance.reshape(-1), log_chance=given.log_chance.reshape(-1))


def flat_totals(totals: Totals) -> Totals:
    """Show the same counts in one dimension."""
    return totals._replace(said=totals.said.reshape(-1))


@piece
def weigh_three(i: int, items: Items, given: Given, weights: FloatArray) -> None:
    """Write the weights of three classes, without a loop over them."""
    a, b, c = given.balance[0], given.balance[1], given.balance[2]
    for label in range(np.uintp(items.item_start[i]), np.uintp(items.item_start[i + 1])):
        place = np.uintp(items.item_cell[label]) * np.uintp(3)
        a *= given.chance[place]
        b *= given.chance[place + np.uintp(1)]
        c *= given.chance[place + np.uintp(2)]
    weights[0], weights[1], weights[2] = a, b, c


@piece
def weigh_two(i: int, items: Items, given: Given, weights: FloatArray) -> None:
    """Write the weights of two classes, without a loop over them."""
    a, b = given.balance[0], given.balance[1]
    for label in range(np.uintp(items.item_start[i]), np.uintp(items.item_start[i + 1])):
        place = np.uintp(items.item_cell[label]) * np.uintp(2)
        a *= given.chance[place]
        b *= given.chance[place + np.uintp(1)]
    weights[0], weights[1] = a, b


@piece
def weigh_many(i: int, items: Items, given: Given, weights: FloatArray) -> None:
    """Write the weights of any number of classes."""
    n_classes = np.uintp(len(weights))
    for t in range(n_classes):
        weights[t] = given.balance[t]
    for label in range(np.uintp(items.item_start[i]), np.uintp(items.item_start[i + 1])):
        place = np.uintp(items.item_cell[label]) * n_classes
        for t in range(n_classes):
            weights[t] *= given.chance[place + t]


@piece
def weigh_item(i: int, items: Items, given: Given, weights: FloatArray) -> float:
    """Write the weight of every class of item i; give the largest."""
    if len(weights) == 3:
        weigh_three(i, items, given, weights)
    elif len(weights) == 2:
        weigh_two(i, items, given, weights)
    else:
        weigh_many(i, items, given, weights)
    highest = 0.0
    for t in range(np.uintp(len(weights))):
        highest = weights[t] if weights[t] > highest else highest
    return highest


@part
def weigh_in_logs(i: int, items: Items, given: Given, weights: FloatArray) -> None:
    """Write the probability of every class of item i, whatever its size."""
    for t in range(len(weights)):
        weights[t] = given.log_balance[t]
    for label in range(items.item_start[i], items.item_start[i + 1]):
        place = items.item_cell[label] * len(weights)
        for t in range(len(weights)):
            weights[t] += given.log_chance[place + t]
    highest = -math.inf
    for t in range(len(weights)):
        highest = max(highest, weights[t])
    if highest == -math.inf:  # shapes that have underflowed to zero: nothing is known
        for t in range(len(weights)):
            weights[t] = given.log_balance[t]
    normalise(weights)


@piece
def choose_item(i: int, items: Items, given: Given, weights: FloatArray, u: float) -> int:
    """Pick a class for item i; the probabilities that it has are left in ``weights``."""
    if weigh_item(i, items, given, weights) > TINY_PRODUCT:
        scale_to_one(weights)
    else:
        weigh_in_logs(i, items, given, weights)
    return pick(weights, u)


@piece
def count_item(i: int, t: int, items: Items, totals: Totals) -> None:
    """Count item i under class t."""
    truth, n_classes = np.uintp(t), np.uintp(len(totals.class_total))
    totals.class_total[truth] += 1
    totals.agreed[0] += items.winner[i] == t
    for label in range(np.uintp(items.item_start[i]), np.uintp(items.item_start[i + 1])):
        totals.said[np.uintp(items.item_cell[label]) * n_classes + truth] += 1


@part
def sweep_part(items: Items, given: Given, stream: Stream, totals: Totals, marks: Marks) -> None:
    """Draw the truth of every item that is not known, and count all of them.

    Items with neither label nor gold are counted nowhere, which integrates them out.
    """
    weights = marks.weights
    for i in range(np.uintp(len(items.gold))):
        truth = items.gold[i]
        if truth < 0 and items.item_start[i] < items.item_start[i + 1]:
            u, _ = uniforms(stream, items.key[i], 0)
            truth = np.int32(choose_item(i, items, given, weights, u))
            if len(marks.sums) > 0:
                for t in range(np.uintp(len(weights))):
                    marks.sums[i, t] += weights[t]
        if truth >= 0:
            count_item(i, truth, items, totals)
            if len(marks.truth) > 0:
                marks.truth[i] = truth


@kernel
def sweep_items(items: Items, given: Given, stream: Stream, totals: Totals, marks: Marks) -> None:
    """Do the work of :func:`sweep_part`, called from Python."""
    sweep_part(items, given, stream, totals, marks)


@part
def count_votes(i: int, items: Items, n_answers: int, weights: FloatArray) -> None:
    """Write how many labels of each class item i has; extra answers are no votes."""
    for t in range(len(weights)):
        weights[t] = 0.0
    for label in range(items.item_start[i], items.item_start[i + 1]):
        answer = items.item_cell[label] % n_answers
        if answer < len(weights):
            weights[answer] += 1


@kernel
def elect_items(items: Items, n_answers: int, weights: FloatArray) -> int:
    """Note whom the vote of every item elects, where that is clear and not known; count those."""
    n_clear = 0
    for i in range(len(items.gold)):
        count_votes(i, items, n_answers, weights)
        best, n_tied = 0, 0
        for t in range(len(weights)):
            if weights[t] > weights[best]:
                best = t
        for t in range(len(weights)):
            n_tied += weights[t] == weights[best]
        is_clear = n_tied == 1 and items.gold[i] < 0
        items.winner[i] = best if is_clear else -1
        n_clear += is_clear
    return n_clear


@kernel
def start_items(
    items: Items,
    n_answers: int,
    noise: float,
    stream: Stream,
    totals: Totals,
    weights: FloatArray,
) -> None:
    """Count every item under the class that it starts with: the vote, or that of a random label.

    A share ``noise`` of the items starts with the class of one of their own labels.
    """
    for i in range(len(items.gold)):
        truth, start = items.gold[i], items.item_start[i]
        n = items.item_start[i + 1] - start
        if truth < 0 and n > 0:
            count_votes(i, items, n_answers, weights)
            best = 0
            for t in range(len(weights)):
                if weights[t] > weights[best]:
                    best = t
            u, v = uniforms(stream, items.key[i], 0)
            said = items.item_cell[start + int(v * n)] % n_answers
            truth = np.int32(said if u < noise and said < len(weights) else best)
        if truth >= 0:
            count_item(i, truth, items, totals)
