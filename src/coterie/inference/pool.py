"""Several chains into one result: averaged conditionals, stacked draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.diagnostics import WATCHED
from coterie.inference.chain import Chain
from coterie.inference.chain_draws import first_draws
from coterie.inference.protocol import Averages
from coterie.inference.traces import stack_traces
from coterie.posterior import DrawnArray, Draws

FloatArray = NDArray[np.float64]


class Pooled(NamedTuple):
    """What several chains found together."""

    averages: Averages  # conditionals, averaged over sweeps
    confusion_mean: FloatArray  # (annotators, classes, answers)   averaged conditional means
    class_total: FloatArray  # (classes,)                       averaged over sweeps
    draws: Draws


def average_items(chains: Sequence[Chain]) -> Averages:
    """Average what the chains found about the items after burn-in.

    One chain at a time: all of them at once may not fit.
    """
    first_one, *others = chains
    probability = first_one.tally.probability / first_one.tally.sweeps
    per_item = first_one.tally.per_item / first_one.tally.sweeps
    sampler, reference = first_one.sampler, per_item.copy()
    for chain in others:
        probability += chain.tally.probability / chain.tally.sweeps
        found = chain.tally.per_item / chain.tally.sweeps
        per_item += sampler.hooks.align(reference, found)
    probability /= len(chains)
    per_item /= len(chains)
    return Averages(probability, sampler.layout.split_items(per_item), sampler.votes)


def pool(chains: Sequence[Chain]) -> Pooled:
    """Average over chains, and stack the draws, chains first.

    After an interruption chains differ in length; draws are cut to the shortest.
    """
    sweeps, draws, matrices = np.min([chain.kept.used for chain in chains], axis=0)
    kept = [first_draws(chain.kept, sweeps, draws, matrices) for chain in chains]
    grouped, layout = chains[0].sampler.coteries, chains[0].sampler.layout
    extra = layout.split_draws(np.stack([one.per_draw for one in kept]))
    means = [chain.kept.confusion_sum / chain.kept.used[1] for chain in chains]
    return Pooled(
        average_items(chains),
        np.mean(means, axis=0),
        np.mean([one.trace.class_total.mean(axis=0) for one in kept], axis=0),
        Draws(
            confusion=np.stack([one.confusion for one in kept]),
            class_balance=np.stack([one.class_balance for one in kept]),
            partition=np.stack([one.partition for one in kept]) if grouped else None,
            n_coteries=np.stack([one.n_coteries for one in kept]) if grouped else None,
            trace=stack_traces([one.trace for one in kept], grouped, layout),
            watched=(*WATCHED, *layout.watched),
            extra={one.name: DrawnArray(one.dims, extra[one.name]) for one in layout.per_draw},
            # Of items that are elsewhere no chain can go on.
            last=()
            if chains[0].sampler.blocks
            else tuple(chain.state._asdict() for chain in chains),
        ),
    )
