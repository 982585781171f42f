"""The inside of a child process: quiet, limited, and gone when its parent is."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing import connection
from pathlib import Path

from coterie.studies.league.job import Job, attempt

GIGABYTE = 10**9


def work(job: Job, gigabytes: float, log: Path, answer: connection.Connection) -> None:
    """Do a job under a limit of memory, and send the outcome to the parent."""
    _write_to(log)
    _end_with_parent()
    limit_memory(gigabytes)
    answer.send(attempt(job))


def _write_to(log: Path) -> None:
    """Send what libraries print to a file: the parent's terminal is not theirs."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
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


def limit_memory(gigabytes: float) -> None:
    """Limit the memory of this process, where the system knows how.

    The limit is on private writable memory. One on address space would count what numba and Arrow
    reserve and never touch.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = int(gigabytes * GIGABYTE)
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
