"""The inside of a worker process: quiet, limited, and gone when its parent is."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Mapping
from multiprocessing import connection
from pathlib import Path

from coterie.studies.job import Outcome, one_line, perform

READY = None
"""What a worker says when it waits for a job."""

GIGABYTE = 10**9
MOST_HELD = GIGABYTE // 2
"""What a worker may keep of what its jobs have used; the data of the last, the kernels."""


def serve(
    pipe: connection.Connection, gigabytes: float | None, log: Path, environment: Mapping[str, str]
) -> None:
    """Do one job after another under a limit of memory, and send the outcomes to the parent.

    A worker that came to its limit, or holds much memory after a job, ends: another takes over.
    """
    os.environ.update(environment)
    _write_to(log)
    _end_with_parent()
    before = memory_held()
    held = 0
    while True:
        pipe.send(READY)
        try:
            content = pipe.recv_bytes()
        except EOFError:
            return
        os.ftruncate(1, 0)  # the last words are this job's
        if gigabytes is not None:
            limit_memory(int(gigabytes * GIGABYTE) + held)  # whatever other jobs left behind
        outcome = _do(content)
        _send(pipe, outcome)
        held = max(memory_held() - before, 0)
        if outcome.status == "memory" or held > MOST_HELD:
            return


def _do(content: bytes) -> Outcome:
    try:
        job = pickle.loads(content)
    except Exception as error:  # a module that only the parent can import, for one
        return Outcome("", "error", one_line(f"it cannot be sent to another process: {error}"))
    return perform(job)


def _send(pipe: connection.Connection, outcome: Outcome) -> None:
    try:
        pipe.send(outcome)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        reason = one_line(f"its result cannot be sent to another process: {error}")
        pipe.send(Outcome(outcome.name, "error", reason))


def _write_to(log: Path) -> None:
    """Send what libraries print to a file: the parent's terminal is not theirs."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def _end_with_parent() -> None:
    """End this process when its parent ends, however that ends: nobody else keeps the time."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def memory_held() -> int:
    """Give the bytes of private writable memory of this process; 0 where nobody counts them."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[5]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def limit_memory(wanted: int) -> None:
    """Limit the memory of this process to so many bytes, where the system knows how.

    The limit is on private writable memory. One on address space would count what numba and Arrow
    reserve and never touch.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
