"""What each annotator's labels changed, and a sum shared by it.

Beliefs without one annotator's labels come by taking out what each of them had brought. A label c
of an item with n labels moved belief from r to p[t] = r[t] (w Psi[t,c] / m[c] + 1 - w), with m[c] =
sum over t of r[t] Psi[t,c] and w its worth among n. Psi is the annotator's matrix without this very
label: of a row that rests on A labels, p[t] belongs to it. That is undone.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from coterie.arguments import checked
from coterie.assign.belief import STRENGTH, Belief, belief_of, worth_of
from coterie.data.codes import Codes
from coterie.errors import DataError
from coterie.numeric import FloatArray
from coterie.posterior import Posterior

ROUNDS = 8
"""Steps of the fixed point for r; it contracts by w at least."""
SMALLEST = 1e-6
"""No answer is thought less likely than this."""
AT_ONCE = 2**20
"""Numbers of belief that are worked on together."""


@checked
def contributions(posterior: Posterior, pay: float | None = None) -> pd.DataFrame:
    """Say how much each annotator's labels moved what is believed, and share a sum by it.

    A label's bits are the divergence between belief about its item with and without the
    annotator's labels of it. Agreeing with a clear majority brings little, and so does noise; a
    label that decides brings much. What is taken out is the direct effect on the item: that others'
    matrices would be a little different too is left out (docs/decisions.md has it compared with
    real refits).

    Parameters
    ----------
    posterior
        The result.
    pay
        A sum to share; the column ``payment`` shares it by bits, ``equal_payment`` by labels. Both
        add up to it to the cent.

    Returns
    -------
    DataFrame
        annotator, n_labels, bits, bits_per_label, and payment and equal_payment if there is a sum.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=30, annotators=8, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> table = coterie.assign.contributions(posterior, pay=100)
    >>> table.columns.tolist()
    ['annotator', 'n_labels', 'bits', 'bits_per_label', 'payment', 'equal_payment']
    >>> [f"{table[column].sum():.2f}" for column in ("payment", "equal_payment")]
    ['100.00', '100.00']
    """
    a, codes = posterior.annotations, posterior.annotations.codes
    by_label = _bits_of_labels(codes, belief_of(posterior))
    start = codes.annotator_start.tolist()
    # Sums that do not depend on the order of the items, so that names of items change no cent.
    bits = np.array([math.fsum(by_label[x:y]) for x, y in itertools.pairwise(start)])
    n = a.labels_per_annotator
    table = pd.DataFrame(
        {
            "annotator": a.annotators,
            "n_labels": n,
            "bits": bits,
            "bits_per_label": np.divide(bits, n, out=np.full(len(n), np.nan), where=n > 0),
        }
    )
    if pay is not None:
        paid = n > 0
        for column, weights in (("payment", bits), ("equal_payment", n.astype(np.float64))):
            money = np.zeros(len(n))
            money[paid] = share_out(pay, weights[paid])
            table[column] = money
    return table


def share_out(pay: float, weights: FloatArray) -> FloatArray:
    """Share a sum by weights, to the cent: what is rounded off goes to the largest remainders.

    Shares are never negative and add up to the sum. Of equal remainders the largest weight comes
    first; if there are no weights at all, everybody has the same.

    Examples
    --------
    >>> share_out(100, np.array([1.0, 1.0, 1.0])).tolist()
    [33.34, 33.33, 33.33]
    >>> share_out(0.05, np.array([0.0, 3.0, 1.0])).tolist()
    [0.0, 0.04, 0.01]
    """
    if not 0 <= pay < 1e13:
        raise DataError(f"pay must be a sum of at least 0, got {pay!r}", argument="pay")
    if len(weights) == 0:
        return np.zeros(0)
    cents, total = round(float(pay) * 100), math.fsum(weights)
    if total <= 0:
        weights, total = np.ones(len(weights)), float(len(weights))
    exact = weights / total * cents
    shares = np.floor(exact + 1e-9)
    left = cents - int(shares.sum())
    rest = np.round(exact - shares, 9)  # below that, remainders differ by rounding only
    order = np.lexsort((-weights, -rest))
    shares[order[: max(left, 0)]] += 1
    return shares / 100


def _bits_of_labels(codes: Codes, belief: Belief) -> FloatArray:
    """Give how far belief about an item would move without its annotator's labels, by annotator.

    It is the divergence of belief as it is from belief without them. Of an annotator's repeated
    labels of one item the first has it, and the others 0.
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
            rows, after = rests_on[l[has]], now[has]  # how often answered so without this label:
            own = rows * belief.matrix[l[has], :, c] - after
            own = np.maximum(own / np.maximum(rows - after, SMALLEST), SMALLEST)
            worth = belief.ease[i[has]] * worth_of(np.maximum(n_others[has] - r, 0), belief.overlap)
            before[has] = _take_out(before[has], own, worth[:, None])
        moved = rel_entr(now, np.maximum(before, 1e-300)).sum(axis=1) / np.log(2)
        bits[label] = np.where(codes.gold[i] < 0, np.maximum(moved, 0.0), 0.0)
    return bits


def _take_out(after: FloatArray, share: FloatArray, worth: FloatArray) -> FloatArray:
    """Give the beliefs that answers have moved to ``after``, shape (labels, classes)."""
    before = after
    for _ in range(ROUNDS):
        chance = np.maximum((before * share).sum(axis=1, keepdims=True), SMALLEST)
        before = after / np.maximum(worth * share / chance + 1.0 - worth, SMALLEST)
        before = before / before.sum(axis=1, keepdims=True)
    return before
