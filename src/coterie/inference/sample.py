"""A whole run: chains from a seed to a pooled result, with what there is to say about it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.errors import Argument, ConvergenceWarning, CoterieError
from coterie.files.locks import file_held
from coterie.inference.chain import Chain, Sampler, make_chain
from coterie.inference.chains import Stopped, run_chains, workers
from coterie.inference.checkpoint import Checkpoint
from coterie.inference.forecast import forecast, is_long
from coterie.inference.modes import Evidence, Verdict, judge_modes
from coterie.inference.pool import (
    Align,
    Averages,
    Pooled,
    as_found,
    average_items,
    pool,
    split_columns,
)
from coterie.inference.progress import progress_bar, say
from coterie.inference.settled import Outcome, Settled, settled_labels
from coterie.inference.shards import Session, Threads, connect
from coterie.inference.verdicts import note_coteries, note_labels, note_readings
from coterie.kernels.people import Streams
from coterie.kernels.vote import AS_FOUND, Mixing
from coterie.numeric.compile import telling_of_compilation
from coterie.posterior import Draws, ItemNumbers
from coterie.posterior.verdicts import ONE_LABEL

FloatArray = NDArray[np.float64]


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

    judge: Callable[[Evidence], Verdict] = judge_modes
    settled: Callable[[Outcome], Settled] = settled_labels
    report: Callable[[Averages, Codes], Reported] = report_as_found
    mixing: Mixing = field(default=AS_FOUND)
    matrices: Callable[[NDArray[Any], FloatArray, FloatArray, Streams], None] | None = None
    align: Align = as_found
    coterie_densities: bool = False


class Options(NamedTuple):
    """How a run is done; none of this changes what a whole run finds but the first three."""

    chains: int
    random_state: int | None
    early_stop: bool
    n_jobs: int | None = None
    progress: bool = False
    checkpoint: str | os.PathLike[str] | None = None
    name: str = "sampling"
    engine: Any = None  # as the user names it: who holds shards
    blocked: bool = False  # whether an engine holds them; else each chain's thread has them all
    after: Afterwards = Afterwards()


class Sample(NamedTuple):
    """What a run found, and how it went."""

    pooled: Pooled
    reported: Reported
    converged: bool
    facts: dict[str, Any]


COMPILING = "compiling the sampler: once on this machine, some seconds ..."


def sample(sampler: Sampler, options: Options, identity: Mapping[str, Any]) -> Sample:
    """Run the chains, leave out those that ended in a poorer mode, pool the others, warn.

    Parameters
    ----------
    sampler, options
        What is sampled, and how.
    identity
        What a checkpoint must share with this run: the data and the settings.
    """
    with telling_of_compilation(lambda: say(COMPILING, options.progress)):
        chains, stopped, resumed = run(sampler, options, identity)
    return conclude(chains, stopped, resumed, options.after)


def run(
    sampler: Sampler, options: Options, identity: Mapping[str, Any]
) -> tuple[list[Chain], Stopped, bool]:
    """Run the chains, from a checkpoint if there is one; say how they stopped, and whether so."""
    if options.checkpoint is None:
        return run_with(None, sampler, options)
    store = Checkpoint(options.checkpoint, identity)
    with file_held(store.path):
        return run_with(store, sampler, options)


def run_with(
    store: Checkpoint | None, sampler: Sampler, options: Options
) -> tuple[list[Chain], Stopped, bool]:
    """Run the chains, from what is stored if anything is."""
    with session_of(sampler, options) as session:
        return run_held(store, sampler, options, session)


@contextmanager
def session_of(sampler: Sampler, options: Options) -> Iterator[Session | None]:
    """Have the items held while a run lasts; a collapsed chain has its own."""
    if sampler.blocks is None or sampler.sizes is None:
        yield None
        return
    engine = connect(options.engine, options.n_jobs) if options.blocked else Threads(0)
    session = engine.open(sampler.blocks, sampler.sizes)
    try:
        yield session
    finally:
        session.close()


def run_held(
    store: Checkpoint | None, sampler: Sampler, options: Options, session: Session | None
) -> tuple[list[Chain], Stopped, bool]:
    """Run the chains, their items in the hands of an engine if there is one."""
    stored = store.read() if store else None
    entropy = options.random_state if stored is None else int(stored.header["entropy"])
    root = np.random.SeedSequence(entropy)
    chains = make_chains(sampler, root.spawn(options.chains), session)
    resumed = stored is not None
    if store and stored:
        done = store.restore(stored, chains)
        del stored  # as large as all that is kept
        say(
            f"going on from the checkpoint {store.path}, sweep {done:,} of {sampler.plan.end:,}",
            options.progress,
        )

    def meeting() -> None:
        if store and store.due():
            store.write(chains, int(root.entropy))  # type: ignore[arg-type]

    if options.progress and is_long(sampler, len(chains)):
        threads = workers(options.n_jobs, len(chains))
        if (word := forecast(chains, threads, early_stop=options.early_stop)) is not None:
            say(word, options.progress)
    labels = sampler.blocks.shards.n_labels if sampler.blocks and options.blocked else 0
    sweeps = options.chains * sampler.plan.end
    with progress_bar(options.name, sweeps, options.progress, labels) as bar:
        stopped = run_chains(
            chains, early_stop=options.early_stop, n_jobs=options.n_jobs, bar=bar, meeting=meeting
        )
    if store:
        store.write(chains, int(root.entropy))  # type: ignore[arg-type]
    for chain in chains:
        chain.end()
    if min(chain.used[2] for chain in chains) == 0:
        raise KeyboardInterrupt  # stopped before there was anything to keep
    return chains, stopped, resumed


def make_chains(
    sampler: Sampler, seeds: Sequence[np.random.SeedSequence], session: Session | None
) -> list[Chain]:
    """Start the chains, where the memory has room."""
    try:
        return [make_chain(sampler, k, seed, session) for k, seed in enumerate(seeds)]
    except MemoryError:
        raise CoterieError(
            f"the memory does not suffice to keep {len(seeds):,} chains of "
            f"{sampler.plan.sweeps:,} sweeps",
            remedy=["lower ", Argument("sweeps"), " or ", Argument("chains")],
        ) from None


def conclude(chains: list[Chain], stopped: Stopped, resumed: bool, after: Afterwards) -> Sample:
    """Judge where the chains ended, pool them, and warn of what should not be trusted."""
    sampler = chains[0].sampler
    verdict = after.judge(_evidence(chains, after))
    kept = [chains[k] for k in verdict.kept]
    pooled = pool(kept, after.align)
    if not np.isfinite(pooled.averages.item_probability).all():
        raise CoterieError(
            "the sampler met numbers too large or too small to compute with; choose a prior that"
            " is less vague"
        )
    reported = report(pooled, kept[0], after)
    facts: dict[str, Any] = {
        "stopped": stopped,
        "sweeps": min(chain.done for chain in chains),
        "burn_in": sampler.plan.burn_in,
        "chains": len(chains),
        "left_out": {str(k + 1): why for k, why in verdict.left_out.items()},
        "modes": [{**mode._asdict(), "chain": mode.chain + 1} for mode in verdict.modes],
        "resumed": resumed,
    }
    facts["verdicts"] = note(kept, pooled.draws, [k + 1 for k in verdict.kept], after)
    outcome = Outcome(
        draws=pooled.draws,
        sweeps=facts["sweeps"],
        n_left_out=len(verdict.left_out),
        noted=facts["verdicts"]["labels"],
        items=sampler.items,
        traces_settled=stopped == "converged",
    )
    settled = after.settled(outcome)
    warn(facts, verdict, settled, sampler.plan.sweeps)
    return Sample(pooled, reported, settled.converged, facts)


def note(
    chains: list[Chain], draws: Draws, numbers: list[int], after: Afterwards
) -> dict[str, Any]:
    """Note how far chains agree: on the labels, on the coteries.

    Parameters
    ----------
    chains, draws
        The chains that are kept, and their draws.
    numbers
        What the chains are called.
    after
        What becomes of them.
    """
    data = chains[0].sampler.data
    (places,) = np.nonzero((np.diff(data.item_start) > 0) & (data.gold < 0))

    def say(some: Sequence[int]) -> NDArray[np.float64]:
        found = average_items([chains[k] for k in some], after.align)
        return after.report(found, data).item_probability[places]

    labels = np.stack([say([k]).argmax(axis=1) for k in range(len(chains))])
    noted = note_labels(labels, places, min(int(chain.used[0]) for chain in chains))
    two = None if noted["one_label"] >= ONE_LABEL else note_readings(labels, places, say)
    if two is not None:
        sides = [[numbers[k] for k in side] for side in two["chains"]]
        noted["readings"] = {**two, "chains": sides}
    people = np.diff(data.annotator_start) > 0
    return {
        "labels": noted,
        "coteries": note_coteries(draws, people) if chains[0].people.coteries else None,
    }


def report(pooled: Pooled, chain: Chain, after: Afterwards) -> Reported:
    """Give what is reported of the items; the pooled matrices become those that fit it.

    Parameters
    ----------
    pooled
        What the chains found.
    chain
        One of them, at its end: where random numbers come from.
    after
        What becomes of the chains.
    """
    reported = after.report(pooled.averages, chain.sampler.data)
    wanted = pooled.averages.item_probability.shape
    if np.shape(reported.item_probability) != wanted:
        raise CoterieError(
            f"the model reports probabilities of shape {np.shape(reported.item_probability)}; give"
            f" them of shape (items, classes) = {wanted}"
        )
    if after.matrices is not None:
        matrices = pooled.draws.confusion
        draws = matrices.reshape(-1, *matrices.shape[2:])  # a view
        after.matrices(draws, pooled.confusion_mean, reported.item_probability, chain.streams)
    return reported


def _evidence(chains: list[Chain], after: Afterwards) -> Evidence:
    """Gather what decides which chains are pooled, as long as the shortest chain has it."""
    data, people = chains[0].sampler.data, chains[0].people
    n_sweeps, n_draws, n_drawn = np.min([chain.used for chain in chains], axis=0)

    def mean(name: str) -> FloatArray:
        return np.stack([chain.kept[name][:n_drawn].mean(axis=0) for chain in chains])

    def noted(name: str) -> NDArray[Any]:
        return np.stack([chain.trace[name][:n_sweeps] for chain in chains])

    return Evidence(
        log_joint=noted("log_joint"),
        vote_agreement=np.stack([chain.kept["vote_agreement"][:n_draws] for chain in chains]),
        n_coteries=noted("n_coteries") if after.coterie_densities else None,
        n_classes=data.n_classes,
        n_labels=np.diff(data.annotator_start),
        drawn={name: mean(name) for name in (*people.dims, "class_balance")},
        kind=np.stack([split_columns(chain.sums, chain.sampler)[1].argmax(1) for chain in chains]),
    )


def warn(facts: Mapping[str, Any], verdict: Verdict, settled: Settled, planned: int) -> None:
    """Warn of an interruption, of chains left out, of chains that have not converged."""
    done = facts["sweeps"]
    if facts["stopped"] == "interrupted":
        message = f"interrupted after {done:,} of {planned:,} sweeps; the draws so far are kept"
        warnings.warn(ConvergenceWarning(message, {"sweeps": done}), stacklevel=2)
    if verdict.left_out:
        warnings.warn(_left_out(verdict), stacklevel=2)
    if settled.warning is not None:
        warnings.warn(settled.warning, stacklevel=2)


def _left_out(verdict: Verdict) -> ConvergenceWarning:
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
