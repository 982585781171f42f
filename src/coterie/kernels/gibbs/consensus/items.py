"""The items: class, kind, and where each label came from, given what was drawn before them.

Of item i, class t and kind k have the weight

    pi[t] rho[k] product over labels of ((1 - lam[k]) Psi[l, t, c] + lam[k] v[c]),

and then each label came from the annotator's matrix with probability

    (1 - lam[k]) Psi[l, t, c] / ((1 - lam[k]) Psi[l, t, c] + lam[k] v[c]).

Items are independent: any range of them can be done anywhere. What comes back are integer counts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.gibbs.consensus.state import Chosen, Counts, Drawn, Prior, Work
from coterie.kernels.gibbs.consensus.tally import tally_item
from coterie.kernels.record import Tally
from coterie.numeric.choice import normalise, pick, scale_to_one
from coterie.numeric.draws import log_add
from coterie.numeric.jit import int64, part, piece

TINY_PRODUCT = 1e-280
"""Smaller products of probabilities are left to logarithms."""
TINY_FACTOR = 1e-30
"""So are smaller factors, and what is multiplied in between stays above the product of both."""
LOW = 1e-200
"""A product that falls below this becomes a logarithm: before that, one more factor leaves it above
1e-230, with all its digits."""


class Given(NamedTuple):
    """What the items are given."""

    prior: Prior
    drawn: Drawn


class Found(NamedTuple):
    """What is found of the items, and room to find it."""

    chosen: Chosen
    counts: Counts
    work: Work


@piece
def weigh_item(i: int, data: Codes, given: Given, work: Work) -> bool:
    """Weigh kinds and classes of item i, without pi; say whether products were large enough."""
    prior, drawn = given
    n_classes, n_kinds, weights = data.n_classes, len(prior.guessing), work.weights
    for k in range(n_kinds):
        for t in range(n_classes):
            weights[k * n_classes + t] = drawn.kinds[k]
    for label in range(data.item_start[i], data.item_start[i + 1]):
        l, c = data.item_annotator[label], data.item_answer[label]
        for k in range(n_kinds):
            matrix = 1 - prior.guessing[k]
            guess = prior.guessing[k] * drawn.hard[c]
            for t in range(n_classes):
                weights[k * n_classes + t] *= matrix * drawn.chance[l, c, t] + guess
    least = 1.0
    for place in range(len(weights)):
        least = weights[place] if weights[place] < least else least
    return least > TINY_PRODUCT


@part
def log_labels(i: int, t: int, k: int, data: Codes, given: Given) -> float:
    """Give the log probability of item i's labels for a class and a kind, whatever its size."""
    prior, drawn = given
    matrix, guessing = 1 - prior.guessing[k], prior.guessing[k]
    product, result = 1.0, 0.0
    for label in range(data.item_start[i], data.item_start[i + 1]):
        l, c = data.item_annotator[label], data.item_answer[label]
        factor = matrix * drawn.chance[l, c, t] + guessing * drawn.hard[c]
        if factor > TINY_FACTOR:
            product *= factor
        else:
            by_guess = prior.log_source[k, 0] + drawn.log_hard[c]
            result += log_add(by_guess, prior.log_source[k, 1] + drawn.log_chance[l, c, t])
        if product < LOW:
            result += math.log(product)
            product = 1.0
    return result + math.log(product)


@piece
def finish_weights(i: int, data: Codes, given: Given, work: Work) -> None:
    """Turn weights into probabilities; leave the logs without pi, kinds summed, in ``marginal``."""
    balance, n_classes, gold = given.drawn.balance, data.n_classes, data.gold[i]
    for t in range(n_classes):
        total = 0.0
        for place in range(t, len(work.weights), n_classes):
            total += work.weights[place]
            work.weights[place] *= balance[t] if gold < 0 or gold == t else 0.0
        work.marginal[t] = math.log(total)
    scale_to_one(work.weights)


@part
def weigh_in_logs(i: int, data: Codes, given: Given, work: Work) -> None:
    """Do what :func:`weigh_item` and :func:`finish_weights` do, in logs."""
    drawn, n_classes, gold = given.drawn, data.n_classes, data.gold[i]
    for t in range(n_classes):
        log_total = -math.inf
        for k in range(len(drawn.kinds)):
            log_weight = drawn.log_kinds[k] + log_labels(i, t, k, data, given)
            log_total = log_add(log_total, log_weight)
            possible = gold < 0 or gold == t
            work.weights[k * n_classes + t] = (
                log_weight + drawn.log_balance[t] if possible else -math.inf
            )
        work.marginal[t] = log_total
    normalise(work.weights)


@piece
def choose_item(i: int, data: Codes, given: Given, work: Work, u: float) -> int:
    """Pick k * T + t for item i; the probabilities that these have are left in ``work.weights``."""
    if weigh_item(i, data, given, work):
        finish_weights(i, data, given, work)
    else:
        weigh_in_logs(i, data, given, work)
    return pick(work.weights, u)


@piece
def share_own(label: int, t: int, k: int, data: Codes, given: Given) -> float:
    """Give the chance that a label of an item of class t and kind k came from the matrix."""
    prior, drawn = given
    l, c = data.item_annotator[label], data.item_answer[label]
    from_matrix = (1 - prior.guessing[k]) * drawn.chance[l, c, t]
    from_guess = prior.guessing[k] * drawn.hard[c]
    if from_matrix + from_guess > TINY_PRODUCT:
        return float(from_matrix / (from_matrix + from_guess))
    log_matrix = prior.log_source[k, 1] + drawn.log_chance[l, c, t]
    log_guess = prior.log_source[k, 0] + drawn.log_hard[c]
    return math.exp(log_matrix - log_add(log_matrix, log_guess))


@piece
def count_label(label: int, t: int, k: int, own: int, data: Codes, found: Found) -> None:
    """Note where a label came from, and count it."""
    counts = found.counts
    found.chosen.own[label] = own
    counts.source[k, own] += 1
    if own == 1:
        counts.said[data.item_annotator[label], data.item_answer[label], t] += 1
    else:
        counts.guessed[data.item_answer[label]] += 1


@part
def sweep_items(
    items: tuple[int, int],
    data: Codes,
    given: Given,
    found: Found,
    tally: Tally,
    rng: np.random.Generator,
) -> None:
    """Find class and kind of the items in a range, and where their labels came from.

    They are added to the counts, and to the tally.
    """
    n_classes, chosen, counts = data.n_classes, found.chosen, found.counts
    for i in range(items[0], items[1]):
        start, end = data.item_start[i], data.item_start[i + 1]
        if start == end:
            if data.gold[i] >= 0:
                counts.class_total[data.gold[i]] += 1
            continue
        place = int64(choose_item(i, data, given, found.work, rng.random()))
        tally_item(i, data, given.prior, given.drawn, found.work, tally)
        k, t = place // n_classes, place % n_classes
        chosen.truth[i], chosen.kind[i] = t, k
        counts.class_total[t] += 1
        counts.kind_total[k] += 1
        for label in range(start, end):
            plain = given.prior.guessing[k] == 0
            own = plain or rng.random() < share_own(label, t, k, data, given)
            count_label(label, t, k, int64(own), data, found)
