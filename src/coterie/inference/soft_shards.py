"""The soft engine over shards, in threads: every thread sums what its shards expect.

Sums are whole numbers, so that neither the number of shards nor that of threads changes a bit. Only
the shards that threads are at are in memory, and nothing is kept of an item between passes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.data.shards import Shards
from coterie.inference.cores import cores
from coterie.kernels.dawid_skene import add_count
from coterie.kernels.soft import engine
from coterie.kernels.soft.engine import Size, add_sums, is_counted, sums_of
from coterie.kernels.soft.items import Start, codes_of
from coterie.kernels.soft.parts import Sums, Weights

FloatArray = NDArray[np.float64]
T = TypeVar("T")


class SoftShards:
    """Items in shards, for :func:`coterie.kernels.dawid_skene.maximise` and its kin.

    Parameters
    ----------
    shards
        The labels.
    n_jobs
        Threads; by default as many as there are cores for us.
    """

    def __init__(self, shards: Shards, n_jobs: int | None = None) -> None:
        self.shards = shards
        self.n_jobs = max(1, min(n_jobs or cores(), len(shards)))
        self.probability: FloatArray = np.empty((0, shards.n_classes))
        n_counted = sum(self.map(lambda k, codes: int(np.count_nonzero(is_counted(codes)))))
        self.size = Size(shards.n_annotators, shards.n_answers, shards.n_labels, n_counted)
        self._sums: list[Sums] = []

    def codes(self, k: int) -> Codes:
        """Open the k-th shard."""
        return codes_of(self.shards.open(k), self.shards.n_classes, self.shards.n_answers)

    def map(self, work: Callable[[int, Codes], T]) -> list[T]:
        """Give what work makes of every shard, in their order."""
        found: dict[int, T] = {}

        def one(_: int, k: int) -> None:
            found[k] = work(k, self.codes(k))

        self._in_threads(one)
        return [found[k] for k in range(len(self.shards))]

    def _in_threads(self, work: Callable[[int, int], None]) -> None:
        """Call work with the thread's number and every shard's; what goes wrong ends it for all."""
        stopped = threading.Event()

        def some(thread: int) -> None:
            for k in range(thread, len(self.shards), self.n_jobs):
                if stopped.is_set():
                    return
                work(thread, k)

        with ThreadPoolExecutor(self.n_jobs) as pool:
            jobs = [pool.submit(some, thread) for thread in range(self.n_jobs)]
            try:
                for job in jobs:
                    job.result()
            except BaseException:  # Ctrl-C too: the others end at their next shard
                stopped.set()
                raise

    def summed(self, n_cells: int, add: Callable[[Codes, Sums], None]) -> Sums:
        """Sum what is added for every shard; the next pass overwrites the sums."""
        if not self._sums:
            self._sums = [sums_of(self.size, n_cells) for _ in range(self.n_jobs)]
        for sums in self._sums:
            engine.clear(sums)
        self._in_threads(lambda thread, k: add(self.codes(k), self._sums[thread]))
        first, *others = self._sums
        for more in others:
            add_sums(first, more)
        return first

    def count(self, start: Start, n_cells: int, *, compiled: bool = True) -> Sums:
        """Sum what is expected under the probabilities that ``start`` gives of a shard's items."""
        add_up = engine.add_count if compiled else add_count

        def add(codes: Codes, sums: Sums) -> None:
            given = start(codes) if callable(start) else start
            add_up(codes, np.ascontiguousarray(given, np.float64), sums)

        return self.summed(n_cells, add)

    def sweep(self, weights: Weights) -> Sums:
        """Weigh all items and sum what is expected."""
        n_cells = len(weights.cell_class)

        def add(codes: Codes, sums: Sums) -> None:
            engine.add_sweep(codes, weights, np.empty((len(codes.gold), n_cells)), sums)

        return self.summed(n_cells, add)


def weigh_shard(shards: Shards, weights: Weights, k: int) -> FloatArray:
    """Give the probabilities of cells of the k-th shard's items, shape (items, cells)."""
    codes = codes_of(shards.open(k), shards.n_classes, shards.n_answers)
    found = np.empty((len(codes.gold), len(weights.cell_class)))
    # Sums of these items alone: all that is wanted are the probabilities on the way.
    n_counted = int(np.count_nonzero(is_counted(codes)))
    size = Size(shards.n_annotators, shards.n_answers, len(codes.item_answer), n_counted)
    engine.add_sweep(codes, weights, found, sums_of(size, len(weights.cell_class)))
    return found
