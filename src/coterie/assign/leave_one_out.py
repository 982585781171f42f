"""Beliefs without one annotator's labels, by taking out what each of them had brought.

A label c of an item with n labels moved belief from r to p[t] = r[t] (w Psi[t,c] / m[c] + 1 - w),
with m[c] = sum over t of r[t] Psi[t,c] and w its worth among n. Psi is the annotator's matrix
without this very label: of a row that rests on A labels, p[t] belongs to it. That is undone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from coterie.assign.belief import STRENGTH, Belief, worth_of
from coterie.data.codes import Codes

FloatArray = NDArray[np.float64]

ROUNDS = 8
"""Steps of the fixed point for r; it contracts by w at least."""
SMALLEST = 1e-6
"""No answer is thought less likely than this."""
AT_ONCE = 2**20
"""Numbers of belief that are worked on together."""


def bits_per_label(codes: Codes, belief: Belief) -> FloatArray:
    """Give how far belief about an item would move without its annotator's labels, in bits.

    It is the divergence of belief as it is from belief without them. Of an annotator's repeated
    labels of one item the first has it, and the others 0.

    Returns
    -------
    Array of shape (labels,), in the order by annotator.
    """
    n_people, item = len(codes.annotator_start) - 1, codes.annotator_item
    who = np.repeat(np.arange(n_people), np.diff(codes.annotator_start))
    rests_on = np.full((n_people, codes.n_classes), STRENGTH)
    for t in range(codes.n_classes):
        rests_on[:, t] += np.bincount(who, belief.items[item, t], n_people)
    is_first = (np.diff(who, prepend=-1) != 0) | (np.diff(item, prepend=-1) != 0)
    first, bits = np.flatnonzero(is_first), np.zeros(len(item))
    times = np.diff(first, append=len(item))  # that the item was labelled
    step = max(AT_ONCE // max(codes.n_classes, 1), 1)
    for some in (slice(k, k + step) for k in range(0, len(first), step)):
        label, i, l = first[some], item[first[some]], who[first[some]]
        now, n_others = belief.items[i], np.diff(codes.item_start)[i] - 1
        before = now.copy()
        for r in range(times[some].max()):
            has = times[some] > r
            c = codes.annotator_answer[label[has] + r]
            own = share_without(now[has], belief.matrix[l[has], :, c], rests_on[l[has]])
            worth = belief.ease[i[has]] * worth_of(np.maximum(n_others[has] - r, 0), belief.overlap)
            before[has] = take_out(before[has], own, worth[:, None])
        moved = rel_entr(now, np.maximum(before, 1e-300)).sum(axis=1) / np.log(2)
        bits[label] = np.where(codes.gold[i] < 0, np.maximum(moved, 0.0), 0.0)
    return bits


def share_without(belief: FloatArray, share: FloatArray, rests_on: FloatArray) -> FloatArray:
    """Give how often each class is answered so, without one such label of an item of this belief.

    Parameters
    ----------
    belief, share, rests_on
        Of the item; with all labels; and how many these are, each of shape (labels, classes).
    """
    counted, base = rests_on * share - belief, np.maximum(rests_on - belief, SMALLEST)
    return np.maximum(counted / base, SMALLEST)


def take_out(after: FloatArray, share: FloatArray, worth: FloatArray) -> FloatArray:
    """Give the beliefs that answers have moved to ``after``, shape (labels, classes)."""
    before = after
    for _ in range(ROUNDS):
        chance = np.maximum((before * share).sum(axis=1, keepdims=True), SMALLEST)
        before = after / np.maximum(worth * share / chance + 1.0 - worth, SMALLEST)
        before = before / before.sum(axis=1, keepdims=True)
    return before
