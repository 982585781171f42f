"""The cost model of ``docs/scale.md`` against throttled workers.

``python -m benchmarks.network_link`` measures it.

Workers are threads with their own shards. All that they and the driver tell each other is pickled,
as Dask would, and goes through one link of known bandwidth and latency, the driver's: whoever sends
waits for the bytes to pass, one after the other. The second table is the model itself, far past
this machine (``python -m benchmarks.network_link paper`` prints only that).
"""

from __future__ import annotations

import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.blocked import CLASSES, MadeShards, given_for, sizes_of
from coterie.inference.shards import Holder, Order, Totals

BANDWIDTH = {10_000: 12.5e6, 100_000: 125e6, 1_000_000: 125e6}
"""Bytes a second, by annotators: 100 Mbit/s and 1 Gbit/s, so that the link weighs."""
LATENCY = 0.001
CROWDS, WORKERS = (10_000, 100_000, 1_000_000), (2, 4, 8)
BYTES = 20
"""Of a cell: a probability and its logarithm down, a count of four bytes up."""
ADD, M_STEP = 0.4e-9, 15e-9
"""Seconds per cell, of ``python -m benchmarks.driver``."""
NS = {10_000: 4.5, 100_000: 4.5, 1_000_000: 36.0}
"""Nanoseconds a label, by annotators: the second of a machine at rest, the first taken to be at
most that, the third of a busy machine."""
ROUND = 0.005
"""Seconds of the scheduler for a task, of ``python -m benchmarks scale``."""


class Link:
    """A link that passes so many bytes per second, one message after the other."""

    def __init__(self, bandwidth: float) -> None:
        self.bandwidth, self._lock = bandwidth, threading.Lock()
        self.passed, self.busy = 0, 0.0  # bytes, seconds

    def send(self, message: Any) -> Any:
        """Pass a message; give it as it arrives."""
        packed = pickle.dumps(message, protocol=5)
        with self._lock:
            start = time.perf_counter()
            time.sleep(len(packed) / self.bandwidth)
            self.busy += time.perf_counter() - start
            self.passed += len(packed)
        time.sleep(LATENCY)
        return pickle.loads(packed)


class Throttled:
    """Workers behind a link."""

    def __init__(self, shards: MadeShards) -> None:
        self.sizes = sizes_of(shards)
        self.link = Link(BANDWIDTH[shards.n_annotators])
        numbers = range(len(shards))
        self.holders = [Holder(self.sizes, {k: shards.open(k)}, sparse=True) for k in numbers]
        self.pool = ThreadPoolExecutor(len(shards))

    def sweep(self, order: Order) -> None:
        """Have everybody sweep, and add up the counts."""

        def one(holder: Holder) -> Any:
            told = self.link.send(order.for_rows(holder.rows))
            return self.link.send(holder.sweep(told)), holder.rows

        totals = Totals.none(self.sizes)
        for more, rows in self.pool.map(one, self.holders):
            totals.add(more, rows)


def check(annotators: int, workers: int, labels: int) -> None:
    """Print what link and processor should take in a sweep beside what they took."""
    shards = MadeShards(labels, annotators, workers)
    session, given = Throttled(shards), given_for(sizes_of(shards))
    session.sweep(Order(0, np.array([1, 2, 0], np.uint64), given))
    link = session.link
    link.passed, link.busy = 0, 0.0
    start, cpu = time.perf_counter(), time.process_time()
    session.sweep(Order(0, np.array([1, 2, 1], np.uint64), given))
    took, cpu = time.perf_counter() - start, time.process_time() - cpu
    heard = np.mean(
        [1 if one.rows is None else len(one.rows) / annotators for one in session.holders]
    )
    cells = float(heard) * annotators * CLASSES**2 * workers
    told = BYTES * cells / link.bandwidth, NS[annotators] * 1e-9 * labels + ADD * cells
    shown = [f"{annotators:,}", f"{8e-6 * link.bandwidth:,.0f}", f"{workers}", f"{heard:.0%}"]
    shown += [f"{number:,.2f}" for number in (link.passed / 1e6, told[0], link.busy, told[1], cpu)]
    print(f"| {' | '.join([*shown, f'{took:.1f}'])} |", flush=True)


def paper() -> None:
    """Print the model for clusters that are not here: 10 Gbit/s at the driver."""
    names = ("labels", "network", "tree", "driver", "tasks")
    print(f"| labels | annotators | workers | {', s | '.join(names)}, s |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for power, people, workers in (
        (9, 4, 8), (9, 5, 8), (9, 6, 8), (10, 4, 64), (10, 5, 64), (10, 6, 64), (11, 5, 512),
        (11, 6, 512), (11, 7, 512),
    ):  # fmt: skip
        cells = 9 * 10**people
        sweep = NS[min(10**people, 10**6)] * 1e-9 * 10**power / workers
        network = BYTES * cells / 1.25e9
        driver = (M_STEP + ADD * workers) * cells
        tree = network * np.log2(workers)
        numbers = (sweep, network * workers, tree, driver, ROUND * workers)
        shown = " | ".join(f"{number:.2g}" for number in numbers)
        print(f"| 10^{power} | 10^{people} | {workers} | {shown} |")


def main() -> None:
    names = ["annotators", "Mbit/s", "workers", "heard", "MB", "link, s: model", "measured"]
    names += ["processor, s: model", "measured", "sweep by the clock, s"]
    print(f"| {' | '.join(names)} |")
    print("|--:" * len(names) + "|")
    for annotators in CROWDS:
        for workers in WORKERS:
            check(annotators, workers, workers * annotators)
    check(1_000_000, 8, 1_000_000)  # few labels: a worker hears few of the crowd
    paper()


if __name__ == "__main__":
    paper() if sys.argv[1:] == ["paper"] else main()
