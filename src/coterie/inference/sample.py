"""A whole run: chains from a seed to a pooled result, with what there is to say about it.

Of the chains that are kept probabilities are averaged, draws and traces stacked.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.diagnostics import WATCHED
from coterie.errors import Argument, ConvergenceWarning, CoterieError
from coterie.files.atomic import file_held
from coterie.inference import verdicts
from coterie.inference.chain import Chain, Sampler, make_chain
from coterie.inference.chains import Stopped, forecast, progress_bar, run_chains, say, stack_traces
from coterie.inference.checkpoint import Checkpoint
from coterie.inference.shards import Session, Threads, connect
from coterie.kernels.people import Streams
from coterie.kernels.vote import AS_FOUND, Mixing
from coterie.numeric import FloatArray
from coterie.numeric.compile import telling_of_compilation
from coterie.posterior import DrawnArray, Draws, ItemNumbers

Align = Callable[[FloatArray, FloatArray], FloatArray]
"""Brings the kinds of a chain, (items, kinds), in the order that fits those of the first."""

COMPILING = "compiling the sampler: once on this machine, some seconds ..."


class Averages(NamedTuple):
    """What a run found about the items, averaged over sweeps and chains."""

    item_probability: FloatArray  # (items, classes)   the model's own
    kinds: FloatArray  # (items, kinds)
    tempered: FloatArray  # (items, classes)   of models that temper, else the model's own
    votes: NDArray[np.int32]  # (items, classes)   labels of each class


class Reported(NamedTuple):
    """What a model reports about the items."""

    item_probability: FloatArray  # (items, classes)
    item_numbers: Mapping[str, ItemNumbers]


def report_as_found(found: Averages, data: Codes) -> Reported:
    """Report the model's own probabilities."""
    return Reported(found.item_probability, {})


@dataclass(frozen=True)
class Afterwards:
    """What becomes of the chains: a model names only what it does otherwise than the others.

    Parameters
    ----------
    judge
        ``(evidence) -> Verdict``: which chains are pooled, and why not the others.
    settled
        ``(outcome) -> Settled``: whether the result may be trusted, and what to warn of if not.
    report
        ``(averages, data) -> Reported``: the probabilities and numbers of the items that users see.
    mixing
        How these probabilities come from the model's own, for labels that join later.
    matrices
        ``(draws, mean, probability, streams)``: turns what was kept of matrices, in place, into
        what users see, given the reported probabilities; None takes them as they are.
    align
        Brings the kinds of a chain in the order that fits those of the first, where they permute.
    coterie_densities
        The log joint holds a density of every coterie's parameters: such log joints are compared
        only between chains that had the same number of coteries at some time.
    """

    judge: Callable[[verdicts.Evidence], verdicts.Verdict] = verdicts.judge_modes
    settled: Callable[[verdicts.Outcome], verdicts.Settled] = verdicts.settled_labels
    report: Callable[[Averages, Codes], Reported] = report_as_found
    mixing: Mixing = field(default=AS_FOUND)
    matrices: Callable[[NDArray[Any], FloatArray, FloatArray, Streams], None] | None = None
    align: Align | None = None
    coterie_densities: bool = False


class Options(NamedTuple):
    """How a run is done, settings first; only three of these change what a whole run finds."""

    chains: int
    random_state: int | None
    early_stop: bool
    n_jobs: int | None = None
    progress: bool = False
    checkpoint: str | os.PathLike[str] | None = None
    engine: Any = None  # as the user names it: who holds shards
    name: str = "sampling"
    blocked: bool = False  # whether an engine holds them; else each chain's thread has them all
    after: Afterwards = Afterwards()


class Sample(NamedTuple):
    """What a run found, and how it went."""

    averages: Averages  # of the chains that are pooled, as what follows
    confusion_mean: FloatArray  # (annotators, classes, answers)   averaged conditional means
    draws: Draws
    reported: Reported
    converged: bool
    facts: dict[str, Any]


def sample(sampler: Sampler, options: Options, identity: Mapping[str, Any]) -> Sample:
    """Run the chains, pool those that did not end in a poorer mode, warn.

    The identity is what a checkpoint must share with this run: the data and the settings.
    """
    with telling_of_compilation(lambda: say(COMPILING, options.progress)):
        chains, stopped, resumed = run(sampler, options, identity)
    return conclude(chains, stopped, resumed, options.after)


