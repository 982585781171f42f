"""The truth when annotators who err together count for less.

A model that takes annotators for independent believes a clique of copies: it then finds the clique
right, and no dependence. Here an item's class has the weight

    share[t] * product over labels of psi[l](t, y)^omega[l],
    omega[l] = 1 / (1 + sum over m of how much d[l, m] is above that of most pairs),

with matrices psi and shares counted without the item itself, drawn towards the crowd's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

OWN = 2.0
"""Labels that the crowd's matrix is worth beside an annotator's own, for each class."""
PASSES = 30
STILL = 1e-3
"""No probability moves by more: the search has come to rest."""


def discounts(
    first: IntArray, second: IntArray, value: FloatArray, low: FloatArray, n_annotators: int
) -> FloatArray:
    """Give omega: what an annotator's label is worth, from the dependence of pairs.

    Only what is surely above the middle of all pairs counts: what everybody shares, and what may be
    chance, discounts nobody.

    Examples
    --------
    >>> pairs = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> discounts(*pairs, np.array([0.9, 0.0, 0.1]), np.array([0.85, -0.2, -0.1]), 3).round(2)
    array([0.57, 0.57, 1.  ])
    """
    middle = max(float(np.median(value)), 0.0) if len(value) else 0.0
    above = np.maximum(low - middle, 0)
    sums = sum(np.bincount(who, above, n_annotators) for who in (first, second))
    return np.asarray(1 / (1 + sums))


def discounted_truth(codes: Codes, start: FloatArray, omega: FloatArray) -> FloatArray:
    """Give the probability of each class for each item, shape (items, classes).

    Parameters
    ----------
    codes
        The labels; gold is certain.
    start
        Where to start from, shape (items, classes).
    omega
        What each annotator's labels are worth, shape (annotators,).

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> item, who = np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    >>> answer = np.where(who == 2, 1 - item % 2, item % 2)
    >>> codes = encode(item, who, answer, sizes=(8, 3, 2, 2))
    >>> start = np.array([[0.6, 0.4], [0.4, 0.6]] * 4)
    >>> discounted_truth(codes, start, np.ones(3))[:2].round(2).tolist()
    [[0.99, 0.01], [0.01, 0.99]]
    """
    truth, labelled = start, np.diff(codes.item_start) > 0
    for _ in range(PASSES):
        new = np.where(labelled[:, None], _pass(codes, truth, omega), start)
        (known,) = np.nonzero(codes.gold >= 0)
        new[known] = np.eye(codes.n_classes)[codes.gold[known]]
        moved = np.abs(new - truth).max(initial=0.0)
        truth = new
        if moved < STILL:
            break
    return truth


def _pass(codes: Codes, truth: FloatArray, omega: FloatArray) -> FloatArray:
    """Weigh every item by what all others say of its annotators."""
    n_items, n_classes, n_answers = len(codes.gold), codes.n_classes, codes.n_answers
    n_annotators = len(omega)
    item = np.repeat(np.arange(n_items), np.diff(codes.item_start))
    who, answer = codes.item_annotator.astype(np.int64), codes.item_answer
    log_weight = np.log(truth.sum(axis=0) - truth + 1)
    for t in range(n_classes):
        own = truth[item, t]
        said = np.bincount(who * n_answers + answer, own, n_annotators * n_answers)
        said = said.reshape(n_annotators, n_answers)
        crowd = said.sum(axis=0) + 1
        base = crowd / crowd.sum()
        times = said[who, answer] - own + OWN * base[answer]
        ratio = times / (said.sum(axis=1)[who] - own + OWN)
        log_weight[:, t] += np.bincount(item, omega[who] * np.log(ratio), n_items)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
