"""The engine that everybody has: shards in this process, swept by threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.shards import Shards
from coterie.inference.cores import cores
from coterie.inference.engine import Order, add_totals, sizes_of
from coterie.inference.holder import Holder, opened
from coterie.kernels.gibbs.blocked.items import Totals, new_totals

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Threads:
    """Threads of this process."""

    n_slots: int
    name: str = "threads"

    def open(self, shards: Shards, n_kinds: int = 0) -> Held:
        """Open every shard, each thread its own."""
        return Held(self, shards, n_kinds)


class Held:
    """Shards held in this process."""

    def __init__(self, engine: Threads, shards: Shards, n_kinds: int) -> None:
        self._sizes = sizes_of(shards, n_kinds)
        n_slots = min(engine.n_slots, max(len(shards), 1))
        self._pool = ThreadPoolExecutor(n_slots, "coterie-shards")
        self._slot_of = [number % n_slots for number in range(len(shards))]

        def hold(slot: int) -> Holder:
            numbers = range(slot, len(shards), n_slots)
            return Holder(self._sizes, {number: opened(shards, number) for number in numbers})

        try:
            self._holders = list(self._pool.map(hold, range(n_slots)))
        except BaseException:  # Ctrl-C too: the threads would outlive it
            self._pool.shutdown()
            raise

    @property
    def n_clear(self) -> int:
        """Number of items without gold whose vote has a clear winner."""
        return sum(holder.n_clear for holder in self._holders)

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard, and give the counts of all."""
        futures = [self._pool.submit(holder.sweep, order) for holder in self._holders]
        totals = new_totals(*self._sizes)
        add_totals(((future.result(), None) for future in futures), totals)
        return totals

    def sums(self, chain: int) -> list[FloatArray]:
        """Give the summed probabilities of a chain, one array (items, columns) per shard."""
        return [self._holders[s].sums(chain, number) for number, s in enumerate(self._slot_of)]

    def restore(self, chain: int, sums: Sequence[FloatArray], tallied: int) -> None:
        """Put sums back, of so many sweeps."""
        for number, (slot, array) in enumerate(zip(self._slot_of, sums, strict=True)):
            self._holders[slot].restore(chain, number, array, tallied)

    def forget(self, chain: int) -> None:
        """Let go of a chain's sums."""
        for holder in self._holders:
            holder.forget(chain)

    def close(self) -> None:
        """Let the threads go, and the shards."""
        self._pool.shutdown()
        self._holders = []


def connect(engine: Any, n_jobs: int | None) -> Threads:
    """Give as many threads as there are cores, unless told."""
    return Threads(cores() if n_jobs is None or n_jobs < 0 else n_jobs)
