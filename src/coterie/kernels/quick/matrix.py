"""Matrix model: a confusion matrix per annotator, drawn towards the crowd's, and class proportions.

The loop of :mod:`coterie.kernels.quick.skill`: each item is weighed by what all others say. Arrays
over answers are laid out (annotator, answer, class): one label reads one run of memory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.quick.skill import RIGHT, SEEN, move_item
from coterie.numeric.jit import kernel, part, piece

FloatArray = NDArray[np.float64]

OWN = 10.0
"""Labels that the crowd's matrix is worth beside an annotator's own, for each true class."""
CROWD = 1000.0
"""Labels that the one-coin matrix is worth beside the crowd's counts, for each true class."""
BALANCE = 0.1
"""Items of each class that are added to the class totals, as a share of all items."""
STRETCH = 8
"""So many ratios are multiplied before a logarithm is taken: they cannot underflow."""


class Counts(NamedTuple):
    """Expected counts, and their sums over answers and annotators."""

    said: FloatArray  # (annotators, answers, classes)   n[l, t, c]
    said_total: FloatArray  # (annotators, classes)            n[l, t]
    crowd: FloatArray  # (answers, classes)               G[t, c]
    crowd_total: FloatArray  # (classes,)                       G[t]
    class_total: FloatArray  # (classes,)                       N[t]
    product: FloatArray  # (classes,)                       room to multiply


def new_counts(codes: Codes, probability: FloatArray) -> Counts:
    """Count every item under its probabilities, shape (items, classes)."""
    n_annotators = len(codes.annotator_start) - 1
    n_classes, n_answers = codes.n_classes, codes.n_answers
    counts = Counts(
        said=np.zeros((n_annotators, n_answers, n_classes)),
        said_total=np.zeros((n_annotators, n_classes)),
        crowd=np.zeros((n_answers, n_classes)),
        crowd_total=np.zeros(n_classes),
        class_total=np.zeros(n_classes),
        product=np.zeros(n_classes),
    )
    count_all(codes, probability, counts)
    return counts


@kernel
def count_all(codes: Codes, probability: FloatArray, counts: Counts) -> None:
    """Add every item that has labels or gold."""
    for i in range(len(codes.gold)):
        if is_counted(i, codes):
            add_item(i, 1.0, codes, probability, counts)


@piece
def is_counted(i: int, codes: Codes) -> bool:
    """Say whether anything is known of item i."""
    return bool(codes.gold[i] >= 0 or codes.item_start[i] < codes.item_start[i + 1])


@piece
def add_item(i: int, sign: float, codes: Codes, probability: FloatArray, counts: Counts) -> None:
    """Add an item to the counts, or take it out (sign -1)."""
    for t in range(codes.n_classes):
        counts.class_total[t] += sign * probability[i, t]
    for k in range(codes.item_start[i], codes.item_start[i + 1]):
        l, c = codes.item_annotator[k], codes.item_answer[k]
        for t in range(codes.n_classes):
            one = sign * probability[i, t]
            counts.said[l, c, t] += one
            counts.said_total[l, t] += one
            counts.crowd[c, t] += one
            counts.crowd_total[t] += one


@piece
def crowd_skill(codes: Codes, counts: Counts) -> float:
    """Give the share of right labels in the crowd, from seven of ten."""
    right, seen = 0.0, 0.0
    for t in range(codes.n_classes):
        right += counts.crowd[t, t]
        seen += counts.crowd_total[t]
    return (right + RIGHT) / (seen + SEEN)


@piece
def base_of(c: int, t: int, skill: float, codes: Codes, counts: Counts) -> float:
    """Give b[t, c], the crowd's matrix drawn towards one coin for all."""
    one_coin = skill if c == t else (1 - skill) / (codes.n_answers - 1)
    return float((counts.crowd[c, t] + CROWD * one_coin) / (counts.crowd_total[t] + CROWD))


@piece
def weigh_by_matrix(
    i: int, setting: tuple[float, float], codes: Codes, counts: Counts, log_weight: FloatArray
) -> None:
    """Write log class proportion plus the log ratios of item i's labels, the item taken out."""
    skill, n_items = setting
    spread, product = BALANCE * n_items, counts.product
    for t in range(codes.n_classes):
        share = (counts.class_total[t] + spread) / (n_items - 1 + spread * codes.n_classes)
        log_weight[i, t] = math.log(share)
        product[t] = 1.0
    in_product = 0
    for k in range(codes.item_start[i], codes.item_start[i + 1]):
        l, c = codes.item_annotator[k], codes.item_answer[k]
        for t in range(codes.n_classes):
            base = base_of(c, t, skill, codes, counts)
            product[t] *= (counts.said[l, c, t] + OWN * base) / (counts.said_total[l, t] + OWN)
        in_product += 1
        if in_product == STRETCH or k + 1 == codes.item_start[i + 1]:
            for t in range(codes.n_classes):
                log_weight[i, t] += math.log(product[t])
                product[t] = 1.0
            in_product = 0


@part
def pass_over(
    n_items: float,
    codes: Codes,
    probability: FloatArray,
    log_weight: FloatArray,
    counts: Counts,
) -> float:
    """Update every item without gold once; give the largest move of a probability."""
    setting, largest = (crowd_skill(codes, counts), n_items), 0.0
    for i in range(len(codes.gold)):
        if codes.item_start[i] < codes.item_start[i + 1]:
            add_item(i, -1.0, codes, probability, counts)
            weigh_by_matrix(i, setting, codes, counts, log_weight)
            if codes.gold[i] < 0:
                largest = max(largest, move_item(i, log_weight, probability))
            add_item(i, 1.0, codes, probability, counts)
    return largest


@kernel
def fit_matrices(
    codes: Codes,
    probability: FloatArray,
    log_weight: FloatArray,
    counts: Counts,
    stop: tuple[float, int],
) -> int:
    """Change the classes' probabilities until none moves by the tolerance; give the passes made.

    The parameters are those of :func:`coterie.kernels.quick.skill.fit_skills`.
    """
    tolerance, most = stop
    n_items = 0.0
    for i in range(len(codes.gold)):
        n_items += is_counted(i, codes)
    for done in range(most):
        if pass_over(n_items, codes, probability, log_weight, counts) < tolerance:
            return done + 1
    return int(most)


def matrices_of(codes: Codes, counts: Counts) -> FloatArray:
    """Give everybody's confusion matrix, shape (annotators, classes, answers)."""
    skill = crowd_skill(codes, counts)
    base = np.array(
        [
            [base_of(c, t, skill, codes, counts) for c in range(codes.n_answers)]
            for t in range(codes.n_classes)
        ]
    )
    said = counts.said.swapaxes(1, 2)
    return np.asarray((said + OWN * base) / (counts.said_total[:, :, None] + OWN))


def balance_of(counts: Counts) -> FloatArray:
    """Give the class proportions, shape (classes,)."""
    n_items = counts.class_total.sum()
    weight = counts.class_total + (BALANCE * n_items if n_items > 0 else 1.0)
    return np.asarray(weight / weight.sum())
