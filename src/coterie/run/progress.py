"""A progress bar around a chain: sweeps done, sweeps a second, clusters now."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from coterie.run.chain import Step


def progress_bar(steps: Iterator[Step], sweeps: int, name: str) -> Iterator[Step]:
    """Pass the steps on, showing on standard error how far the chain is; silent in a pipe."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[groups]}"),
    )
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(name, total=sweeps, speed="", groups="")
        for step in steps:
            n_groups = int(step.trace.n_groups[-1])
            speed = bar.tasks[task].speed
            bar.update(
                task,
                completed=step.done,
                speed=f"{speed:,.0f} sweeps/s" if speed else "",
                groups=f"{n_groups} clusters" if n_groups else "",
            )
            yield step
