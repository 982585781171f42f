"""The truth of every item, one after the other, and the tally of their probabilities."""

from __future__ import annotations

import numpy as np

from coterie.annotations import Codes
from coterie.kernels.record import Tally
from coterie.kernels.truth import update_truth, update_two
from coterie.kernels.view import View, Work
from coterie.numeric.jit import part, piece


@part
def sweep_truth(
    view: View, data: Codes, work: Work, rng: np.random.Generator, tally: Tally
) -> None:
    """Update every item that has labels and no gold; tally every item's probabilities.

    ``work`` has the counts plus shapes of now: :func:`add_shapes`.
    """
    if data.n_classes == 2 and len(work.ratio) > 0:
        n_swept = sweep_two(view, data, work, rng, tally)
    else:
        n_swept = sweep_many(view, data, work, rng, tally)
    if n_swept < len(view.truth):
        tally_the_rest(view, data, tally)
    tally.sweeps[0] += tally.weight


@part
def sweep_many(view: View, data: Codes, work: Work, rng: np.random.Generator, tally: Tally) -> int:
    """Update every free item, of any model and any number of classes; give how many those are."""
    n_swept = 0
    for i in range(len(view.truth)):
        if is_free(i, data):
            update_truth(i, view, data, work, rng.random())
            for t in range(data.n_classes):
                tally.probability[i, t] += tally.weight * work.weights[t]
            n_swept += 1
    return n_swept


@part
def sweep_two(view: View, data: Codes, work: Work, rng: np.random.Generator, tally: Tally) -> int:
    """Do so for the commonest crowd: two classes, and a matrix each."""
    n_swept = 0
    for i in range(len(view.truth)):
        if is_free(i, data):
            first = update_two(i, view, data, work, rng.random())
            tally.probability[i, 0] += tally.weight * first
            tally.probability[i, 1] += tally.weight * (1 - first)
            n_swept += 1
    return n_swept


@piece
def is_free(i: int, data: Codes) -> bool:
    """Say whether item i has labels and no gold."""
    return bool(data.gold[i] < 0 and data.item_start[i] < data.item_start[i + 1])


@piece
def tally_the_rest(view: View, data: Codes, tally: Tally) -> None:
    """Tally gold items as certain and items without labels as the predictive n[t] + eps mu[t]."""
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
