"""What a worker of a cluster does: it holds some shards, and sweeps them when asked.

Shards are kept in the worker's process by run and slot. A worker that has taken another's place
holds nothing: it says so, and is handed the shards and what was summed of them.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.shards import Shard, Shards
from coterie.inference.shards import Holder, Lost, Order, Sizes, Totals, opened

FloatArray = NDArray[np.float64]
HOLDERS: dict[tuple[str, int], Holder] = {}


def dask_setup(worker: object) -> None:
    """Leave Ctrl-C to the driver: a terminal sends it to the workers of a local cluster too.

    Dask calls it in the main thread of a worker's process, when that starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Taken(NamedTuple):
    """What a worker has taken in."""

    n_clear: int
    rows: NDArray[np.int64] | None  # annotators who have labels there, where those are few


def hold(
    run: str, slot: int, sizes: Sizes, source: Shards | dict[int, Shard], numbers: Sequence[int]
) -> Taken:
    """Open shards, or take those that were sent."""
    shards = source if isinstance(source, dict) else {k: opened(source, k) for k in numbers}
    holder = HOLDERS[run, slot] = Holder(sizes, shards, sparse=True)
    return Taken(holder.n_clear, holder.rows)


def sweep(run: str, slot: int, order: Order) -> Totals | None:
    """Do what is ordered; None if what it needs is not here."""
    holder = HOLDERS.get((run, slot))
    try:
        return None if holder is None else holder.sweep(order)
    except Lost:
        return None


def sums(run: str, slot: int, chain: int, tallied: int) -> list[FloatArray] | None:
    """Give the summed probabilities of the slot's shards; None if they are not here."""
    holder = HOLDERS.get((run, slot))
    if holder is None or not holder.has(chain, tallied):
        return None
    return [holder.sums(chain, number) for number in holder.items]


def restore(
    run: str, slot: int, chain: int, stored: Sequence[FloatArray] | None, tallied: int,
    orders: Sequence[Order],
) -> bool:  # fmt: skip
    """Put sums back, then sweep again what was swept since; False if the shards are not here."""
    holder = HOLDERS.get((run, slot))
    if holder is None:
        return False
    if stored is not None:
        for number, array in zip(holder.items, stored, strict=True):
            holder.restore(chain, number, array, tallied)
    for order in orders:
        holder.sweep(order)
    return True


def forget(run: str, slot: int, chain: int) -> bool:
    """Let go of a chain's sums, wherever they are."""
    holder = HOLDERS.get((run, slot))
    if holder is not None:
        holder.forget(chain)
    return True


def drop(run: str) -> None:
    """Let go of all shards of a run."""
    for key in [key for key in HOLDERS if key[0] == run]:
        HOLDERS.pop(key, None)
