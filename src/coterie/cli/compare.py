"""coterie compare: any set of models over any set of data sets, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Option

from coterie.cli.guard import guarded, typed_again
from coterie.cli.options import Datasets, Force, Labelled, Seed, Told, Truth, a_path, reads, split

if TYPE_CHECKING:
    from coterie.studies.fits import Store
    from coterie.studies.league import League
    from coterie.studies.pool import Job, Limits, Outcome

JOBS = "jobs.jsonl"
"""Where fits are kept until all are done, below the folder that is written to."""
PIPE_WIDTH = 160
DISPENSABLE = ("95 % interval", "items", "scored", "balanced", "coteries", "calibration")
"""Columns a narrow terminal does without, the first first."""


@guarded
@reads
def compare(
    path: Labelled,
    models: str | None = Option(
        None, help="Any of {models}, or module:Class, separated by commas (default: all)."
    ),
    truth: Truth = None,
    only: Datasets = None,
    out: Path | None = a_path(
        None, "--out", "-o", help="Folder for JSON, a page and Markdown, or to go on in."
    ),
    duplicates: Told = None,
    time: Told = None,
    seed: Seed = 0,
    sweeps: int | None = Option(
        None, help="Sweeps of sampling models at most, 30 % burn-in (default: their own)."
    ),
    timeout: float = Option(600, help="Seconds for one model on one data set."),
    memory: float = Option(4, help="Gigabytes for the same (Linux)."),
    jobs: int | None = Option(
        None, "--jobs", "-j", help="Processes at once (default: one per core)."
    ),
    force: Force = False,
) -> None:
    """Set models side by side on data with a truth: a league against the vote."""
    from coterie.cli import show
    from coterie.errors import DataError
    from coterie.inference.shards import cores
    from coterie.studies.fits import Store, find_sources, fit_job, line_up
    from coterie.studies.league import make_league, row_of
    from coterie.studies.league_pages import About, check_target, write_league
    from coterie.studies.pool import Limits

    for name, value in {"timeout": timeout, "memory": memory, "jobs": jobs}.items():
        if value is not None and not value > 0:
            raise DataError(f"--{name} must be more than 0, got {value}")
    if out is not None:
        check_target(out, force=force)
    sources, passed_over = find_sources(path, truth, split(only))
    chosen = line_up(
        split(models), seed=seed, duplicates=duplicates, sweeps=sweeps, timed=time is not None
    )
    todo = {
        (source.name, name): fit_job(source, name, model, duplicates, time)
        for source in sources
        for name, model in chosen.items()
    }
    store = None if out is None else Store(out / JOBS)
    limits = Limits(timeout, memory)
    try:
        outcomes = do_jobs(list(todo.values()), limits, jobs or cores(), store)
    except KeyboardInterrupt:
        if store is not None:
            typer.echo("Stopped; the same command goes on from here.", err=True)
        raise
    rows = [row_of(*place, outcomes[job.name]) for place, job in todo.items()]
    league = make_league([source.name for source in sources], list(chosen), rows)
    show_league(league)
    if out is not None and store is not None:
        settings = {
            "seed": seed,
            "sweeps": sweeps,
            "duplicates": duplicates,
            "timeout_seconds": timeout,
            "memory_gigabytes": memory,
        }
        about = About(typed_again("--out", "-o", "--jobs", "-j"), settings, (*passed_over,))
        show.files(write_league(league, about, out, force=force))
        store.remove()
    if all(row.score is None for row in league.rows):
        reasons = {row.reason for row in league.rows}
        why = f": {reasons.pop()}" if len(reasons) == 1 else "; the reasons are above"
        raise DataError(f"nothing was scored{why}")


def do_jobs(
    jobs: list[Job], limits: Limits, workers: int, store: Store | None
) -> dict[str, Outcome]:
    """Do the jobs that an earlier run, stopped before its end, has not done; outcomes by name.

    A progress bar goes to standard error, and in a pipe now and then a line.
    """
    from contextlib import closing

    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from coterie.studies import pool
    from coterie.words.console import SafeConsole
    from coterie.words.numbers import Pulse
    from coterie.words.visible import visible

    done = store.find(jobs) if store else {}
    if done:
        typer.echo(f"Going on: {len(done):,} of {len(jobs):,} fits are done.", err=True)
    todo = {job.name: job for job in jobs if job.name not in done}
    outcomes: dict[str, Outcome] = {}
    running: list[str] = []
    pulse, console = Pulse(), SafeConsole(stderr=True)
    told = (TextColumn("{task.fields[failed]}"), TextColumn("{task.fields[running]}"))
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), *told)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=len(todo), failed="", running="getting ready")

        def started(job: Job) -> None:
            running.append(job.name)
            bar.update(task, running=escape(visible(", ".join(running))))

        with closing(pool.run_jobs([*todo.values()], workers, limits, started)) as results:
            for outcome in results:
                outcomes[outcome.name] = outcome
                if store is not None:
                    store.add(todo[outcome.name], outcome)
                if outcome.name in running:  # else its process died before it began
                    running.remove(outcome.name)
                failed = sum(o.status != "ok" for o in outcomes.values())
                bar.update(
                    task,
                    completed=len(outcomes),
                    failed=f"[red]{failed} failed[/]" if failed else "",
                    running=escape(visible(", ".join(running))),
                )
                if hidden and pulse.due():
                    typer.echo(f"{len(outcomes):,} of {len(todo):,} fits are done", err=True)
    return done | outcomes


def show_league(league: League) -> None:
    """Show every row, then what was not scored, then the means: the last is what people see."""
    from coterie.cli import show
    from coterie.studies import league_pages

    out = show.console()
    if not out.is_terminal:
        out.width = PIPE_WIDTH
    for table in (*league_pages.details(league), league_pages.standing_table(league)):
        reasons = table.header[-1] in ("why", "warning")
        wraps = table.header[-1] if reasons else table.header[0]
        show.print_table(table, out, wraps=[wraps], dispensable=DISPENSABLE)
    out.print()
    out.print(league_pages.explanation(league), markup=False)
    out.print(league_pages.headline(league), markup=False)
