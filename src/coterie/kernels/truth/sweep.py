"""The truth of every item, one after the other, and the tally of their probabilities."""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.record import Tally
from coterie.kernels.truth.counts import View, Work, move_to
from coterie.kernels.truth.own_matrix import choose_many, choose_two
from coterie.kernels.truth.shared_matrix import choose_shared
from coterie.numeric.jit import int64, part, piece


@part
def sweep_shared(
    view: View, data: Codes, work: Work, rng: np.random.Generator, tally: Tally
) -> None:
    """Update every item that has labels and no gold; tally every item's probabilities.

    Annotators share matrices (cBCC). ``work`` has the counts plus shapes of now.
    """
    n_swept = int64(0)
    for i in range(len(view.truth)):
        if is_free(i, data):
            new = choose_shared(i, view, data, work, rng.random())
            move_to(new, i, view, data, work)
            tally_many(i, data, work, tally)
            n_swept += 1
    tally_the_rest(n_swept, view, data, tally)


@part
def sweep_own(view: View, data: Codes, work: Work, rng: np.random.Generator, tally: Tally) -> None:
    """Do so where everybody has a matrix of their own (iBCC, hcBCC)."""
    n_swept = int64(0)
    for i in range(len(view.truth)):
        if is_free(i, data):
            u = rng.random()
            if data.n_classes == 2:  # the commonest crowd
                new = choose_two(i, view, data, work, u)
                tally_two(i, work, tally)
            else:
                new = choose_many(i, view, data, work, u)
                tally_many(i, data, work, tally)
            move_to(new, i, view, data, work)
            n_swept += 1
    tally_the_rest(n_swept, view, data, tally)


@piece
def is_free(i: int, data: Codes) -> bool:
    """Say whether item i has labels and no gold."""
    return bool(data.gold[i] < 0 and data.item_start[i] < data.item_start[i + 1])


@piece
def tally_many(i: int, data: Codes, work: Work, tally: Tally) -> None:
    """Tally the probabilities from which item i's class was picked."""
    for t in range(data.n_classes):
        tally.probability[i, t] += tally.weight * work.weights[t]


@piece
def tally_two(i: int, work: Work, tally: Tally) -> None:
    """Do so for two classes, without a loop."""
    tally.probability[i, 0] += tally.weight * work.weights[0]
    tally.probability[i, 1] += tally.weight * work.weights[1]


@piece
def tally_the_rest(n_swept: int, view: View, data: Codes, tally: Tally) -> None:
    """Tally gold items as certain and items without labels as the predictive n[t] + eps mu[t]."""
    tally.sweeps[0] += tally.weight
    if n_swept == len(view.truth):
        return
    total = 0.0
    for t in range(data.n_classes):
        total += view.class_total[t] + view.class_weight[t]
    for i in range(len(view.truth)):
        if data.gold[i] >= 0:
            tally.probability[i, data.gold[i]] += tally.weight
        elif view.truth[i] < 0:
            for t in range(data.n_classes):
                share = (view.class_total[t] + view.class_weight[t]) / total
                tally.probability[i, t] += tally.weight * share
