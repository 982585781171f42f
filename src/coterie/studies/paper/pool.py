"""Jobs in processes that live as long as the run: loading the kernels takes a second each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection

from coterie.errors import CoterieError
from coterie.studies.paper.job import Job, Outcome, perform
from coterie.studies.paper.settings import Settings


def run_jobs(
    jobs: Sequence[Job], settings: Settings, workers: int
) -> Generator[Outcome, None, None]:
    """Do the jobs, so many at once, and give the outcomes as they come.

    One worker is this process itself. Closing the iterator ends the processes.
    """
    if workers == 1 or len(jobs) == 1:
        for job in jobs:
            yield perform(job, settings)
        return
    way = "forkserver" if sys.platform.startswith("linux") else "spawn"
    context = multiprocessing.get_context(way)
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(workers, len(jobs)), context, initializer=_prepare, initargs=(_environment(),)
    )
    try:
        for future in as_completed([pool.submit(perform, job, settings) for job in jobs]):
            yield future.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise CoterieError(
            "a worker process died, perhaps for want of memory; run the same command again, with "
            "fewer --jobs: what is done is kept"
        ) from None
    finally:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        pool.shutdown(cancel_futures=True)


def cores() -> int:
    """Count the cores this process may use."""
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1


def _environment() -> dict[str, str]:
    """Give where the data are: a fork server knows only the environment it was started in."""
    return {key: value for key, value in os.environ.items() if key.startswith("COTERIE_")}


def _prepare(environment: dict[str, str]) -> None:
    """Leave Ctrl-C to the parent, and end when it ends, however that ends."""
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
