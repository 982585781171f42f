"""Items of Consensus, given matrices: every item by itself, with random numbers of its own.

Class and kind of an item have the weights of :mod:`coterie.kernels.gibbs.consensus.items`, whose
pieces are used here, and so has where each label came from. The item's number at place 0 chooses
class and kind; from place 1 on there are two for every two labels. What comes back are integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.gibbs.blocked.items import Totals
from coterie.kernels.gibbs.consensus.items import (
    TINY_PRODUCT,
    Given,
    finish_weights,
    share_own,
    weigh_in_logs,
    weigh_item,
)
from coterie.kernels.gibbs.consensus.state import Chosen, Work
from coterie.kernels.gibbs.consensus.tally import tally_item
from coterie.kernels.record import Tally
from coterie.numeric.choice import pick, scale_to_one
from coterie.numeric.jit import int64, kernel, part, piece
from coterie.numeric.keyed import Stream, uniforms

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class HardItems(NamedTuple):
    """Some items and their labels, named as in :class:`coterie.data.codes.Codes`."""

    key: NDArray[np.uint64]  # (items,)
    item_start: NDArray[np.int64]  # (items + 1,)
    item_annotator: IntArray  # (labels,)
    item_answer: IntArray  # (labels,)
    gold: IntArray  # (items,)   the known class, or -1
    winner: IntArray  # (items,)   whom the vote has elected, -1 where it is not clear
    n_classes: int
    n_answers: int


class Told(NamedTuple):
    """What items need to know of the prior."""

    guessing: FloatArray  # (kinds,)     lam
    log_source: FloatArray  # (kinds, 2)   log lam, log(1 - lam)
    design_effect: float


class HardMarks(NamedTuple):
    """Room to weigh an item, and what is noted of every item; arrays of no length note nothing."""

    work: Work
    chosen: Chosen


def new_marks(n_classes: int, n_kinds: int) -> HardMarks:
    """Give room to weigh items of which nothing is noted."""
    nothing, no_labels = np.zeros(0, np.int32), np.zeros(0, np.int8)
    work = Work(np.zeros(n_kinds * n_classes), np.zeros(n_classes))
    return HardMarks(work, Chosen(nothing, nothing, no_labels))


@piece
def weigh_three(i: int, items: HardItems, given: Given, weights: FloatArray) -> bool:
    """Do what :func:`weigh_item` does for three classes of three kinds, without loops over them."""
    drawn, guessing = given.drawn, given.prior.guessing
    a = b = c = drawn.kinds[0]
    d = e = f = drawn.kinds[1]
    g = h = j = drawn.kinds[2]
    p, q, r = guessing[0], guessing[1], guessing[2]
    for label in range(np.uintp(items.item_start[i]), np.uintp(items.item_start[i + 1])):
        l, answer = np.uintp(items.item_annotator[label]), np.uintp(items.item_answer[label])
        x = drawn.chance[l, answer, np.uintp(0)]
        y = drawn.chance[l, answer, np.uintp(1)]
        z = drawn.chance[l, answer, np.uintp(2)]
        v = drawn.hard[answer]
        a *= (1 - p) * x + p * v
        b *= (1 - p) * y + p * v
        c *= (1 - p) * z + p * v
        d *= (1 - q) * x + q * v
        e *= (1 - q) * y + q * v
        f *= (1 - q) * z + q * v
        g *= (1 - r) * x + r * v
        h *= (1 - r) * y + r * v
        j *= (1 - r) * z + r * v
    weights[0], weights[1], weights[2] = a, b, c
    weights[3], weights[4], weights[5] = d, e, f
    weights[6], weights[7], weights[8] = g, h, j
    return bool(min(min(min(a, b), min(c, d)), min(min(e, f), min(g, min(h, j)))) > TINY_PRODUCT)


@piece
def weigh_two(i: int, items: HardItems, given: Given, weights: FloatArray) -> bool:
    """Do what :func:`weigh_item` does for two classes of three kinds, without loops over them."""
    drawn, guessing = given.drawn, given.prior.guessing
    a = b = drawn.kinds[0]
    c = d = drawn.kinds[1]
    e = f = drawn.kinds[2]
    p, q, r = guessing[0], guessing[1], guessing[2]
    for label in range(np.uintp(items.item_start[i]), np.uintp(items.item_start[i + 1])):
        l, answer = np.uintp(items.item_annotator[label]), np.uintp(items.item_answer[label])
        x = drawn.chance[l, answer, np.uintp(0)]
        y = drawn.chance[l, answer, np.uintp(1)]
        v = drawn.hard[answer]
        a *= (1 - p) * x + p * v
        b *= (1 - p) * y + p * v
        c *= (1 - q) * x + q * v
        d *= (1 - q) * y + q * v
        e *= (1 - r) * x + r * v
        f *= (1 - r) * y + r * v
    weights[0], weights[1], weights[2], weights[3], weights[4], weights[5] = a, b, c, d, e, f
    return bool(min(min(min(a, b), min(c, d)), min(e, f)) > TINY_PRODUCT)


@piece
def weigh_hard(i: int, items: HardItems, given: Given, work: Work) -> bool:
    """Weigh kinds and classes of item i, without pi; say whether products were large enough."""
    three_kinds = len(given.prior.guessing) == 3
    if three_kinds and items.n_classes == 3:
        return weigh_three(i, items, given, work.weights)
    if three_kinds and items.n_classes == 2:
        return weigh_two(i, items, given, work.weights)
    return weigh_item(i, items, given, work)  # type: ignore[arg-type]


@piece
def finish_plain(i: int, items: HardItems, given: Given, work: Work) -> None:
    """Do what :func:`finish_weights` does, without the logs: of an item that is not tallied."""
    balance, n_classes, gold = given.drawn.balance, items.n_classes, items.gold[i]
    for t in range(n_classes):
        share = balance[t] if gold < 0 or gold == t else 0.0
        for place in range(t, len(work.weights), n_classes):
            work.weights[place] *= share
    scale_to_one(work.weights)


@piece
def choose_hard(i: int, items: HardItems, given: Given, work: Work, u: float, tallied: bool) -> int:
    """Pick k * T + t for item i; the probabilities that these have are left in ``work.weights``.

    What the tally needs beside them is left in ``work.marginal``, if it is wanted.
    """
    if weigh_hard(i, items, given, work):
        if tallied:
            finish_weights(i, items, given, work)  # type: ignore[arg-type]
        else:
            finish_plain(i, items, given, work)
    else:
        weigh_in_logs(i, items, given, work)  # type: ignore[arg-type]
    return pick(work.weights, u)


@piece
def count_hard(
    label: int, t: int, own: int, items: HardItems, totals: Totals, chosen: Chosen
) -> None:
    """Count a label by where it came from; note it, if that is wanted."""
    l, c = np.uintp(items.item_annotator[label]), np.uintp(items.item_answer[label])
    if own == 1:
        totals.said[l, c, np.uintp(t)] += 1
    else:
        totals.guessed[c] += 1
    if len(chosen.own) > 0:
        chosen.own[label] = own


@piece
def count_labels(
    i: int, t: int, k: int, items: HardItems, given: Given, stream: Stream, totals: Totals,
    chosen: Chosen,
) -> None:  # fmt: skip
    """Find where the labels of item i came from, given its class and kind, and count them."""
    start, end, u, v = items.item_start[i], items.item_start[i + 1], 0.0, 0.0
    plain, n_own = given.prior.guessing[k] == 0, 0
    for label in range(start, end):
        own = True
        if not plain:
            place = label - start
            if place % 2 == 0:
                u, v = uniforms(stream, items.key[i], 1 + place // 2)
            share = share_own(label, t, k, items, given)  # type: ignore[arg-type]
            own = (u if place % 2 == 0 else v) < share
        n_own += own
        count_hard(label, t, int64(own), items, totals, chosen)
    totals.source[k, 0] += end - start - n_own
    totals.source[k, 1] += n_own


@part
def sweep_hard(
    items: HardItems, given: Given, stream: Stream, totals: Totals, marks: HardMarks, tally: Tally
) -> None:
    """Find class and kind of every item, and where its labels came from; count and tally them.

    Items with neither label nor gold are counted nowhere, which integrates them out.
    """
    n_classes, work, chosen = items.n_classes, marks.work, marks.chosen
    for i in range(len(items.gold)):
        if items.item_start[i] == items.item_start[i + 1]:
            if items.gold[i] >= 0:
                totals.class_total[items.gold[i]] += 1
            continue
        u, _ = uniforms(stream, items.key[i], 0)
        place = int64(choose_hard(i, items, given, work, u, tally.weight > 0))
        tally_item(i, items, given.prior, given.drawn, work, tally)  # type: ignore[arg-type]
        k, t = place // n_classes, place % n_classes
        totals.class_total[t] += 1
        totals.kind_total[k] += 1
        totals.agreed[0] += items.winner[i] == t
        if len(chosen.truth) > 0:
            chosen.truth[i], chosen.kind[i] = t, k
        count_labels(i, t, k, items, given, stream, totals, chosen)


@kernel
def sweep_hard_items(
    items: HardItems, given: Given, stream: Stream, totals: Totals, marks: HardMarks, tally: Tally
) -> None:
    """Do the work of :func:`sweep_hard`, called from Python."""
    sweep_hard(items, given, stream, totals, marks, tally)


@part
def elected(i: int, items: HardItems, votes: FloatArray, u: float) -> int:
    """Give the class with most votes for item i; of k that tie, number floor(k u)."""
    votes[:] = 0.0
    for label in range(items.item_start[i], items.item_start[i + 1]):
        if items.item_answer[label] < len(votes):
            votes[items.item_answer[label]] += 1
    most, n_tied = 0.0, 0
    for t in range(len(votes)):
        most = max(most, votes[t])
    for t in range(len(votes)):
        n_tied += votes[t] == most
    skip, winner = int64(n_tied * u), 0
    for t in range(len(votes)):
        if votes[t] == most:
            winner = t if skip == 0 else winner
            skip -= 1
    return winner


@kernel
def start_hard_items(items: HardItems, stream: Stream, totals: Totals, votes: FloatArray) -> None:
    """Count every item where it starts: at the vote, ties by chance, plain, labels from matrices.

    Parameters
    ----------
    items, stream, totals
        The items, whose numbers are of sweep 0, and what they are counted in.
    votes
        Room, shape (classes,).
    """
    for i in range(len(items.gold)):
        truth, n = items.gold[i], items.item_start[i + 1] - items.item_start[i]
        if truth < 0 and n > 0:
            u, _ = uniforms(stream, items.key[i], 0)
            truth = np.int32(elected(i, items, votes, u))
        if truth >= 0:
            totals.class_total[truth] += 1
        if n > 0:
            totals.kind_total[0] += 1
            totals.source[0, 1] += n
            for label in range(items.item_start[i], items.item_start[i + 1]):
                totals.said[items.item_annotator[label], items.item_answer[label], truth] += 1
