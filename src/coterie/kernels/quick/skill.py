"""Skill model: one number per annotator, the chance to be right; mistakes fall evenly.

Expectation-maximisation item by item, each weighed by what all *other* items say (CVB0): an item
that helped to call its annotators good would otherwise believe them twice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.numeric.jit import kernel, part, piece

FloatArray = NDArray[np.float64]

STRENGTH = 4.0
"""Labels that the crowd's skill is worth beside an annotator's own."""
RIGHT, SEEN = 7.0, 10.0
"""What the crowd's skill starts from: seven right of ten, the paper's 0.7."""


class Skills(NamedTuple):
    """How often each annotator is right, expected."""

    right: FloatArray  # (annotators,)   k[l]
    seen: FloatArray  # (annotators,)   m[l]   labels among the classes


def fit_skills(
    codes: Codes, probability: FloatArray, log_weight: FloatArray, tolerance: float, most: int
) -> int:
    """Change the classes' probabilities until none moves by the tolerance; give the passes made.

    Parameters
    ----------
    codes
        The labels. Extra answers say nothing of the truth here.
    probability
        Where to start, shape (items, classes); changed in place. Gold items stay as they are.
    log_weight
        Written: the log weights of each item's classes, shape (items, classes).
    tolerance, most
        When to stop: no probability moves by so much, or so many passes.
    """
    n_annotators = len(codes.annotator_start) - 1
    skills = Skills(np.zeros(n_annotators), np.zeros(n_annotators))
    count_right(codes, probability, skills)
    return run_passes(codes, probability, log_weight, skills, (tolerance, most))


@kernel
def count_right(codes: Codes, probability: FloatArray, skills: Skills) -> None:
    """Add every item to the annotators' counts."""
    for i in range(len(codes.gold)):
        add_item(i, 1.0, codes, probability, skills)


@piece
def add_item(i: int, sign: float, codes: Codes, probability: FloatArray, skills: Skills) -> None:
    """Add an item to the counts of its annotators, or take it out (sign -1)."""
    for k in range(codes.item_start[i], codes.item_start[i + 1]):
        l, c = codes.item_annotator[k], codes.item_answer[k]
        if c < codes.n_classes:
            skills.right[l] += sign * probability[i, c]
            skills.seen[l] += sign


@piece
def weigh_by_skill(
    i: int, crowd: float, codes: Codes, skills: Skills, log_weight: FloatArray
) -> None:
    """Write log p[l] for the class that a label names and log (1 - p[l]) / (T - 1) for others."""
    others = codes.n_classes - 1
    every = 0.0
    for t in range(codes.n_classes):
        log_weight[i, t] = 0.0
    for k in range(codes.item_start[i], codes.item_start[i + 1]):
        l, c = codes.item_annotator[k], codes.item_answer[k]
        if c < codes.n_classes:
            p = (skills.right[l] + STRENGTH * crowd) / (skills.seen[l] + STRENGTH)
            # Wrong for all classes, put right for one: a label costs one step, not one per class.
            wrong = math.log((1 - p) / others)
            every += wrong
            log_weight[i, c] += math.log(p) - wrong
    for t in range(codes.n_classes):
        log_weight[i, t] += every


@part
def pass_over(
    codes: Codes, probability: FloatArray, log_weight: FloatArray, skills: Skills
) -> float:
    """Update every item without gold once; give the largest move of a probability."""
    right, seen, largest = 0.0, 0.0, 0.0
    for l in range(len(skills.right)):
        right += skills.right[l]
        seen += skills.seen[l]
    crowd = (right + RIGHT) / (seen + SEEN)
    for i in range(len(codes.gold)):
        if codes.item_start[i] < codes.item_start[i + 1]:
            known = codes.gold[i] >= 0
            add_item(i, -1.0, codes, probability, skills)
            weigh_by_skill(i, crowd, codes, skills, log_weight)
            if not known:
                largest = max(largest, move_item(i, log_weight, probability))
            add_item(i, 1.0, codes, probability, skills)
    return largest


@piece
def move_item(i: int, log_weight: FloatArray, probability: FloatArray) -> float:
    """Give item i the probabilities of its log weights; return the largest move."""
    n_classes = probability.shape[1]
    # The highest log weight is taken off, so that the sum is at least one.
    highest, total, largest = -math.inf, 0.0, 0.0
    for t in range(n_classes):
        highest = max(highest, log_weight[i, t])
    for t in range(n_classes):
        total += math.exp(log_weight[i, t] - highest)
    for t in range(n_classes):
        new = math.exp(log_weight[i, t] - highest) / total
        largest = max(largest, abs(new - probability[i, t]))
        probability[i, t] = new
    return largest


@kernel
def run_passes(
    codes: Codes,
    probability: FloatArray,
    log_weight: FloatArray,
    skills: Skills,
    stop: tuple[float, int],
) -> int:
    """Pass over the items until they rest."""
    tolerance, most = stop
    for done in range(most):
        if pass_over(codes, probability, log_weight, skills) < tolerance:
            return done + 1
    return most
