"""Many jobs at once, in processes that live as long as the run, under limits of time and memory.

A job is a function and what it is told; whatever becomes of it is an outcome. A process takes a
second to load the kernels: it does one job after another. One that runs out of time or memory, or
that a job takes down with it, is replaced.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import Any, Literal, NamedTuple

from coterie.errors import CoterieError, CoterieWarning

GIGABYTE = 10**9
MOST_HELD = GIGABYTE // 2
"""What a process may keep of what its jobs have used; the data of the last, the kernels."""
LONGEST_REASON = 400
ONE_THREAD = dict.fromkeys(
    (f"{name}_NUM_THREADS" for name in ["NUMBA", "OMP", "OPENBLAS", "MKL"]), "1"
)
# Arrow's allocator: a process with threads should not be forked.
ONE_THREAD["JE_ARROW_MALLOC_CONF"] = "background_thread:false"


@dataclass(frozen=True)
class Job:
    """A piece of work that depends on nothing but what it is told."""

    name: str  # two jobs of one name are the same job
    work: Callable[..., Any]  # of a module, so that another process can find it
    told: Mapping[str, Any]  # its arguments


class Outcome(NamedTuple):
    """What became of a job: a result, or the reason why there is none; warnings are notes."""

    name: str
    status: Literal["ok", "error", "timeout", "memory", "crash"]
    reason: str = ""
    result: Any = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


class Limits(NamedTuple):
    """What one job may use: seconds on the clock, and gigabytes (10^9 bytes) of memory."""

    seconds: float = math.inf
    gigabytes: float = math.inf


NONE = Limits()


def perform(job: Job) -> Outcome:
    """Do a job in this process; an exception is an outcome, but Ctrl-C is not."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CoterieWarning)
        try:
            outcome = Outcome(job.name, "ok", result=job.work(**job.told))
        except MemoryError as error:
            outcome = Outcome(job.name, "memory", _one_line(str(error)))
        except CoterieError as error:
            outcome = Outcome(job.name, "error", _one_line(str(error)))
        except (Exception, SystemExit) as error:  # one job must not take the others with it
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"({Path(place.filename).name}, line {place.lineno})"
            reason = _one_line(f"{type(error).__name__}: {error} {where}")
            outcome = Outcome(job.name, "error", reason)
    notes = [str(w.message) for w in caught if issubclass(w.category, CoterieWarning)]
    seconds = time.perf_counter() - start
    return outcome._replace(notes=tuple(dict.fromkeys(notes)), seconds=seconds)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 3] + "..."


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    limits: Limits = NONE,
    started: Callable[[Job], object] = lambda job: None,
) -> Generator[Outcome, None, None]:
    """Do jobs in this order, so many at once, and give the outcomes as they come.

    A job that raises, runs out of time or memory, or takes its process down is an outcome like
    any other. Without limits, one worker is this process itself. Closing the iterator ends the
    processes; ``started`` is called with each job when it starts.
    """
    if limits == NONE and min(workers, len(jobs)) <= 1:
        for job in jobs:
            started(job)
            yield perform(job)
        return
    waiting, crew, n_begun = deque(jobs), list[_Worker](), 0
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder, _one_thread():
        # Fork from a server that has imported everything, which saves 3 s; elsewhere start afresh.
        linux = sys.platform.startswith("linux")
        context: Any = multiprocessing.get_context("forkserver" if linux else "spawn")
        context.set_forkserver_preload(["coterie.studies.preload"])
        try:
            while waiting or any(worker.job for worker in crew):
                for worker in crew:
                    if worker.ready and worker.job is None and waiting:
                        worker.job = waiting.popleft()
                while waiting and len(crew) < workers:
                    log = Path(folder) / f"{n_begun}.log"
                    crew.append(_Worker(context, limits, log, waiting.popleft()))
                    n_begun += 1
                for worker in crew:
                    if worker.ready and worker.job is not None:
                        worker.ready = False
                        worker.deadline = time.monotonic() + limits.seconds
                        with suppress(OSError):  # it has just died, which is heard soon
                            worker.pipe.send_bytes(pickle.dumps(worker.job))
                        started(worker.job)
                # Sleep until one says something, ends, or has no time left.
                things = [thing for one in crew for thing in (one.pipe, one.process.sentinel)]
                left = min(worker.deadline for worker in crew) - time.monotonic()
                connection.wait(things, timeout=None if math.isinf(left) else max(left, 0))
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


