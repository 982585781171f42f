"""Many jobs at once, in processes that live as long as the run, under limits of time and memory.

A process takes a second to load the kernels: it does one job after another. One that runs out of
time or memory, or that a job takes down with it, is replaced.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing import connection, resource_tracker
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from typing import NamedTuple

from coterie.studies.job import Job, Outcome, one_line, perform
from coterie.studies.worker import READY, serve

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


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    limits: Limits | None = None,
    started: Callable[[Job], object] = lambda job: None,
) -> Generator[Outcome, None, None]:
    """Do jobs, so many at once, and give the outcomes as they come.

    A job that raises, runs out of time or memory, or takes its process down is an outcome like
    any other. Closing the iterator ends the processes.

    Parameters
    ----------
    jobs
        What to do, started in this order.
    workers
        How many at once. Without limits, one worker is this process itself.
    limits
        For each job.
    started
        Called with each job when it starts.
    """
    if limits is None and min(workers, len(jobs)) <= 1:
        for job in jobs:
            started(job)
            yield perform(job)
        return
    waiting, crew, number = deque(jobs), list[Worker](), count()
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder, _environment(ONE_THREAD):
        context = _context()
        try:
            while waiting or any(worker.job for worker in crew):
                for worker in crew:
                    if worker.ready and worker.job is None and waiting:
                        worker.job = waiting.popleft()
                while waiting and len(crew) < workers:
                    log = Path(folder) / f"{next(number)}.log"
                    crew.append(Worker(context, limits, log, waiting.popleft()))
                for worker in crew:
                    if worker.ready and worker.job is not None:
                        worker.begin()
                        started(worker.job)
                _wait(crew)
                for worker in [*crew]:
                    outcome = worker.hear()
                    if worker.ended:
                        crew.remove(worker)
                        worker.end()
                    if outcome is not None:
                        yield outcome
        finally:
            for worker in crew:
                worker.end()


class Worker:
    """A process that does one job after another, as its parent sees it.

    ``job`` is what it does, or will do as soon as it is ``ready``.
    """

    def __init__(self, context: Context, limits: Limits | None, log: Path, job: Job) -> None:
        self.job: Job | None = job
        self.ready = self.ended = False
        self.deadline = math.inf
        self._limits, self._log = limits, log
        self.pipe, end = context.Pipe()
        # A fork server knows only the environment it was started in.
        told = {name: value for name, value in os.environ.items() if name.startswith("COTERIE_")}
        self.process = context.Process(
            target=serve,
            args=(end, limits and limits.gigabytes, log, {**told, **ONE_THREAD}),
            daemon=True,  # so that the interpreter ends it if it ends
        )
        with _deaf_to_interrupts():
            self.process.start()
        end.close()

    def begin(self) -> None:
        """Send the job; its time runs from here."""
        self.ready = False
        if self._limits is not None:
            self.deadline = time.monotonic() + self._limits.seconds
        with suppress(OSError):  # it has just died, which is heard soon
            self.pipe.send_bytes(pickle.dumps(self.job))

    def hear(self) -> Outcome | None:
        """Give what became of the job, or None if it is still at work."""
        gone = not self.process.is_alive()  # asked first: an answer may come just before the end
        try:
            if self.pipe.poll():
                return self._take(self.pipe.recv())
        except (EOFError, OSError):
            self.process.join()
            gone = True
        late = time.monotonic() >= self.deadline
        self.ended = gone or late
        if self.job is None or not self.ended:
            return None
        if gone:
            return self._finish(Outcome("", "crash", self._last_words()))
        assert self._limits is not None
        return self._finish(Outcome("", "timeout", f"not done after {self._limits.seconds:g} s"))

    def _take(self, said: Outcome | None) -> Outcome | None:
        if said is READY:
            self.ready = True
            return None
        if said.status == "memory" and self._limits is not None:
            reason = f"more than {self._limits.gigabytes:g} GB wanted: {said.reason}".rstrip(": ")
            said = said._replace(reason=reason)
        return self._finish(said)

    def _finish(self, outcome: Outcome) -> Outcome:
        assert self.job is not None
        outcome = outcome._replace(name=self.job.name)
        self.job, self.deadline = None, math.inf
        return outcome

    def _last_words(self) -> str:
        """Say how the process ended that gave no answer, with the last line it printed."""
        code = self.process.exitcode
        if code is not None and code < 0:
            end = f"ended by signal {-code} ({signal.Signals(-code).name})"
            if -code == signal.SIGKILL:
                end += ", perhaps for want of memory"
        else:
            end = f"ended with exit code {code} and no result"
        log = self._log
        printed = log.read_text("utf-8", "replace").split("\n") if log.exists() else []
        said = next((line for line in reversed(printed) if line.strip()), "")
        return one_line(f"the process {end}" + (f": {said}" if said else ""))

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


def _wait(crew: Sequence[Worker]) -> None:
    """Sleep until a worker says something, ends, or has no time left."""
    things = [thing for worker in crew for thing in (worker.pipe, worker.process.sentinel)]
    deadline = min(worker.deadline for worker in crew)
    left = None if math.isinf(deadline) else max(deadline - time.monotonic(), 0)
    connection.wait(things, timeout=left)


def _context() -> Context:
    """Fork from a server that has imported everything, which saves 3 s; elsewhere start afresh."""
    if not sys.platform.startswith("linux"):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["coterie.studies.preload"])
    return context


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
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
