"""coterie compare: any set of models over any set of data sets, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from coterie.cli import show
from coterie.cli.tables import print_table
from coterie.cli.typed_again import typed_again
from coterie.errors import DataError
from coterie.inference.shards import cores
from coterie.studies.job import Job, Outcome
from coterie.studies.league import (
    League,
    find_sources,
    fit_job,
    line_up,
    make_league,
    row_of,
    tables,
)
from coterie.studies.league.record import About
from coterie.studies.league.store import Store
from coterie.studies.league.write import check_target, write_league
from coterie.studies.pool import Limits
from coterie.studies.pool import run_jobs as run_in_processes
from coterie.studies.table import Table
from coterie.words.console import SafeConsole
from coterie.words.numbers import Pulse
from coterie.words.visible import visible

JOBS = "jobs"
"""Where fits are kept until all are done, below the folder that is written to."""
PIPE_WIDTH = 160
DISPENSABLE = ("95 % interval", "items", "scored", "balanced", "coteries", "calibration")
"""Columns a narrow terminal does without, the first first."""


class Data(NamedTuple):
    """What to compare on."""

    path: Path
    truth: Path | None
    only: list[str] | None
    duplicates: str
    time: str | None = None


class Field(NamedTuple):
    """What to compare."""

    models: list[str] | None
    seed: int
    sweeps: int | None


class Means(NamedTuple):
    """What one job may use, and how many run at once; None is one per core."""

    timeout: float
    memory: float
    jobs: int | None


class Target(NamedTuple):
    """Where to write."""

    out: Path | None
    force: bool


def run(data: Data, field: Field, means: Means, target: Target) -> None:
    """Find, fit, score, show, write."""
    limits, workers = _checked(means)
    if target.out is not None:
        check_target(target.out, force=target.force)
    sources, passed_over = find_sources(data.path, data.truth, data.only)
    models = line_up(
        field.models,
        seed=field.seed,
        duplicates=data.duplicates,
        sweeps=field.sweeps,
        timed=data.time is not None,
    )
    jobs = {
        (source.name, name): fit_job(source, name, model, data.duplicates, data.time)
        for source in sources
        for name, model in models.items()
    }
    store = None if target.out is None else Store(target.out / JOBS)
    outcomes = do_jobs(list(jobs.values()), limits, workers, store)
    rows = [row_of(*place, outcomes[job.name]) for place, job in jobs.items()]
    league = make_league([source.name for source in sources], list(models), rows)
    show_league(league)
    if target.out is not None and store is not None:
        command = typed_again("--out", "-o", "--jobs", "-j")
        about = About(command, settings(data, field, limits), (*passed_over,))
        show.files(write_league(league, about, target.out, force=target.force))
        store.remove()
    if all(row.score is None for row in league.rows):
        reasons = {row.reason for row in league.rows}
        why = f": {reasons.pop()}" if len(reasons) == 1 else "; the reasons are above"
        raise DataError(f"nothing was scored{why}")


def _checked(means: Means) -> tuple[Limits, int]:
    """Check the limits before any work is done."""
    for name, value in means._asdict().items():
        if value is not None and not value > 0:
            raise DataError(f"--{name} must be more than 0, got {value}")
    return Limits(means.timeout, means.memory), means.jobs or cores()


def do_jobs(
    jobs: list[Job], limits: Limits, workers: int, store: Store | None
) -> dict[str, Outcome]:
    """Do the jobs that an earlier run, stopped before its end, has not done; outcomes by name."""
    done = store.find(jobs) if store else {}
    if done:
        typer.echo(f"Going on: {len(done):,} of {len(jobs):,} fits are done.", err=True)
    todo = [job for job in jobs if job.name not in done]
    try:
        return done | run_jobs(todo, limits, workers, store)
    except KeyboardInterrupt:
        if store is not None:
            typer.echo("Stopped; the same command goes on from here.", err=True)
        raise


def run_jobs(
    jobs: list[Job], limits: Limits, workers: int, store: Store | None = None
) -> dict[str, Outcome]:
    """Run the jobs behind a progress bar on standard error; now and then a line in a pipe."""
    named = {job.name: job for job in jobs}
    outcomes: dict[str, Outcome] = {}
    running: list[str] = []
    pulse = Pulse()
    with _progress(len(jobs)) as (bar, task):

        def started(job: Job) -> None:
            running.append(job.name)
            bar.update(task, running=escape(visible(", ".join(running))))

        with closing(run_in_processes(jobs, workers, limits, started)) as results:
            for outcome in results:
                outcomes[outcome.name] = outcome
                if store is not None:
                    store.add(named[outcome.name], outcome)
                if outcome.name in running:  # else its process died before it began
                    running.remove(outcome.name)
                failed = sum(o.status != "ok" for o in outcomes.values())
                bar.update(
                    task,
                    completed=len(outcomes),
                    failed=f"[red]{failed} failed[/]" if failed else "",
                    running=escape(visible(", ".join(running))),
                )
                if bar.disable and pulse.due():
                    typer.echo(f"{len(outcomes):,} of {len(jobs):,} fits are done", err=True)
    return outcomes


@contextmanager
def _progress(total: int) -> Iterator[tuple[Progress, TaskID]]:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[failed]}"),
        TextColumn("{task.fields[running]}"),
    )
    console = SafeConsole(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        yield bar, bar.add_task("", total=total, failed="", running="getting ready")


def show_league(league: League) -> None:
    """Show every row, then what was not scored, then the means: the last is what people see."""
    out = show.console()
    if not out.is_terminal:
        out.width = PIPE_WIDTH
    for table in tables.details(league):
        _print(table, out)
    _print(tables.standing_table(league), out)
    out.print()
    out.print(escape(tables.explanation(league)))
    out.print(escape(tables.headline(league)))


def _print(table: Table, out: Console) -> None:
    reasons = table.header[-1] in ("why", "warning")
    wraps = table.header[-1] if reasons else table.header[0]
    print_table(table, out, wraps=[wraps], dispensable=DISPENSABLE)


def settings(data: Data, field: Field, limits: Limits) -> dict[str, object]:
    """Give what was settled beforehand, by name."""
    return {
        "seed": field.seed,
        "sweeps": field.sweeps,
        "duplicates": data.duplicates,
        "timeout_seconds": limits.seconds,
        "memory_gigabytes": limits.gigabytes,
    }
