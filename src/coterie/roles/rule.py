"""The rule that gives one confusion matrix exactly one role. docs/roles.md explains it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.jit import kernel, part

FloatArray = NDArray[np.float64]

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


@kernel
def find_codes(n_classes: int, n_answers: int) -> Codes:
    """Lay out the codes of all roles for matrices of this shape."""
    always = N_LEVELS
    biased = always + n_answers
    weak = biased + n_answers
    confuses = weak + n_classes
    return Codes(always, biased, weak, confuses, confuses + n_classes * n_classes)


class Measures(NamedTuple):
    """What the levels are read off; all of this crowd's class balance."""

    accuracy: float
    skill: float  # 0 for equal rows, 1 for the truth, below 0 for worse than chance
    information: float  # 0 for equal rows, 1 if every class has an answer of its own


@part
def measure(psi: FloatArray, tau: FloatArray, said: FloatArray) -> Measures:
    """Measure one matrix; ``said`` is filled with the share of each answer.

    With said[c] = sum over t of tau[t] psi[t,c], what a blind annotator of the same answers says
    whatever the truth::

        accuracy    = sum over t of tau[t] psi[t,t]
        skill       = sum over t of tau[t] (psi[t,t] - said[t]) / (1 - sum over t of tau[t]^2)
        information = sum over t of tau[t] |psi[t] - said|^2    / (1 - sum over t of tau[t]^2)
    """
    n_classes, n_answers = psi.shape
    for c in range(n_answers):
        said[c] = 0.0
        for t in range(n_classes):
            said[c] += tau[t] * psi[t, c]
    accuracy = skill = information = most = 0.0
    for t in range(n_classes):
        accuracy += tau[t] * psi[t, t]
        skill += tau[t] * (psi[t, t] - said[t])
        most += tau[t] * (1.0 - tau[t])
        for c in range(n_answers):
            information += tau[t] * (psi[t, c] - said[c]) ** 2
    most = max(most, 1e-300)  # one class has all items: nothing can be told apart
    return Measures(accuracy, skill / most, information / most)


@part
def mark_common(tau: FloatArray, common: NDArray[np.bool_]) -> None:
    """Mark the classes that are not rare; the two most frequent never are."""
    n_classes = len(tau)
    first = second = -1
    for t in range(n_classes):
        common[t] = tau[t] * n_classes >= RARE
        if first < 0 or tau[t] > tau[first]:
            first, second = t, first
        elif second < 0 or tau[t] > tau[second]:
            second = t
    common[first] = True
    common[second] = True


@part
def find_level(measures: Measures) -> int:
    """Give the level of a matrix, whatever the pattern of its errors."""
    if measures.skill <= -NO_SKILL:
        return ADVERSARY
    if measures.skill < NO_SKILL:  # tells the classes apart, and yet is not right: on purpose
        return ADVERSARY if measures.information >= INFORMATIVE else SPAMMER
    if measures.accuracy >= EXPERT_ACCURACY and measures.skill >= EXPERT_SKILL:
        return EXPERT
    if measures.accuracy >= GOOD_ACCURACY and measures.skill >= GOOD_SKILL:
        return GOOD
    return NOVICE


@part
def is_good_elsewhere(
    psi: FloatArray, tau: FloatArray, common: NDArray[np.bool_], x: int, y: int
) -> bool:
    """Whether items of the common classes other than x and y are called right, each class's."""
    items = right = 0.0
    for t in range(len(tau)):
        if common[t] and t != x and t != y:
            if psi[t, t] < WEAK:
                return False
            items += tau[t]
            right += tau[t] * psi[t, t]
    # Two classes that are swapped say enough: the rest need not be good, only not weak.
    return items > 0.0 and (x != y or right >= ELSEWHERE * items)


@part
def find_swap(psi: FloatArray, tau: FloatArray, common: NDArray[np.bool_]) -> int:
    """Give x * classes + y of the two classes that are taken for each other, x < y; -1 if none."""
    n_classes = len(tau)
    found, most = -1, 0.0
    for x in range(n_classes):
        for y in range(x + 1, n_classes):
            both = psi[x, y] + psi[y, x]
            if both <= most or psi[x, y] < CONFUSED or psi[y, x] < CONFUSED:
                continue
            if common[x] and common[y] and is_good_elsewhere(psi, tau, common, x, y):
                found, most = x * n_classes + y, both
    return found


