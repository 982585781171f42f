"""Several chains, one after the other, into draws and averaged conditionals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from coterie.numeric.partitions import canonical_groups
from coterie.posterior import Draws
from coterie.run.chain import Kernels, Plan, Step, chain

CONFUSION_BYTES = 64 * 2**20
"""Room for the matrices that one chain keeps; crowds that need more keep fewer draws of them."""

Wrap = Callable[[int, Iterator[Step]], Iterator[Step]]
FloatArray = NDArray[np.float64]


class Sample(NamedTuple):
    """What several chains found, pooled."""

    item_probability: FloatArray  # (items, classes)               averaged conditionals
    confusion_mean: FloatArray  # (annotators, classes, answers)  averaged conditional means
    class_total: FloatArray  # (classes,)                     averaged over sweeps
    draws: Draws


class Record(NamedTuple):
    """What one chain leaves behind."""

    item_probability: FloatArray
    confusion_mean: FloatArray
    confusion: NDArray[np.float32]  # (draws, annotators, classes, answers)
    class_balance: FloatArray  # (draws, classes)
    partition: NDArray[np.int32]  # (draws, annotators)
    trace: dict[str, FloatArray]  # name -> (sweeps,)


def sample(
    kernels: Kernels,
    data: Codes,
    prior: Any,
    plan: Plan,
    seeds: list[np.random.SeedSequence],
    wrap: Wrap,
) -> Sample:
    """Run one chain for each seed and pool them.

    Parameters
    ----------
    wrap
        Called with each chain's number and steps; gives the steps on (progress is shown here).
    """
    records = []
    for number, seed in enumerate(seeds):
        moves, draws, spare = (np.random.default_rng(child) for child in seed.spawn(3))
        steps = wrap(number, chain(kernels, data, prior, plan, number, moves))
        records.append(record(kernels, data, prior, plan, steps, draws, spare))
    return pool(records, data)


def record(
    kernels: Kernels,
    data: Codes,
    prior: Any,
    plan: Plan,
    steps: Iterator[Step],
    rng: np.random.Generator,
    spare: np.random.Generator,
) -> Record:
    """Follow a chain and keep what is worth keeping.

    The draws of matrices have a generator of their own, so that what is kept never changes where
    the chain goes; ``spare`` serves annotators without labels, so that they change nobody's bits.
    """
    n_annotators, (n_classes, n_answers) = len(data.annotator_start) - 1, data[-2:]
    one = np.zeros((n_annotators, n_classes, n_answers))
    every = max(1, -(-plan.draws * one.size * 4 // CONFUSION_BYTES))
    mean = np.zeros_like(one)
    confusion, balance, partition, traces = [], [], [], []
    for step in steps:
        if not step.kept:
            continue
        kernels.mean_confusion(step.state, data, prior, mean)
        partition.append(seat(step, spare))
        traces.append(step.trace)
        if len(partition) % every == 0:
            kernels.draw_confusion(step.state, data, prior, rng, spare, one)
            confusion.append(one.astype(np.float32))
            balance.append(np.zeros(n_classes))
            kernels.draw_class_balance(step.state, prior, rng, balance[-1])
    return Record(
        step.tally.probability / step.tally.sweeps,
        mean / len(partition),
        np.array(confusion),
        np.array(balance),
        np.array(partition),
        join_traces(traces),
    )


def seat(step: Step, spare: np.random.Generator) -> NDArray[np.int32]:
    """Give the partition in canonical form; annotators without labels sit down as newcomers.

    A newcomer joins a cluster with probability proportional to its size, and opens a new one with
    probability proportional to the concentration.
    """
    if not hasattr(step.state, "group"):
        return np.zeros(0, np.int32)
    group = canonical_groups(step.state.group)
    (newcomers,) = np.nonzero(group < 0)
    if len(newcomers) == 0:
        return group
    size = np.bincount(group[group >= 0])
    for l in newcomers:
        weights = np.append(size, step.trace.concentration[-1])
        m = spare.choice(len(weights), p=weights / weights.sum())
        if m == len(size):
            size = np.append(size, 0)
        size[m] += 1
        group[l] = m
    return group


def join_traces(traces: list[Any]) -> dict[str, FloatArray]:
    """Put blocks of watched quantities end to end, each a row of numbers with a name."""
    whole = {
        name: np.concatenate([np.asarray(getattr(trace, name), float) for trace in traces])
        for name in traces[0]._fields
    }
    totals = whole.pop("class_total")
    return {**whole, **{f"class_total[{t}]": totals[:, t] for t in range(totals.shape[1])}}


def pool(records: list[Record], data: Codes) -> Sample:
    """Average over chains, and stack the draws, chains first."""
    trace = {name: np.stack([r.trace[name] for r in records]) for name in records[0].trace}
    partition = np.stack([r.partition for r in records])
    clustered = partition.shape[-1] > 0
    thin = trace["n_groups"].shape[1] // partition.shape[1]
    n_coteries = trace["n_groups"][:, thin - 1 :: thin].astype(np.int64)
    if not clustered:
        del trace["n_groups"], trace["concentration"]
    draws = Draws(
        confusion=np.stack([r.confusion for r in records]),
        class_balance=np.stack([r.class_balance for r in records]),
        partition=partition if clustered else None,
        n_coteries=n_coteries if clustered else None,
        trace=trace,
    )
    return Sample(
        np.mean([r.item_probability for r in records], axis=0),
        np.mean([r.confusion_mean for r in records], axis=0),
        np.array([trace[f"class_total[{t}]"].mean() for t in range(data.n_classes)]),
        draws,
    )