def run(
    sampler: Sampler, options: Options, identity: Mapping[str, Any]
) -> tuple[list[Chain], Stopped, bool]:
    """Run the chains, from a checkpoint if there is one; say how they stopped, and whether so."""
    store = None if options.checkpoint is None else Checkpoint(options.checkpoint, identity)
    early_stop, n_jobs = options.early_stop, options.n_jobs
    held = file_held(store.path) if store else nullcontext()
    with held, session_of(sampler, options) as session:
        stored = store.read() if store else None
        entropy = options.random_state if stored is None else int(stored.header["entropy"])
        root, resumed = np.random.SeedSequence(entropy), stored is not None
        try:
            seeds = enumerate(root.spawn(options.chains))
            chains = [make_chain(sampler, k, seed, session) for k, seed in seeds]
        except MemoryError:
            raise CoterieError(
                f"the memory does not suffice to keep {options.chains:,} chains of "
                f"{sampler.plan.sweeps:,} sweeps",
                remedy=["lower ", Argument("sweeps"), " or ", Argument("chains")],
            ) from None
        if store and stored:
            done = store.restore(stored, chains)
            del stored  # as large as all that is kept
            where = f"{store.path}, sweep {done:,} of {sampler.plan.end:,}"
            say(f"going on from the checkpoint {where}", options.progress)

        def write(always: bool = False) -> None:
            if store and (always or store.due()):
                store.write(chains, int(root.entropy))  # type: ignore[arg-type]

        if options.progress:
            forecast(chains, n_jobs, early_stop)
        labels = sampler.blocks.shards.n_labels if sampler.blocks and options.blocked else 0
        sweeps = len(chains) * sampler.plan.end
        with progress_bar(options.name, sweeps, options.progress, labels) as bar:
            stopped = run_chains(chains, early_stop, n_jobs, bar, write)
        write(always=True)
        for chain in chains:
            chain.end()
    if min(chain.used[2] for chain in chains) == 0:
        raise KeyboardInterrupt  # stopped before there was anything to keep
    return chains, stopped, resumed


def session_of(sampler: Sampler, options: Options) -> AbstractContextManager[Session | None]:
    """Have the items held while a run lasts; a collapsed chain has its own."""
    if sampler.blocks is None:
        return nullcontext()
    engine = connect(options.engine, options.n_jobs) if options.blocked else Threads(0)
    return closing(engine.open(sampler.blocks, sampler.sizes))


def conclude(chains: list[Chain], stopped: Stopped, resumed: bool, after: Afterwards) -> Sample:
    """Judge where the chains ended, pool them, and warn of what should not be trusted."""
    sampler, done = chains[0].sampler, min(chain.done for chain in chains)
    verdict = after.judge(_evidence(chains, after))
    kept = [chains[k] for k in verdict.kept]
    averages, draws = average_items(kept, after.align), pool(kept)
    mean = np.mean([chain.kept["confusion_sum"] / chain.used[1] for chain in kept], axis=0)
    if not np.isfinite(averages.item_probability).all():
        raise CoterieError(
            "the sampler met numbers too large or too small to compute with; choose a prior that"
            " is less vague"
        )
    reported = after.report(averages, sampler.data)
    given, wanted = np.shape(reported.item_probability), averages.item_probability.shape
    if given != wanted:
        raise CoterieError(
            f"the model reports probabilities of shape {given}; give them of shape (items, classes)"
            f" = {wanted}"
        )
    if after.matrices is not None:  # those of the draws become such as fit what is reported
        each = draws.confusion.reshape(-1, *mean.shape)  # a view
        after.matrices(each, mean, reported.item_probability, kept[0].streams)
    noted = note(kept, draws, [k + 1 for k in verdict.kept], after)
    n_left_out, converged = len(verdict.left_out), stopped == "converged"
    settled, warning = after.settled(
        verdicts.Outcome(draws, done, n_left_out, noted["labels"], sampler.items, converged)
    )
    said = []
    if stopped == "interrupted":
        part = f"interrupted after {done:,} of {sampler.plan.sweeps:,} sweeps"
        said.append(ConvergenceWarning(f"{part}; the draws so far are kept", {"sweeps": done}))
    if verdict.left_out:
        said.append(_left_out(verdict))
    for one in said if warning is None else [*said, warning]:
        warnings.warn(one, stacklevel=2)
    facts = {
        "stopped": stopped,
        "sweeps": done,
        "burn_in": sampler.plan.burn_in,
        "chains": len(chains),
        "left_out": {str(k + 1): why for k, why in verdict.left_out.items()},
        "modes": [{**mode._asdict(), "chain": mode.chain + 1} for mode in verdict.modes],
        "resumed": resumed,
        "verdicts": noted,
    }
    return Sample(averages, mean, draws, reported, settled, facts)


def note(
    chains: list[Chain], draws: Draws, numbers: list[int], after: Afterwards
) -> dict[str, Any]:
    """Note how far chains, called by these numbers, agree: on the labels, on the coteries."""
    data = chains[0].sampler.data
    (places,) = np.nonzero((np.diff(data.item_start) > 0) & (data.gold < 0))

    def say(some: Sequence[int]) -> FloatArray:
        found = average_items([chains[k] for k in some], after.align)
        return after.report(found, data).item_probability[places]

    labels = np.stack([say([k]).argmax(axis=1) for k in range(len(chains))])
    sweeps, people = min(int(chain.used[0]) for chain in chains), np.diff(data.annotator_start) > 0
    return {
        "labels": verdicts.note_labels(labels, places, sweeps, numbers, say),
        "coteries": verdicts.note_coteries(draws, people) if chains[0].people.coteries else None,
    }