@part
def rate_bias(
    psi: FloatArray, tau: FloatArray, common: NDArray[np.bool_], c: int
) -> tuple[float, bool]:
    """Give the share of other classes' items called c, and whether more than one class's are."""
    worst = -1
    items = wrong = 0.0
    n_others = 0
    for t in range(len(tau)):
        if common[t] and t != c:
            n_others += 1
            items += tau[t]
            wrong += tau[t] * psi[t, c]
            if worst < 0 or psi[t, c] > psi[worst, c]:
                worst = t
    rest = wrong - tau[worst] * psi[worst, c]
    general = n_others == 1 or rest >= BIASED_REST * (items - tau[worst])
    return wrong / items, general


@part
def find_bias(psi: FloatArray, tau: FloatArray, common: NDArray[np.bool_]) -> int:
    """Give the answer that the other classes' items are called too often; -1 if none."""
    found, most, next_most = -1, 0.0, 0.0
    for c in range(psi.shape[1]):
        rate, general = rate_bias(psi, tau, common, c)
        if rate > most:
            found, most, next_most = (c if general else -1), rate, most
        elif rate > next_most:
            next_most = rate
    return found if most >= BIASED and most - next_most >= BIASED_GAP else -1


@part
def find_weakness(psi: FloatArray, tau: FloatArray, common: NDArray[np.bool_]) -> tuple[int, int]:
    """Give the class that is called right least often, and what it is taken for; -1 if none.

    With two common classes, nothing is taken for the other: that is a bias.
    """
    n_classes = len(tau)
    n_common = 0
    for x in range(n_classes):
        n_common += common[x]
    weak = taken_for = -1
    for x in range(n_classes):
        if not common[x] or (weak >= 0 and psi[x, x] >= psi[weak, weak]):
            continue
        y = -1
        for t in range(n_classes if n_common > 2 else 0):
            if t != x and psi[x, t] >= CONFUSED and (y < 0 or psi[x, t] > psi[x, y]):
                y = t
        if (y >= 0 or psi[x, x] < WEAK) and is_good_elsewhere(psi, tau, common, x, x):
            weak, taken_for = x, y
    return weak, taken_for


@part
def find_role(
    psi: FloatArray, tau: FloatArray, common: NDArray[np.bool_], said: FloatArray
) -> tuple[int, int]:
    """Give the code of the one role of a matrix, and its level; the first test that holds decides.

    Parameters
    ----------
    psi
        A confusion matrix, shape (classes, answers); the first answers are the classes.
    tau
        The class balance, shape (classes,).
    common
        Which classes are not rare, shape (classes,).
    said
        Room for the shares of the answers, shape (answers,).
    """
    n_classes, n_answers = psi.shape
    codes = find_codes(n_classes, n_answers)
    level = find_level(measure(psi, tau, said))
    pair = find_swap(psi, tau, common)
    if pair >= 0:
        return codes.confuses + pair, level
    if level == ADVERSARY:
        return ADVERSARY, level
    if level == SPAMMER:
        favourite = 0
        for c in range(n_answers):
            if said[c] > said[favourite]:
                favourite = c
        return (codes.always + favourite if said[favourite] >= ALWAYS else SPAMMER), level
    c = find_bias(psi, tau, common)
    if c >= 0:
        return codes.biased + c, level
    x, y = find_weakness(psi, tau, common)
    if y >= 0:
        return codes.confuses + x * n_classes + y, level
    return (codes.weak + x if x >= 0 else level), level


@kernel
def count_roles(
    confusion: FloatArray, class_balance: FloatArray, role: NDArray[Any], level: NDArray[Any]
) -> None:
    """Count in how many draws a group has each role and each level.

    Parameters
    ----------
    confusion
        Matrices, shape (groups, draws, classes, answers).
    class_balance
        Shape (draws, classes).
    role, level
        Zeros, to be counted up, of shape (groups, roles) and (groups, levels).
    """
    n_groups, n_draws, n_classes, n_answers = confusion.shape
    common = np.empty((n_draws, n_classes), np.bool_)
    for d in range(n_draws):
        mark_common(class_balance[d], common[d])
    said = np.empty(n_answers)
    for m in range(n_groups):
        for d in range(n_draws):
            code, of_level = find_role(confusion[m, d], class_balance[d], common[d], said)
            role[m, code] += 1
            level[m, of_level] += 1
