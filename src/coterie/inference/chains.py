"""Several chains in threads, meeting to be looked at, stored, stopped; and what a user sees of it.

That is a bar where somebody looks, a line every ten seconds in a pipe. How long a large run will
take is measured on its own first sweeps, and said with what there is at once.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Event, Thread
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from coterie.diagnostics import WATCHED, diagnose, has_converged, load
from coterie.inference.chain import Chain
from coterie.inference.shards import cores
from coterie.words.console import SafeConsole
from coterie.words.numbers import Pulse, count, duration
from coterie.words.visible import visible

log = logging.getLogger("coterie")

Stopped = Literal["converged", "sweeps", "interrupted"]
NOTED = ("log_joint", "log_likelihood", "n_coteries", "concentration", "class_total")  # by all
MEETING_SECONDS = 1.0  # chains meet at least this often, and after every block that takes longer
TICK_SECONDS = 0.1
MUCH = 2e8  # labels times classes times sweeps, of all chains, from which on it is worth a word
WORTH_A_WORD = 10.0  # seconds; a shorter run needs no announcement
TIMED = 3  # sweeps that are timed, after a first one that may compile


def say(message: str, shown: bool) -> None:
    """Tell the user: always to the log, and on standard error if progress is shown."""
    log.info("%s", visible(message))
    if shown:
        SafeConsole(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


class Bar:
    """Shows nothing: where nobody looks."""

    shown = False
    r_hat = float("nan")

    def update(self, chains: Sequence[Chain]) -> None:
        """Show where the chains are."""


class LiveBar(Bar):
    """The bar of one run, on a terminal or in a notebook."""

    shown = True

    def __init__(self, bar: Progress, name: str, sweeps: int, labels: int = 0) -> None:
        self._bar, self._labels = bar, labels
        self._task = bar.add_task(name, total=sweeps, speed="", groups="", r_hat="")

    def update(self, chains: Sequence[Chain]) -> None:
        speed = self._bar.tasks[0].speed
        self._bar.update(
            self._task,
            completed=sum(chain.done for chain in chains),
            speed=_pace(speed, self._labels) if speed else "",
            groups=_coteries(chains),
            r_hat=f"R-hat {self.r_hat:.3f}" if self.r_hat == self.r_hat else "",
        )


class Lines(Bar):
    """A line at most every ten seconds, in a pipe: short runs say nothing."""

    def __init__(
        self, name: str, sweeps: int, clock: Callable[[], float] = time.monotonic, labels: int = 0
    ) -> None:
        self._name, self._sweeps, self._pulse, self._labels = name, sweeps, Pulse(clock), labels

    def update(self, chains: Sequence[Chain]) -> None:
        done = sum(chain.done for chain in chains)
        if not done:  # it is being compiled, which was said
            self._pulse.restart()
        if not self._pulse.due():
            return
        spent = self._pulse.last - self._pulse.start
        parts = (
            f"{self._name}: {done:,} of {self._sweeps:,} sweeps",
            _pace(done / spent, self._labels) if self._labels and spent else "",
            f"{duration(spent * (self._sweeps - done) / done)} left at most",
            _coteries(chains),
        )
        say(", ".join(part for part in parts if part), shown=True)


def _pace(sweeps: float, labels: int) -> str:
    """Say how many sweeps per second there are, and what that makes in labels."""
    pace = f"{sweeps:,.0f} sweeps/s" if sweeps >= 10 else f"{sweeps:,.1f} sweeps/s"
    return f"{pace}, {sweeps * labels / 1e6:,.1f} million labels/s" if labels else pace


def _coteries(chains: Sequence[Chain]) -> str:
    now = [chain.n_coteries for chain in chains]
    if not max(now):
        return ""
    return f"{min(now)}-{max(now)} coteries" if min(now) < max(now) else count(now[0], "coterie")


@contextmanager
def progress_bar(name: str, sweeps: int, shown: bool, labels: int = 0) -> Iterator[Bar]:
    """Show progress on standard error: a bar on a terminal or in a notebook, lines in a pipe."""
    console = SafeConsole(stderr=True)
    # rich needs ipywidgets in a notebook, and would complain into the cell without them.
    notebook = console.is_jupyter and find_spec("ipywidgets") is not None
    if not shown or not (console.is_terminal or notebook):
        yield Lines(name, sweeps, labels=labels) if shown else Bar()
        return
    speed, groups, r_hat = (
        TextColumn(f"{{task.fields[{name}]}}") for name in ("speed", "groups", "r_hat")
    )
    first = TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn()
    columns = *first, speed, TimeRemainingColumn(), groups, r_hat
    with Progress(*columns, console=console, transient=True) as bar:
        yield LiveBar(bar, name, sweeps, labels)


def forecast(chains: Sequence[Chain], n_jobs: int | None, early_stop: bool) -> None:
    """Say what to expect of a large run, by the first sweeps of its first chain, in burn-in."""
    first, data, plan = chains[0], chains[0].sampler.data, chains[0].sampler.plan
    start = first.done + 1
    is_long = len(data.item_answer) * data.n_classes * plan.end * len(chains) >= MUCH
    if not is_long or start + TIMED > plan.burn_in:
        return
    list(first.steps(start))
    began = time.perf_counter()
    list(first.steps(start + TIMED))
    rounds = math.ceil(len(chains) / cores(n_jobs))
    seconds = (time.perf_counter() - began) / TIMED * plan.end * rounds
    if seconds >= WORTH_A_WORD:
        at_most = "at most " if early_stop else ""
        say(
            f"{count(len(chains), 'chain')} of {plan.end:,} sweeps will take {at_most}about"
            f" {duration(seconds)} here; QuickConsensus (--model quick) gives labels, probabilities"
            " and accuracies at once, without coteries, roles and intervals of matrices",
            shown=True,
        )


def run_chains(
    chains: Sequence[Chain], early_stop: bool, n_jobs: int | None, bar: Bar,
    meeting: Callable[[], None],
) -> Stopped:  # fmt: skip
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
    with ThreadPoolExecutor(cores(n_jobs)) as pool:
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


def go_on(
    pool: ThreadPoolExecutor, chains: Sequence[Chain], target: int, stop: Event, bar: Bar
) -> None:
    """Run every chain towards the target for about a second; on Ctrl-C wait for them to rest."""

    def advance(chain: Chain) -> None:
        deadline = time.perf_counter() + MEETING_SECONDS
        for _ in chain.steps(target):
            if stop.is_set() or time.perf_counter() > deadline:
                return

    waiting: set[Future[None]] = {pool.submit(advance, chain) for chain in chains}
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


def _settled(chains: Sequence[Chain], target: int, bar: Bar) -> bool:
    """Say whether the chains, up to this sweep, have converged."""
    traces = stack_traces(chains, target - chains[0].sampler.plan.burn_in)
    if bar.shown:
        bar.r_hat = float(diagnose({"log_joint": traces["log_joint"]}, ["r_hat"])["r_hat"][0])
    return has_converged(traces, watched=(*WATCHED, *chains[0].people.watched))


def stack_traces(chains: Sequence[Chain], sweeps: int) -> dict[str, NDArray[np.float64]]:
    """Stack what is noted of sweeps, to (chains, sweeps, ...): what all models note comes first."""
    names = sorted(chains[0].trace, key=lambda name: name not in NOTED)
    return {
        name: np.stack([chain.trace[name][:sweeps] for chain in chains]).astype(np.float64)
        for name in names
    }
