"""Progress over all chains: sweeps done, sweeps per second, coteries now, R-hat.

A bar where somebody looks, a line every ten seconds in a pipe.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from coterie.inference.chain import Chain
from coterie.words.console import SafeConsole
from coterie.words.numbers import count, duration
from coterie.words.pulse import Pulse
from coterie.words.visible import visible

log = logging.getLogger("coterie")


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
        """Move the bar."""
        speed = self._bar.tasks[0].speed
        self._bar.update(
            self._task,
            completed=sum(chain.done for chain in chains),
            speed=_pace(speed, self._labels) if speed else "",
            groups=_coteries(chains),
            r_hat=f"R-hat {self.r_hat:.3f}" if self.r_hat == self.r_hat else "",
        )


class Lines(Bar):
    """A line at most every ten seconds, in a pipe: short runs say nothing.

    Parameters
    ----------
    name, sweeps
        What runs, and how long at most.
    clock
        Gives the time in seconds.
    labels
        Labels that a sweep goes through, where it matters how many per second that makes.
    """

    def __init__(
        self,
        name: str,
        sweeps: int,
        clock: Callable[[], float] = time.monotonic,
        labels: int = 0,
    ) -> None:
        self._name, self._sweeps, self._pulse, self._labels = name, sweeps, Pulse(clock), labels

    def update(self, chains: Sequence[Chain]) -> None:
        """Write a line, if the last was long ago."""
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
    """Say how many coteries the chains have now; nothing of models without."""
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
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[groups]}"),
        TextColumn("{task.fields[r_hat]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield LiveBar(bar, name, sweeps, labels)