@contextmanager
def _one_thread() -> Iterator[None]:
    """Set environment variables that children inherit, and set them back."""
    before = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name in ONE_THREAD.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start children with Ctrl-C blocked: it is the parent that ends them, without a traceback."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock them again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """A process that does one job after another, as its parent sees it.

    ``job`` is what it does, or will do as soon as it is ``ready``.
    """

    def __init__(self, context: Any, limits: Limits, log: Path, job: Job) -> None:
        self.job: Job | None = job
        self.limits, self.log = limits, log
        self.ready = self.ended = False
        self.deadline = math.inf
        self.pipe, end = context.Pipe()
        # A fork server knows only the environment it was started in.
        told = {name: value for name, value in os.environ.items() if name.startswith("COTERIE_")}
        self.process = context.Process(
            target=_serve,
            args=(end, limits.gigabytes, log, {**told, **ONE_THREAD}),
            daemon=True,  # so that the interpreter ends it if it ends
        )
        with _deaf_to_interrupts():
            self.process.start()
        end.close()

    def hear(self) -> Outcome | None:
        """Give what became of the job, or None if it is still at work."""
        gone = not self.process.is_alive()  # asked first: an answer may come just before the end
        said: Outcome | None = None
        try:
            if self.pipe.poll():
                said = self.pipe.recv()
                self.ready = said is None
                if said is None:
                    return None
        except (EOFError, OSError):
            self.process.join()
            gone = True
        if said is None:
            self.ended = gone or time.monotonic() >= self.deadline
            if self.job is None or not self.ended:
                return None
            late = Outcome("", "timeout", f"not done after {self.limits.seconds:g} s")
            said = Outcome("", "crash", self._last_words()) if gone else late
        elif said.status == "memory" and math.isfinite(self.limits.gigabytes):
            reason = f"more than {self.limits.gigabytes:g} GB wanted: {said.reason}".rstrip(": ")
            said = said._replace(reason=reason)
        assert self.job is not None
        said = said._replace(name=self.job.name)
        self.job, self.deadline = None, math.inf
        return said

    def _last_words(self) -> str:
        """Say how the process ended that gave no answer, with the last line it printed."""
        code = self.process.exitcode
        end = f"ended with exit code {code} and no result"
        if code is not None and code < 0:
            end = f"ended by signal {-code} ({signal.Signals(-code).name})"
            if -code == signal.SIGKILL:
                end += ", perhaps for want of memory"
        printed = self.log.read_text("utf-8", "replace").split("\n") if self.log.exists() else []
        said = next((line for line in reversed(printed) if line.strip()), "")
        return _one_line(f"the process {end}" + (f": {said}" if said else ""))

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


# ---- inside the process


def _serve(
    pipe: connection.Connection, gigabytes: float, log: Path, environment: Mapping[str, str]
) -> None:
    """Do one job after another under a limit of memory, and send the outcomes to the parent.

    None says that it waits for a job. One that came to its limit, or holds much memory after a
    job, ends: another takes over.
    """
    os.environ.update(environment)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):  # what libraries print: the parent's terminal is not theirs
        os.dup2(file, stream)
    os.close(file)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    before, held = _memory_held(), 0
    while True:
        pipe.send(None)
        try:
            content = pipe.recv_bytes()
        except EOFError:
            return
        os.ftruncate(1, 0)  # the last words are this job's
        if math.isfinite(gigabytes):
            _limit_memory(int(gigabytes * GIGABYTE) + held)  # whatever other jobs left behind
        try:
            outcome = perform(pickle.loads(content))
        except Exception as error:  # a module that only the parent can import, for one
            reason = f"it cannot be sent to another process: {error}"
            outcome = Outcome("", "error", _one_line(reason))
        try:
            pipe.send(outcome)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            reason = f"its result cannot be sent to another process: {error}"
            pipe.send(Outcome(outcome.name, "error", _one_line(reason)))
        held = max(_memory_held() - before, 0)
        if outcome.status == "memory" or held > MOST_HELD:
            return


def _end_with_parent() -> None:
    """End this process when its parent ends, however that ends: nobody else keeps the time."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _memory_held() -> int:
    """Give the bytes of private writable memory of this process; 0 where nobody counts them."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _limit_memory(wanted: int) -> None:
    """Limit private writable memory; address space is what numba and Arrow reserve, untouched."""
    with suppress(ImportError):  # on Windows
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
