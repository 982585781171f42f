"""What sweeps leave behind of the items: averaged probabilities, as they are and tempered.

Annotators share mistakes, so that n labels are worth fewer than n independent ones: reported are

    p[i, t] in proportion to pi[t] mar[i, t]^tau[i],  tau[i] = 1 / (1 + design_effect (n[i] - 1)),

where mar is the probability of the item's n labels, kinds summed. Averaged over sweeps beside it
are the probabilities as they are, and those of the kinds.
"""

from __future__ import annotations

from coterie.data.codes import Codes
from coterie.kernels.gibbs.consensus.state import Drawn, Prior, State, Work
from coterie.kernels.layout import Layout, PerItem
from coterie.kernels.record import Tally
from coterie.numeric.choice import normalise
from coterie.numeric.jit import part, piece


def layout_of(data: Codes, prior: Prior) -> Layout:
    """Say what is tallied per item: tempered probabilities of the classes, then of the kinds."""
    classes = tuple(str(t) for t in range(data.n_classes))
    kinds = ("plain", *(f"{share:.0%} guessed" for share in prior.guessing[1:]))
    return Layout(per_item=(PerItem("tempered", classes), PerItem("kind", kinds)))


@piece
def exponent(n: int, design_effect: float) -> float:
    """Give tau for an item with n > 0 labels."""
    return 1 / (1 + design_effect * (n - 1))


@piece
def tally_item(i: int, data: Codes, prior: Prior, drawn: Drawn, work: Work, tally: Tally) -> None:
    """Tally an item whose probabilities are in ``work``; the marginals are overwritten."""
    if tally.weight == 0:
        return
    n_classes = data.n_classes
    tau = exponent(data.item_start[i + 1] - data.item_start[i], prior.design_effect)
    for t in range(n_classes):
        work.marginal[t] = tau * work.marginal[t] + drawn.log_balance[t]
    normalise(work.marginal)
    for t in range(n_classes):
        if data.gold[i] < 0:
            tally.per_item[i, t] += tally.weight * work.marginal[t]
        for k in range(len(prior.guessing)):
            p = tally.weight * work.weights[k * n_classes + t]
            tally.probability[i, t] += p
            tally.per_item[i, n_classes + k] += p
    if data.gold[i] >= 0:
        tally.per_item[i, data.gold[i]] += tally.weight


@part
def tally_bystanders(state: State, prior: Prior, data: Codes, tally: Tally) -> None:
    """Tally items without labels: gold is certain, the others are as classes and kinds are."""
    tally.sweeps[0] += tally.weight
    if tally.weight == 0:
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
                tally.probability[i, t] += tally.weight * share
                tally.per_item[i, t] += tally.weight * share
            for k in range(n_kinds):
                share = (state.kind_total[k] + prior.kind_weight[k]) / all_kinds
                tally.per_item[i, n_classes + k] += tally.weight * share
