"""What sweeps leave behind of the items: averaged probabilities, as they are and tempered.

Annotators share mistakes, so that n labels are worth fewer than n independent ones: reported are

    p[i, t] in proportion to pi[t] mar[i, t]^tau[i],  tau[i] = 1 / (1 + design_effect (n[i] - 1)),

where mar is the probability of the item's n labels, kinds summed. Averaged over sweeps beside it
are the probabilities as they are, and those of the kinds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.consensus.state import Drawn, Prior, State, Work
from coterie.numeric.choice import normalise
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]


class Tallies(NamedTuple):
    """Sums over sweeps, of which each counts ``weight``."""

    weight: float
    design_effect: float
    probability: FloatArray  # (items, classes)   as they are
    tempered: FloatArray  # (items, classes)
    kind: FloatArray  # (items, kinds)


@piece
def exponent(n: int, design_effect: float) -> float:
    """Give tau for an item with n > 0 labels."""
    return 1 / (1 + design_effect * (n - 1))


@piece
def tally_item(i: int, data: Codes, drawn: Drawn, work: Work, tallies: Tallies) -> None:
    """Tally an item whose probabilities are in ``work``; the marginals are overwritten."""
    if tallies.weight == 0:
        return
    n_classes = data.n_classes
    tau = exponent(data.item_start[i + 1] - data.item_start[i], tallies.design_effect)
    for t in range(n_classes):
        work.marginal[t] = tau * work.marginal[t] + drawn.log_balance[t]
    normalise(work.marginal)
    for t in range(n_classes):
        if data.gold[i] < 0:
            tallies.tempered[i, t] += tallies.weight * work.marginal[t]
        for k in range(tallies.kind.shape[1]):
            p = tallies.weight * work.weights[k * n_classes + t]
            tallies.probability[i, t] += p
            tallies.kind[i, k] += p
    if data.gold[i] >= 0:
        tallies.tempered[i, data.gold[i]] += tallies.weight


@part
def tally_bystanders(state: State, prior: Prior, data: Codes, tallies: Tallies) -> None:
    """Tally items without labels: gold is certain, the others are as classes and kinds are."""
    if tallies.weight == 0:
        return
    n_classes, n_kinds = len(prior.class_weight), len(prior.kind_weight)
    all_classes, all_kinds = 0.0, 0.0
    for t in range(n_classes):
        all_classes += state.class_total[t] + prior.class_weight[t]
    for k in range(n_kinds):
        all_kinds += state.kind_total[k] + prior.kind_weight[k]
    for i in range(len(state.truth)):
        if data.item_start[i] == data.item_start[i + 1]:
            for t in range(n_classes):
                share = (state.class_total[t] + prior.class_weight[t]) / all_classes
                if data.gold[i] >= 0:
                    share = 1.0 if data.gold[i] == t else 0.0
                tallies.probability[i, t] += tallies.weight * share
                tallies.tempered[i, t] += tallies.weight * share
            for k in range(n_kinds):
                share = (state.kind_total[k] + prior.kind_weight[k]) / all_kinds
                tallies.kind[i, k] += tallies.weight * share
