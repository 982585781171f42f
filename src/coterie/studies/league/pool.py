"""Many child processes at once, each with a limit of time and memory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from coterie.studies.league.child import work
from coterie.studies.league.job import Job, Outcome, Status, one_line

ONE_THREAD = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Arrow's allocator: a process with threads should not be forked.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


Context = ForkServerContext | SpawnContext


class Limits(NamedTuple):
    """What one job may use: seconds on the clock, and gigabytes (10^9 bytes) of memory."""

    seconds: float = 600.0
    gigabytes: float = 4.0


class Running(NamedTuple):
    """A child process at work."""

    job: Job
    process: BaseProcess
    answer: connection.Connection
    deadline: float
    log: Path


def run_jobs(
    jobs: Iterable[Job],
    limits: Limits,
    workers: int,
    started: Callable[[Job], object] = lambda job: None,
) -> Generator[Outcome, None, None]:
    """Run each job in a process of its own, so many at once; give the outcomes as they come.

    A job that raises, runs out of time or memory, or takes its process down is an outcome like
    any other. Closing the iterator ends the processes.

    Parameters
    ----------
    jobs
        What to do, started in this order.
    limits
        For each job.
    workers
        How many at once.
    started
        Called with each job when it starts.
    """
    waiting = deque(jobs)
    running: list[Running] = []
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder, _environment(ONE_THREAD):
        context = _context()
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    job = waiting.popleft()
                    log = Path(folder) / f"{len(waiting)}.log"
                    running.append(_start(context, job, limits, log))
                    started(job)
                _wait(running)
                for child in [*running]:
                    outcome = _outcome(child, limits)
                    if outcome is not None:
                        running.remove(child)
                        _stop(child)
                        yield outcome
        finally:
            for child in running:
                _stop(child)


def _context() -> Context:
    """Fork from a server that has imported everything (3 s a job saved); elsewhere start afresh."""
    if not sys.platform.startswith("linux"):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["coterie.studies.league.preload"])
    # Wait for the server with a child that does nothing: the first job's clock must not count it.
    nobody = context.Process(target=os.getpid, daemon=True)
    with _deaf_to_interrupts():
        nobody.start()
    nobody.join()
    return context


def _start(context: Context, job: Job, limits: Limits, log: Path) -> Running:
    answer, end = context.Pipe(duplex=False)
    # Daemons, so that the interpreter ends them if it ends.
    process = context.Process(target=work, args=(job, limits.gigabytes, log, end), daemon=True)
    with _deaf_to_interrupts():
        process.start()
    end.close()
    return Running(job, process, answer, time.monotonic() + limits.seconds, log)


def _wait(running: list[Running]) -> None:
    """Sleep until a child answers, ends, or has no time left."""
    things = [thing for child in running for thing in (child.answer, child.process.sentinel)]
    left = min(child.deadline for child in running) - time.monotonic()
    connection.wait(things, timeout=max(left, 0))


def _outcome(child: Running, limits: Limits) -> Outcome | None:
    """Give what became of a child, or None if it is still at work."""
    ended = not child.process.is_alive()  # asked first: an answer may come just before the end
    try:
        if child.answer.poll():
            return _answer(child, limits)
    except (EOFError, OSError):
        child.process.join()
        ended = True
    if ended:
        return _failure(child, "crash", _last_words(child))
    if time.monotonic() >= child.deadline:
        return _failure(child, "timeout", f"not done after {limits.seconds:g} s")
    return None


def _answer(child: Running, limits: Limits) -> Outcome:
    outcome: Outcome = child.answer.recv()
    if outcome.status != "memory":
        return outcome
    reason = f"more than {limits.gigabytes:g} GB wanted: {outcome.reason}".rstrip(": ")
    return outcome._replace(reason=reason)


def _failure(child: Running, status: Status, reason: str) -> Outcome:
    return Outcome(child.job.source.name, child.job.name, status, reason)


def _last_words(child: Running) -> str:
    """Say how a process ended that gave no answer, with the last line it printed."""
    code = child.process.exitcode
    if code is not None and code < 0:
        end = f"ended by signal {-code} ({signal.Signals(-code).name})"
        if -code == signal.SIGKILL:
            end += ", perhaps for want of memory"
    else:
        end = f"ended with exit code {code} and no result"
    printed = child.log.read_text("utf-8", "replace").split("\n") if child.log.exists() else []
    said = next((line for line in reversed(printed) if line.strip()), "")
    return one_line(f"the process {end}" + (f": {said}" if said else ""))


def _stop(child: Running) -> None:
    child.process.kill()
    child.process.join()
    child.process.close()
    child.answer.close()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables that children inherit, and set them back."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start children with Ctrl-C blocked: it is the parent that ends them, without a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock them again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
