"""coterie reproduce: the paper's tables and figures, ours beside its numbers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from coterie.cli import show
from coterie.cli.tables import print_table
from coterie.errors import CoterieError
from coterie.inference.shards import cores
from coterie.studies.job import Outcome
from coterie.studies.paper import EXPERIMENTS, FULL, QUICK, Settings, Watch, reproduce
from coterie.studies.paper.claims import table as claim_table
from coterie.studies.paper.page import write_markdown
from coterie.studies.paper.run import read_documents
from coterie.words.console import SafeConsole
from coterie.words.numbers import duration
from coterie.words.pulse import Pulse
from coterie.words.visible import visible

LEAST_SHARE = 0.02
"""Of the work, done before the time left is told."""


class Target(NamedTuple):
    """Where to write."""

    out: Path | None
    markdown: Path | None


def size(quick: bool, seed: int, databases: int | None, runs: int | None) -> Settings:
    """Choose how large the reproduction is."""
    base = QUICK if quick else FULL
    return replace(base, seed=seed, databases=databases or base.databases, runs=runs or base.runs)


def run(
    names: Sequence[str], settings: Settings, *, jobs: int | None, mix: bool, target: Target
) -> None:
    """Do what is not done, write, show what became of the paper's claims."""
    quick = settings.name == "quick"
    out = target.out or Path("reproduction-quick" if quick else "reproduction")
    workers = jobs or cores()
    try:
        with Teller(workers) as watch:
            found = reproduce(names, settings, out, jobs=workers, mix=mix, watch=watch)
    except KeyboardInterrupt:
        typer.echo("Stopped; the same command goes on from here.", err=True)
        raise
    if target.markdown is not None:
        write_markdown(target.markdown, out, read_documents(out), found.claims)
    if found.claims:
        claims = claim_table(found.claims)
        print_table(claims, show.console(), wraps=[claims.header[0], claims.header[-1]])
    page = out / "reproduction.html"
    typer.echo(visible(f"{len(found.files)} files in {out}; begin with {page}"))
    if found.failed:
        raise CoterieError(f"{len(found.failed)} experiments failed; the reasons are above")


def show_experiments() -> None:
    """List the experiments with what they are in the paper."""
    for name, experiment in EXPERIMENTS.items():
        typer.echo(f"{name:24}{experiment.title} ({experiment.source})")


class Teller(Watch):
    """Tell how a run goes on standard error: a bar on a terminal, now and then a line in a pipe.

    Parameters
    ----------
    workers
        Processes at once.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.console = SafeConsole(stderr=True)
        columns = (
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[jobs]}"),
            TextColumn("{task.fields[left]}"),
        )
        self.bar = Progress(
            *columns, console=self.console, transient=True, disable=not self.console.is_terminal
        )
        self.task = self.bar.add_task("", total=1.0, jobs="", left="", visible=False)
        self.start = time.monotonic()
        self.pulse = Pulse()
        self.todo = self.ended = 0

    def __enter__(self) -> Teller:
        self.bar.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self.bar.stop()

    def say(self, sentence: str) -> None:
        """Print a sentence above the bar."""
        self.console.print(escape(sentence), soft_wrap=True)

    def begin(self, todo: int, done: int, seconds: float) -> None:
        """Print what there is to do, and the estimate."""
        before = f"; {done:,} are done" if done else ""
        if not todo:
            self.say(f"All {done:,} jobs are done; gathering.")
            return
        processes = "one process" if self.workers == 1 else f"{self.workers} processes"
        self.say(f"{todo:,} jobs to do{before}: about {duration(seconds)} on {processes}.")
        self.start = time.monotonic()
        self.todo = todo
        self.bar.update(self.task, visible=True, jobs=f"0/{todo:,}")

    def step(self, outcome: Outcome, share: float) -> None:
        """Move the bar, with the time left."""
        self.ended += 1
        now = time.monotonic()
        # The first jobs also load the kernels: no rate to go by.
        enough = share > LEAST_SHARE
        left = f"{duration((now - self.start) * (1 - share) / share)} left" if enough else "..."
        self.bar.update(self.task, completed=share, jobs=f"{self.ended:,}/{self.todo:,}", left=left)
        if not self.console.is_terminal and self.pulse.due():
            typer.echo(f"{100 * share:.0f} %, {left}", err=True)
