"""A whole run: chains from a seed to a pooled result, with what there is to say about it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import Argument, ConvergenceWarning, CoterieError
from coterie.files.locks import file_held
from coterie.inference.blocked import make_chain, session_of
from coterie.inference.chain import Chain, Sampler
from coterie.inference.chains import Stopped, run_chains, workers
from coterie.inference.checkpoint import Checkpoint
from coterie.inference.engine import Session
from coterie.inference.forecast import forecast, is_long
from coterie.inference.kernel_checks import (
    check_brought,
    check_recorded,
    check_reported,
)
from coterie.inference.modes import Evidence, Verdict
from coterie.inference.pool import Pooled, average_items, pool
from coterie.inference.progress import progress_bar, say
from coterie.inference.protocol import Reported
from coterie.inference.settled import Outcome, Settled
from coterie.inference.verdicts import note_coteries, note_labels, note_readings
from coterie.kernels.matrices import Matrices
from coterie.numeric.jit import telling_of_compilation
from coterie.posterior import Draws
from coterie.posterior.verdicts import ONE_LABEL


class Options(NamedTuple):
    """How a run is done; none of this changes what a whole run finds but the first three."""

    chains: int
    random_state: int | None
    early_stop: bool
    n_jobs: int | None = None
    progress: bool = False
    checkpoint: str | os.PathLike[str] | None = None
    name: str = "sampling"
    engine: Any = None  # as the user names it: who holds shards, where the sampler has any


class Sample(NamedTuple):
    """What a run found, and how it went."""

    pooled: Pooled
    reported: Reported
    converged: bool
    facts: dict[str, Any]


COMPILING = "compiling the sampler: once on this machine, about half a minute ..."


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
    return conclude(chains, stopped, resumed)


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
    with session_of(sampler, options.engine, options.n_jobs) as session:
        return run_held(store, sampler, options, session)


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
    labels = sampler.blocks.shards.n_labels if sampler.blocks else 0
    sweeps = options.chains * sampler.plan.end
    with progress_bar(options.name, sweeps, options.progress, labels) as bar:
        stopped = run_chains(
            chains, early_stop=options.early_stop, n_jobs=options.n_jobs, bar=bar, meeting=meeting
        )
    if store:
        store.write(chains, int(root.entropy))  # type: ignore[arg-type]
    for chain in chains:
        chain.end()
        check_recorded(chain)
    if min(chain.kept.used[2] for chain in chains) == 0:
        raise KeyboardInterrupt  # stopped before there was anything to keep
    return chains, stopped, resumed


def make_chains(
    sampler: Sampler, seeds: Sequence[np.random.SeedSequence], session: Session | None
) -> list[Chain]:
    """Start the chains, of kernels that bring what they must, where the memory has room."""
    check_brought(sampler)
    try:
        return [make_chain(sampler, k, seed, session) for k, seed in enumerate(seeds)]
    except MemoryError:
        raise CoterieError(
            f"the memory does not suffice to keep {len(seeds):,} chains of "
            f"{sampler.plan.sweeps:,} sweeps",
            remedy=["lower ", Argument("sweeps"), " or ", Argument("chains")],
        ) from None


def conclude(chains: list[Chain], stopped: Stopped, resumed: bool) -> Sample:
    """Judge where the chains ended, pool them, and warn of what should not be trusted."""
    sampler = chains[0].sampler
    verdict = sampler.hooks.judge(_evidence(chains))
    kept = [chains[k] for k in verdict.kept]
    pooled = pool(kept)
    if not np.isfinite(pooled.averages.item_probability).all():
        raise CoterieError(
            "the sampler met numbers too large or too small to compute with; choose a prior that"
            " is less vague"
        )
    reported = report(pooled, kept[0])
    facts: dict[str, Any] = {
        "stopped": stopped,
        "sweeps": min(chain.done for chain in chains),
        "burn_in": sampler.plan.burn_in,
        "chains": len(chains),
        "left_out": {str(k + 1): why for k, why in verdict.left_out.items()},
        "modes": [{**mode._asdict(), "chain": mode.chain + 1} for mode in verdict.modes],
        "resumed": resumed,
    }
    facts["verdicts"] = note(kept, pooled.draws, [k + 1 for k in verdict.kept])
    outcome = Outcome(
        draws=pooled.draws,
        sweeps=facts["sweeps"],
        n_left_out=len(verdict.left_out),
        noted=facts["verdicts"]["labels"],
        items=sampler.items,
        traces_settled=stopped == "converged",
    )
    settled = sampler.hooks.settled(outcome)
    warn(facts, verdict, settled, sampler.plan.sweeps)
    return Sample(pooled, reported, settled.converged, facts)


def note(chains: list[Chain], draws: Draws, numbers: list[int]) -> dict[str, Any]:
    """Note how far chains agree: on the labels, on the coteries.

    Parameters
    ----------
    chains, draws
        The chains that are kept, and their draws.
    numbers
        What the chains are called.
    """
    sampler, data = chains[0].sampler, chains[0].sampler.data
    (places,) = np.nonzero((np.diff(data.item_start) > 0) & (data.gold < 0))

    def say(some: Sequence[int]) -> NDArray[np.float64]:
        found = average_items([chains[k] for k in some])
        reported = sampler.hooks.report(found, sampler.layout, data, sampler.prior)
        return reported.item_probability[places]

    labels = np.stack([say([k]).argmax(axis=1) for k in range(len(chains))])
    noted = note_labels(labels, places, min(int(chain.kept.used[0]) for chain in chains))
    two = None if noted["one_label"] >= ONE_LABEL else note_readings(labels, places, say)
    if two is not None:
        sides = [[numbers[k] for k in side] for side in two["chains"]]
        noted["readings"] = {**two, "chains": sides}
    people = np.diff(data.annotator_start) > 0
    return {
        "labels": noted,
        "coteries": note_coteries(draws, people) if sampler.coteries else None,
    }


def report(pooled: Pooled, chain: Chain) -> Reported:
    """Give what is reported of the items; the pooled matrices become those that fit it.

    Parameters
    ----------
    pooled
        What the chains found.
    chain
        One of them, at its end: where random numbers come from.
    """
    sampler = chain.sampler
    hooks, data = sampler.hooks, sampler.data
    reported = hooks.report(pooled.averages, sampler.layout, data, sampler.prior)
    check_reported(reported, sampler)
    matrices = Matrices(pooled.draws.confusion, pooled.confusion_mean)
    hooks.matrices(matrices, reported.item_probability, data, chain.streams)
    return reported


def _evidence(chains: list[Chain]) -> Evidence:
    """Gather what decides which chains are pooled, as long as the shortest chain has it."""
    sampler = chains[0].sampler
    n_sweeps, n_draws, n_drawn = np.min([chain.kept.used for chain in chains], axis=0)
    n_coteries = np.stack([chain.kept.trace.n_coteries[:n_sweeps] for chain in chains])
    mean = np.stack([chain.kept.per_draw[:n_drawn].mean(axis=0) for chain in chains])
    balance = np.stack([chain.kept.class_balance[:n_drawn].mean(axis=0) for chain in chains])
    return Evidence(
        log_joint=np.stack([chain.kept.trace.log_joint[:n_sweeps] for chain in chains]),
        vote_agreement=np.stack([chain.kept.vote_agreement[:n_draws] for chain in chains]),
        n_coteries=n_coteries if sampler.hooks.coterie_densities else None,
        n_classes=sampler.data.n_classes,
        n_labels=np.diff(sampler.data.annotator_start),
        drawn={**sampler.layout.split_draws(mean), "class_balance": balance},
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
