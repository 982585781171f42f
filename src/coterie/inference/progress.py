"""A progress bar over all chains: sweeps done, sweeps per second, coteries now, R-hat."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from coterie.inference.chain import Chain

log = logging.getLogger("coterie")


def say(message: str, shown: bool) -> None:
    """Tell the user: always to the log, and on standard error if progress is shown."""
    log.info(message)
    if shown:
        Console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


class Bar:
    """The bar of one run; it does nothing where nobody looks."""

    def __init__(self, bar: Progress | None, name: str, sweeps: int) -> None:
        self._bar = bar
        self.shown = bar is not None
        self.r_hat = float("nan")
        if bar is not None:
            self._task = bar.add_task(name, total=sweeps, speed="", groups="", r_hat="")

    def update(self, chains: Sequence[Chain]) -> None:
        """Show where the chains are."""
        if self._bar is None:
            return
        speed = self._bar.tasks[0].speed
        now = [chain.n_coteries for chain in chains]
        groups = f"{min(now)}-{max(now)}" if min(now) < max(now) else f"{now[0]}"
        self._bar.update(
            self._task,
            completed=sum(chain.done for chain in chains),
            speed=f"{speed:,.0f} sweeps/s" if speed else "",
            groups=f"{groups} coteries" if max(now) else "",
            r_hat=f"R-hat {self.r_hat:.3f}" if self.r_hat == self.r_hat else "",
        )


@contextmanager
def progress_bar(name: str, sweeps: int, shown: bool) -> Iterator[Bar]:
    """Show a bar on standard error, on a terminal or in a notebook; in a pipe show nothing."""
    console = Console(stderr=True)
    # rich needs ipywidgets in a notebook, and would complain into the cell without them.
    notebook = console.is_jupyter and find_spec("ipywidgets") is not None
    if not shown or not (console.is_terminal or notebook):
        yield Bar(None, name, sweeps)
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
        yield Bar(bar, name, sweeps)
