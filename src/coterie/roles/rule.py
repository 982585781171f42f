"""The rule that gives one confusion matrix exactly one role. docs/roles.md explains it.

Many matrices at once, the matrix last: ``psi[t, c]`` is a number for each of them. Of class
balances, ``tau[t]``, and of which classes are common, ``common[t]``, it is the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# The thresholds; the table in docs/roles.md holds the same numbers, and a test compares them.
NO_SKILL = 0.2  # nearer to chance than this, on either side, is no skill
ALWAYS = 0.7  # of a spammer's answers are the one it "mostly" gives
NEARLY_ALWAYS = 0.9  # and so many, the one it "always" gives
INFORMATIVE = 0.25  # as informative as a good annotator: GOOD_SKILL squared
EXPERT_ACCURACY = 0.85
EXPERT_SKILL = 0.7  # what an accuracy of 0.85 is with two equally frequent classes
GOOD_ACCURACY = 0.75
GOOD_SKILL = 0.5
BIASED = 0.3  # of the items of other classes are called X
BIASED_REST = 0.2  # also without the class that is called X most often
BIASED_GAP = 0.2  # so much more than any other answer is given wrongly
CONFUSED = 0.4  # of X's items are called Y
WEAK = 0.5  # of X's items at most are called X
ELSEWHERE = 0.7  # of the items of all other classes are called right, if one is weak
RARE = 0.25  # a class with less than this part of an even share is rare

BLOCK = 4_000
"""Matrices at once: their numbers stay in a core's cache."""

# Levels: every matrix has one. They are the first roles' codes.
SPAMMER, ADVERSARY, NOVICE, GOOD, EXPERT = range(5)
N_LEVELS = 5


class Codes(NamedTuple):
    """Where the codes of each pattern start: levels first, then one per label or pair of labels."""

    always: int  # + answer
    biased: int  # + answer
    weak: int  # + class
    confuses: int  # + class * number of classes + class it is taken for
    end: int


def find_codes(n_classes: int, n_answers: int) -> Codes:
    """Lay out the codes of all roles for matrices of this shape."""
    always = N_LEVELS
    biased = always + n_answers
    weak = biased + n_answers
    confuses = weak + n_classes
    return Codes(always, biased, weak, confuses, confuses + n_classes * n_classes)


def mark_common(tau: FloatArray) -> BoolArray:
    """Mark the classes that are not rare; the two most frequent never are.

    Examples
    --------
    >>> mark_common(np.array([[0.9, 0.5], [0.06, 0.4], [0.04, 0.1]])).tolist()
    [[True, True], [True, True], [False, True]]
    """
    common = np.asarray(tau * len(tau) >= RARE)
    most = np.argsort(-tau, axis=0, kind="stable")[:2]
    np.put_along_axis(common, most, True, axis=0)
    return common


class Measures(NamedTuple):
    """What the levels are read off; all of this crowd's class balance."""

    accuracy: FloatArray
    skill: FloatArray  # 0 for equal rows, 1 for the truth, below 0 for worse than chance
    information: FloatArray  # 0 for equal rows, 1 if every class has an answer of its own


def measure(psi: FloatArray, tau: FloatArray, said: FloatArray) -> Measures:
    """Measure matrices, given what a blind annotator of the same answers says, said[c].

    ::

        accuracy    = sum over t of tau[t] psi[t, t]
        skill       = sum over t of tau[t] (psi[t, t] - said[t]) / (1 - sum over t of tau[t]^2)
        information = sum over t of tau[t] |psi[t] - said|^2     / (1 - sum over t of tau[t]^2)
    """
    right = np.einsum("ttn->tn", psi[:, : len(psi)])
    most = (tau * (1.0 - tau)).sum(axis=0)
    most = np.maximum(most, 1e-300)  # one class has all items: nothing can be told apart
    return Measures(
        (tau * right).sum(axis=0),
        (tau * (right - said[: len(psi)])).sum(axis=0) / most,
        np.einsum("tn,tcn->n", tau, (psi - said) ** 2) / most,
    )


