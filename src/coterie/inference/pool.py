"""Several chains into one result: averaged probabilities, stacked draws and traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.diagnostics import WATCHED
from coterie.inference.chain import Chain, Sampler
from coterie.posterior import DrawnArray, Draws

FloatArray = NDArray[np.float64]
Align = Callable[[FloatArray, FloatArray], FloatArray]
"""Brings the kinds of a chain, (items, kinds), in the order that fits those of the first."""

NOTED = ("log_joint", "log_likelihood", "n_coteries", "concentration", "class_total")
"""Of every sweep, by all models."""


class Averages(NamedTuple):
    """What a run found about the items, averaged over sweeps and chains."""

    item_probability: FloatArray  # (items, classes)   the model's own
    kinds: FloatArray  # (items, kinds)
    tempered: FloatArray  # (items, classes)   of models that temper, else the model's own
    votes: NDArray[np.int32]  # (items, classes)   labels of each class


class Pooled(NamedTuple):
    """What several chains found together."""

    averages: Averages
    confusion_mean: FloatArray  # (annotators, classes, answers)   averaged conditional means
    class_total: FloatArray  # (classes,)   averaged over sweeps
    draws: Draws


def as_found(reference: FloatArray, found: FloatArray) -> FloatArray:
    """Take the kinds of every chain as they are."""
    return found


def split_columns(sums: FloatArray, sampler: Sampler) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give probabilities of classes and of kinds, and tempered ones, from what is summed."""
    n_classes = sampler.data.n_classes
    if sampler.sizes is None or sums.shape[1] == n_classes:
        return sums, np.ones((len(sums), 1)), sums
    if sampler.tempered:
        own, tempered, kinds = np.split(sums, [n_classes, 2 * n_classes], axis=1)
        return own, kinds, tempered
    space = sampler.sizes.space
    classes = np.stack([sums[:, space.cell_class == t].sum(axis=1) for t in range(n_classes)], 1)
    known = np.flatnonzero(sampler.data.gold >= 0)
    classes[known] = np.eye(n_classes)[sampler.data.gold[known]]  # sums are so but for rounding
    kinds = np.stack([sums[:, space.cell_kind == k].sum(axis=1) for k in range(space.n_kinds)], 1)
    return classes, kinds, classes


def average_items(chains: Sequence[Chain], align: Align) -> Averages:
    """Average what the chains found about the items after burn-in.

    One chain at a time: all of them at once may not fit.
    """
    first, *others = chains
    sampler = first.sampler
    own, kinds, tempered = split_columns(first.sums / first.used[0], sampler)
    reference = kinds
    for chain in others:
        found = split_columns(chain.sums / chain.used[0], sampler)
        own, kinds, tempered = (
            own + found[0],
            kinds + align(reference, found[1]),
            tempered + found[2],
        )
    n = len(chains)
    return Averages(own / n, kinds / n, tempered / n, sampler.votes)


def stack_traces(chains: Sequence[Chain], sweeps: int) -> dict[str, FloatArray]:
    """Stack what is noted of sweeps, to (chains, sweeps, ...): what all models note comes first."""
    names = sorted(chains[0].trace, key=lambda name: name not in NOTED)
    return {
        name: np.stack([chain.trace[name][:sweeps] for chain in chains]).astype(np.float64)
        for name in names
    }


def pool(chains: Sequence[Chain], align: Align) -> Pooled:
    """Average over chains, and stack the draws, chains first.

    After an interruption chains differ in length; draws are cut to the shortest.
    """
    sweeps, draws, matrices = np.min([chain.used for chain in chains], axis=0).tolist()
    people, thin = chains[0].people, chains[0].sampler.plan.thin

    def stacked(name: str, n: int) -> NDArray[Any]:
        return np.stack([chain.kept[name][:n] for chain in chains])

    trace, grouped = stack_traces(chains, sweeps), people.coteries
    means = [chain.kept["confusion_sum"] / chain.used[1] for chain in chains]
    extra: Mapping[str, tuple[str, ...]] = people.dims
    return Pooled(
        average_items(chains, align),
        np.mean(means, axis=0),
        trace["class_total"].mean(axis=(0, 1)),
        Draws(
            confusion=stacked("confusion", matrices),
            class_balance=stacked("class_balance", matrices),
            partition=stacked("partition", draws) if grouped else None,
            n_coteries=trace["n_coteries"][:, thin - 1 :: thin].astype(np.int64)
            if grouped
            else None,
            trace=trace,
            watched=(*WATCHED, *people.watched),
            extra={n: DrawnArray(dims, stacked(n, matrices)) for n, dims in extra.items()},
            last=tuple(chain.state for chain in chains),
        ),
    )
