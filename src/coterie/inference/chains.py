"""Several chains in threads, meeting to be looked at, stored, stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event, Thread
from typing import Literal

from coterie.diagnostics import WATCHED, diagnose, has_converged, load
from coterie.inference.chain import Chain
from coterie.inference.cores import cores
from coterie.inference.pool import stack_traces
from coterie.inference.progress import Bar

Stopped = Literal["converged", "sweeps", "interrupted"]

MEETING_SECONDS = 1.0
"""Chains meet at least this often (and after every block that takes longer)."""
TICK_SECONDS = 0.1


def run_chains(
    chains: Sequence[Chain],
    *,
    early_stop: bool,
    n_jobs: int | None,
    bar: Bar,
    meeting: Callable[[], None],
) -> Stopped:
    """Run the chains to their end, to convergence, or to Ctrl-C.

    Chains pause together at fixed sweep numbers, where convergence is decided from all of them, so
    that the same seed gives the same result whatever ``n_jobs``. In between they also pause about
    once per second: ``meeting`` is called then, with every chain at rest.
    """
    plan = chains[0].sampler.plan
    stop = Event()
    if early_stop or bar.shown or len(chains) == 1:
        Thread(target=load).start()  # it takes a second, in which the chains can run
    target = plan.next_look(max(chain.done for chain in chains))
    with ThreadPoolExecutor(workers(n_jobs, len(chains))) as pool:
        try:
            while True:
                go_on(pool, chains, target, stop, bar)
                if all(chain.done == target for chain in chains):
                    if target == plan.end:
                        return "sweeps"
                    look = target > plan.burn_in and (early_stop or bar.shown)
                    if look and _settled(chains, target, bar) and early_stop:
                        return "converged"
                    target = plan.next_look(target + 1)
                meeting()
        except KeyboardInterrupt:
            return "interrupted"


def workers(n_jobs: int | None, n_chains: int) -> int:
    """Give the number of threads: as many as cores unless told, never more than chains."""
    return min(cores() if n_jobs is None or n_jobs < 0 else n_jobs, n_chains)


def go_on(
    pool: ThreadPoolExecutor, chains: Sequence[Chain], target: int, stop: Event, bar: Bar
) -> None:
    """Run every chain towards the target for about a second; on Ctrl-C wait for them to rest."""
    waiting: set[Future[None]] = {pool.submit(_advance, c, target, stop) for c in chains}
    try:
        while waiting:
            done, waiting = wait(waiting, timeout=TICK_SECONDS)
            for future in done:
                future.result()
            bar.update(chains)
    except KeyboardInterrupt:
        stop.set()
        wait(waiting)
        raise


def _advance(chain: Chain, target: int, stop: Event) -> None:
    deadline = time.perf_counter() + MEETING_SECONDS
    for _ in chain.steps(target):
        if stop.is_set() or time.perf_counter() > deadline:
            return


def _settled(chains: Sequence[Chain], target: int, bar: Bar) -> bool:
    """Say whether the chains, up to this sweep, have converged."""
    people = chains[0].people
    traces = stack_traces(chains, target - chains[0].sampler.plan.burn_in)
    if bar.shown:
        bar.r_hat = float(diagnose({"log_joint": traces["log_joint"]}, ["r_hat"])["r_hat"][0])
    return has_converged(traces, watched=(*WATCHED, *people.watched))