def find_levels(measures: Measures) -> IntArray:
    """Give the level of each matrix, whatever the pattern of its errors."""
    accuracy, skill, information = measures
    level = np.full(len(skill), NOVICE)
    level[(accuracy >= GOOD_ACCURACY) & (skill >= GOOD_SKILL)] = GOOD
    level[(accuracy >= EXPERT_ACCURACY) & (skill >= EXPERT_SKILL)] = EXPERT
    level[skill < NO_SKILL] = SPAMMER
    # Tells the classes apart, and yet is not right: on purpose.
    level[(skill < NO_SKILL) & (information >= INFORMATIVE)] = ADVERSARY
    level[skill <= -NO_SKILL] = ADVERSARY
    return level


def are_good_elsewhere(
    psi: FloatArray, tau: FloatArray, common: BoolArray, x: int, y: int
) -> BoolArray:
    """Say where items of the common classes other than x and y are called right, each class's."""
    rest = [t for t in range(len(tau)) if t not in (x, y)]
    items, right = tau[rest].sum(axis=0), psi[rest, rest]
    weak = (common[rest] & (right < WEAK)).any(axis=0)
    # Two classes that are swapped say enough: the rest need not be good, only not weak.
    good = True if x != y else (tau[rest] * right).sum(axis=0) >= ELSEWHERE * items
    return np.asarray((items > 0.0) & ~weak & good)


def find_swaps(psi: FloatArray, tau: FloatArray, common: BoolArray) -> IntArray:
    """Give x * classes + y of the two classes that are taken for each other, x < y; -1 if none."""
    n_classes, _, n = psi.shape
    found, most = np.full(n, -1), np.zeros(n)
    for x in range(n_classes):
        for y in range(x + 1, n_classes):
            swapped = (psi[x, y] >= CONFUSED) & (psi[y, x] >= CONFUSED) & common[x] & common[y]
            some = np.flatnonzero(swapped & (psi[x, y] + psi[y, x] > most))
            if len(some):
                part = psi[:, :, some], tau[:, some], common[:, some]
                some = some[are_good_elsewhere(*part, x, y)]
                found[some], most[some] = x * n_classes + y, psi[x, y, some] + psi[y, x, some]
    return found


def rate_bias(
    psi: FloatArray, tau: FloatArray, common: BoolArray, c: int
) -> tuple[FloatArray, BoolArray]:
    """Give the share of other classes' items called c, and whether more than one class's are."""
    others = np.arange(len(tau)) != c
    said, tau, common = psi[others, c], tau[others], common[others]
    items, wrong = tau.sum(axis=0), (tau * said).sum(axis=0)
    seen = np.where(common, said, 0.0)  # the class of which it is said most often, and its share
    worst = np.arange(psi.shape[2])
    of_worst = np.where(common.any(axis=0), tau[seen.argmax(axis=0), worst], 0.0)
    rest = wrong - of_worst * seen.max(axis=0)
    general = (common.sum(axis=0) == 1) | (rest >= BIASED_REST * (items - of_worst))
    return np.divide(wrong, items, out=np.zeros_like(wrong), where=items > 0), general


def find_bias(psi: FloatArray, tau: FloatArray, common: BoolArray) -> IntArray:
    """Give the answer that the other classes' items are called too often; -1 if none."""
    n = psi.shape[2]
    found, most, next_most = np.full(n, -1), np.zeros(n), np.zeros(n)
    for c in range(psi.shape[1]):
        rate, general = rate_bias(psi, tau, common, c)
        more = rate > most
        found = np.where(more, np.where(general, c, -1), found)
        next_most = np.where(more, most, np.maximum(next_most, rate))
        most = np.maximum(most, rate)
    return np.where((most >= BIASED) & (most - next_most >= BIASED_GAP), found, -1)


