"""Several chains into one result: averaged conditionals, stacked draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.inference.chain import Chain
from coterie.inference.kept import first
from coterie.inference.watch import stack
from coterie.posterior import Draws

FloatArray = NDArray[np.float64]


class Pooled(NamedTuple):
    """What several chains found together."""

    item_probability: FloatArray  # (items, classes)                 averaged conditionals
    confusion_mean: FloatArray  # (annotators, classes, answers)   averaged conditional means
    class_total: FloatArray  # (classes,)                       averaged over sweeps
    draws: Draws


def item_probability(chain: Chain) -> FloatArray:
    """Average a chain's conditional probabilities over its sweeps after burn-in."""
    probability: FloatArray = chain.tally.probability / chain.tally.sweeps
    return probability


def mean_probability(chains: Sequence[Chain]) -> FloatArray:
    """Average the chains' probabilities, one at a time: all of them at once may not fit."""
    total = item_probability(chains[0])
    for chain in chains[1:]:
        total += item_probability(chain)
    total /= len(chains)
    return total


def pool(chains: Sequence[Chain]) -> Pooled:
    """Average over chains, and stack the draws, chains first.

    After an interruption chains differ in length; draws are cut to the shortest.
    """
    sweeps, draws, matrices = np.min([chain.kept.used for chain in chains], axis=0)
    kept = [first(chain.kept, sweeps, draws, matrices) for chain in chains]
    clustered = hasattr(chains[0].state, "group")
    means = [chain.kept.confusion_sum / chain.kept.used[1] for chain in chains]
    return Pooled(
        mean_probability(chains),
        np.mean(means, axis=0),
        np.mean([one.trace.class_total.mean(axis=0) for one in kept], axis=0),
        Draws(
            confusion=np.stack([one.confusion for one in kept]),
            class_balance=np.stack([one.class_balance for one in kept]),
            partition=np.stack([one.partition for one in kept]) if clustered else None,
            n_coteries=np.stack([one.n_coteries for one in kept]) if clustered else None,
            trace=stack([one.trace for one in kept], clustered),
        ),
    )