def _evidence(chains: list[Chain], after: Afterwards) -> verdicts.Evidence:
    """Gather what decides which chains are pooled, as long as the shortest chain has it."""
    data, people = chains[0].sampler.data, chains[0].people
    n_sweeps, n_draws, n_drawn = np.min([chain.used for chain in chains], axis=0)

    def each(found: Callable[[Chain], NDArray[Any]]) -> NDArray[Any]:
        return np.stack([found(chain) for chain in chains])

    def mean(name: str) -> FloatArray:
        return each(lambda chain: chain.kept[name][:n_drawn].mean(axis=0))

    n_coteries = None
    if after.coterie_densities:
        n_coteries = each(lambda chain: chain.trace["n_coteries"][:n_sweeps])
    return verdicts.Evidence(
        log_joint=each(lambda chain: chain.trace["log_joint"][:n_sweeps]),
        vote_agreement=each(lambda chain: chain.kept["vote_agreement"][:n_draws]),
        n_coteries=n_coteries,
        n_classes=data.n_classes,
        n_labels=np.diff(data.annotator_start),
        drawn={name: mean(name) for name in (*people.dims, "class_balance")},
        kind=each(lambda chain: split_columns(chain.sums, chain.sampler)[1].argmax(1)),
    )


def _left_out(verdict: verdicts.Verdict) -> ConvergenceWarning:
    each = [
        f"chain {k + 1} is {why} (log joint {verdict.modes[k].log_joint:,.1f} against"
        f" {verdict.better[k].log_joint:,.1f}, agreement with the vote"
        f" {verdict.modes[k].vote_agreement:.0%} against {verdict.better[k].vote_agreement:.0%})"
        for k, why in verdict.left_out.items()
    ]
    numbers = {"left_out": float(len(each)), "kept": float(len(verdict.kept))}
    for mode in verdict.modes:
        numbers[f"log_joint[{mode.chain + 1}]"] = mode.log_joint
        numbers[f"vote_agreement[{mode.chain + 1}]"] = mode.vote_agreement
    return ConvergenceWarning(
        f"{len(each)} of {len(verdict.modes)} chains ended in another mode and are left out: "
        f"{'; '.join(each)}; run more chains, or add gold labels, to see which mode holds",
        numbers,
    )


def split_columns(sums: FloatArray, sampler: Sampler) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give probabilities of classes and of kinds, and tempered ones, from what is summed."""
    n_classes = sampler.data.n_classes
    if sums.shape[1] == n_classes:
        return sums, np.ones((len(sums), 1)), sums
    if sampler.sizes.tempered:
        own, tempered, kinds = np.split(sums, [n_classes, 2 * n_classes], axis=1)
        return own, kinds, tempered
    space = sampler.sizes.space
    classes = np.stack([sums[:, space.cell_class == t].sum(axis=1) for t in range(n_classes)], 1)
    known = np.flatnonzero(sampler.data.gold >= 0)
    classes[known] = np.eye(n_classes)[sampler.data.gold[known]]  # sums are so but for rounding
    kinds = np.stack([sums[:, space.cell_kind == k].sum(axis=1) for k in range(space.n_kinds)], 1)
    return classes, kinds, classes


def average_items(chains: Sequence[Chain], align: Align | None) -> Averages:
    """Average what was found about items after burn-in; all chains at once might not fit."""
    first, *others = chains
    summed = split_columns(first.sums / first.used[0], first.sampler)
    reference = summed[1]
    for chain in others:
        own, kinds, tempered = split_columns(chain.sums / chain.used[0], chain.sampler)
        kinds = kinds if align is None else align(reference, kinds)
        summed = summed[0] + own, summed[1] + kinds, summed[2] + tempered
    own, kinds, tempered = (one / len(chains) for one in summed)
    return Averages(own, kinds, tempered, first.sampler.votes)


def pool(chains: Sequence[Chain]) -> Draws:
    """Stack the draws, chains first, as long as the shortest chain's."""
    sweeps, draws, matrices = np.min([chain.used for chain in chains], axis=0).tolist()
    people, thin = chains[0].people, chains[0].sampler.plan.thin

    def stacked(name: str, n: int) -> NDArray[Any]:
        return np.stack([chain.kept[name][:n] for chain in chains])

    trace, partition, n_coteries = stack_traces(chains, sweeps), None, None
    if people.coteries:
        partition = stacked("partition", draws)
        n_coteries = trace["n_coteries"][:, thin - 1 :: thin].astype(np.int64)
    return Draws(
        confusion=stacked("confusion", matrices),
        class_balance=stacked("class_balance", matrices),
        partition=partition,
        n_coteries=n_coteries,
        trace=trace,
        watched=(*WATCHED, *people.watched),
        extra={n: DrawnArray(dims, stacked(n, matrices)) for n, dims in people.dims.items()},
        last=tuple(chain.state for chain in chains),
    )