def find_weakness(psi: FloatArray, tau: FloatArray, common: BoolArray) -> tuple[IntArray, IntArray]:
    """Give the class that is called right least often, and what it is taken for; -1 if none.

    With two common classes, nothing is taken for the other: that is a bias.
    """
    n_classes, _, n = psi.shape
    several = np.count_nonzero(common, axis=0) > 2
    weak, taken_for, least = np.full(n, -1), np.full(n, -1), np.full(n, np.inf)
    for x in range(n_classes):
        others = np.where(np.arange(n_classes)[:, None] == x, -1.0, psi[x, :n_classes])
        taken = several & (others.max(axis=0) >= CONFUSED)
        other = np.where(taken, others.argmax(axis=0), -1)
        bad = common[x] & (psi[x, x] < least) & ((other >= 0) | (psi[x, x] < WEAK))
        some = np.flatnonzero(bad)
        if len(some):
            part = psi[:, :, some], tau[:, some], common[:, some]
            some = some[are_good_elsewhere(*part, x, x)]
            weak[some], taken_for[some], least[some] = x, other[some], psi[x, x, some]
    return weak, taken_for


def find_roles(psi: FloatArray, tau: FloatArray, common: BoolArray) -> tuple[IntArray, IntArray]:
    """Give the code of the one role of each matrix, and its level; the first that holds decides.

    Parameters
    ----------
    psi
        Confusion matrices, shape (classes, answers, matrices); the first answers are the classes.
    tau, common
        The class balances, and which classes are not rare, shape (classes, matrices).
    """
    n_classes, n_answers, _ = psi.shape
    codes = find_codes(n_classes, n_answers)
    said = np.einsum("tn,tcn->cn", tau, psi)  # how often each answer is given
    level = find_levels(measure(psi, tau, said))
    role = level.copy()
    some = np.flatnonzero(level == SPAMMER)
    favourite = said[:, some].argmax(axis=0)
    always = said[favourite, some] >= ALWAYS
    role[some[always]] = codes.always + favourite[always]
    more = (level != SPAMMER) & (level != ADVERSARY)
    tau = np.where(common, tau, 0.0)  # rare classes count as none
    x, y = find_weakness(psi, tau, common)
    bias, pair = find_bias(psi, tau, common), find_swaps(psi, tau, common)
    for found, code in (
        (more & (x >= 0), codes.weak + x),
        (more & (y >= 0), codes.confuses + x * n_classes + y),
        (more & (bias >= 0), codes.biased + bias),
        (pair >= 0, codes.confuses + pair),
    ):  # what comes later comes first
        role[found] = code[found]
    return role, level


def count_roles(confusion: NDArray[Any], class_balance: FloatArray) -> tuple[IntArray, IntArray]:
    """Count in how many draws a group has each role, (groups, roles), and level, (groups, levels).

    Parameters
    ----------
    confusion
        Matrices, shape (groups, draws, classes, answers).
    class_balance
        Shape (draws, classes).
    """
    n_groups, n_draws, n_classes, n_answers = confusion.shape
    psi = np.moveaxis(confusion, (2, 3), (0, 1)).astype(np.float64, order="C")
    psi = psi.reshape(n_classes, n_answers, -1)
    tau = np.tile(class_balance.T, n_groups)
    common = np.tile(mark_common(class_balance.T), n_groups)
    n_roles, group = find_codes(n_classes, n_answers).end, np.repeat(np.arange(n_groups), n_draws)
    roles, levels = np.zeros(n_groups * n_roles, np.int64), np.zeros(n_groups * N_LEVELS, np.int64)
    for first in range(0, len(group), BLOCK):
        some = slice(first, first + BLOCK)
        role, level = find_roles(psi[:, :, some], tau[:, some], common[:, some])
        roles += np.bincount(group[some] * n_roles + role, minlength=len(roles))
        levels += np.bincount(group[some] * N_LEVELS + level, minlength=len(levels))
    return roles.reshape(n_groups, n_roles), levels.reshape(n_groups, N_LEVELS)
