"""Weigh an item some of whose labels may share a matrix: products of what has been noted.

Nothing is divided label by label: numerators and denominators are multiplied apart for a stretch
of labels, and one division serves them all.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.truth.counts import TINY_FACTOR, TINY_PRODUCT, View, Work
from coterie.kernels.truth.logs import log_ratios, note_labels
from coterie.numeric.choice import normalise, pick, scale_to_one
from coterie.numeric.jit import piece

STRETCH = 8
"""Labels whose numerators and denominators are multiplied before they are divided. Eight counts of
ten digits make 1e80 and eight factors of ``TINY_FACTOR`` 1e-120: neither product leaves the range
of floats. (Where huge shapes do, the quotient is no number, and logarithms are used.)"""


@piece
def weigh_shared(i: int, view: View, data: Codes, work: Work) -> int:
    """Weigh the classes of item i: t weighs ``work.weights[t]`` times e to the ``work.logs[t]``.

    The labels are noted in ``work.labels``. Returned is how many classes needed logs.
    """
    note_labels(i, view, data, work.labels)
    n, in_logs = data.item_start[i + 1] - data.item_start[i], 0
    n_classes, t = np.uintp(data.n_classes), np.uintp(view.truth[i])
    for step in range(n_classes):
        # The item's own class comes first, then the others: no branch to guess wrong.
        own = step == 0
        if own:
            start = view.class_total[t] - 1 + view.class_weight[t]
            weight = multiply_own(start, n, work)
        else:
            start = view.class_total[t] + view.class_weight[t]
            weight = multiply_other(start, t, n, work)
        work.logs[t] = 0.0
        if weight == 0:
            work.logs[t] = math.log(start) + log_ratios(i, t, own, view, data, work)
            weight = 1.0
            in_logs += 1
        work.weights[t] = weight
        t = t + np.uintp(1) if t + np.uintp(1) < n_classes else np.uintp(0)
    return in_logs


@piece
def multiply_other(product: float, t: np.uintp, n: int, work: Work) -> float:
    """Multiply by the ratios of n labels for a class other than the item's; zero if too small."""
    labels, least, k, end = work.labels, 1.0, np.uintp(0), np.uintp(n)
    while k < end:
        above, below = 1.0, 1.0
        stop = k + np.uintp(STRETCH)
        stop = stop if stop < end else end
        while k < stop:
            factor = work.above[labels.cell[k] + t] + labels.before[k]
            least = factor if factor < least else least
            above *= factor
            below *= work.below[labels.row[k] + t] + labels.before_row[k]
            k += np.uintp(1)
        product *= above / below
        if not product > TINY_PRODUCT:
            return 0.0
    return product if least > TINY_FACTOR else 0.0


@piece
def multiply_own(product: float, n: int, work: Work) -> float:
    """Multiply by the ratios of n labels for the item's own class; zero if too small."""
    labels, least, k, end = work.labels, 1.0, np.uintp(0), np.uintp(n)
    while k < end:
        above, below = 1.0, 1.0
        stop = k + np.uintp(STRETCH)
        stop = stop if stop < end else end
        while k < stop:
            factor = labels.own_above[k]
            least = factor if factor < least else least
            above *= factor
            below *= labels.own_below[k]
            k += np.uintp(1)
        product *= above / below
        if not product > TINY_PRODUCT:
            return 0.0
    return product if least > TINY_FACTOR else 0.0


@piece
def choose_shared(i: int, view: View, data: Codes, work: Work, u: float) -> int:
    """Pick a class for item i; the probabilities that it has are left in ``work.weights``."""
    if weigh_shared(i, view, data, work) > 0:
        for t in range(data.n_classes):
            work.weights[t] = math.log(work.weights[t]) + work.logs[t]
        normalise(work.weights)
    else:
        scale_to_one(work.weights)
    return pick(work.weights, u)
