"""Some shards in one place: opened once, swept many times. What engines are made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.shards import Shard, Shards
from coterie.errors import DataError
from coterie.inference.engine import Order, Sizes
from coterie.inference.work import work_of
from coterie.kernels.gibbs.blocked.items import Totals, new_totals

FloatArray = NDArray[np.float64]
LongArray = NDArray[np.int64]


class Lost(Exception):
    """Sums of probabilities that should be here are not: another held them, and is gone."""


class Tallied(NamedTuple):
    """Summed probabilities of one shard in one chain."""

    sums: FloatArray  # (items, columns)
    sweeps: int


def opened(shards: Shards, number: int) -> Shard:
    """Open a shard; say which it was if that fails."""
    try:
        return shards.open(number)
    except (OSError, ValueError, LookupError, EOFError) as error:
        raise DataError(
            f"shard {number + 1} of {len(shards)} cannot be read: {error}; read the labels anew, or"
            " put the file back"
        ) from error


class Holder:
    """Holds shards and, per chain, the summed probabilities of their items.

    Parameters
    ----------
    sizes
        Of the whole crowd.
    shards
        The shards, by number.
    sparse
        Count only annotators who have labels here, where those are few: less travels.
    """

    def __init__(self, sizes: Sizes, shards: dict[int, Shard], sparse: bool = False) -> None:
        self.sizes = sizes
        self.rows = _few_annotators(sizes.n_annotators, shards) if sparse else None
        self.items: dict[int, Any] = {}
        self.n_clear = 0
        self._work = work_of(sizes)
        for number, shard in shards.items():
            self.items[number], n_clear = self._work.take(shard, self.rows)
            self.n_clear += n_clear
        self._tallied: dict[tuple[int, int], Tallied] = {}

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard here; give the counts, of ``rows`` if few."""
        n_rows = self.sizes.n_annotators if self.rows is None else len(self.rows)
        totals = new_totals(n_rows, *self.sizes[1:])
        for number, items in self.items.items():
            if order.given is None:
                self._work.start(items, order, totals)
            else:
                self._sweep_one(number, items, order, totals)
        return totals

    def _sweep_one(self, number: int, items: Any, order: Order, totals: Totals) -> None:
        place = (order.chain, number)
        sums = None if order.tallied < 0 else self._sums(place, items, order.tallied)
        self._work.sweep(items, order, totals, sums)
        if sums is not None:
            self._tallied[place] = Tallied(sums, order.tallied + 1)

    def _sums(self, place: tuple[int, int], items: Any, tallied: int) -> FloatArray:
        if tallied == 0:
            return np.zeros((len(items.gold), self.sizes.n_columns))
        found = self._tallied.get(place)
        if found is None or found.sweeps != tallied:
            raise Lost(f"of shard {place[1]} and chain {place[0]} at sweep {tallied}")
        return found.sums

    def has(self, chain: int, tallied: int) -> bool:
        """Say whether the sums of so many sweeps are here."""
        found = [self._tallied.get((chain, number)) for number in self.items]
        return tallied == 0 or all(one is not None and one.sweeps == tallied for one in found)

    def sums(self, chain: int, number: int) -> FloatArray:
        """Give the summed probabilities of a shard, shape (items, columns)."""
        if (chain, number) in self._tallied:
            return self._tallied[chain, number].sums
        return np.zeros((len(self.items[number].gold), self.sizes.n_columns))

    def restore(self, chain: int, number: int, sums: FloatArray, tallied: int) -> None:
        """Put sums back, of so many sweeps."""
        self._tallied[chain, number] = Tallied(np.array(sums), tallied)

    def forget(self, chain: int) -> None:
        """Let go of a chain's sums."""
        for number in self.items:
            self._tallied.pop((chain, number), None)


def _few_annotators(n_annotators: int, shards: dict[int, Shard]) -> LongArray | None:
    """Give who has labels in these shards, where that is less than half of all."""
    present = np.zeros(n_annotators, bool)
    for shard in shards.values():
        present[shard.item_annotator] = True
    rows = np.flatnonzero(present)
    return rows if 2 * len(rows) < n_annotators else None
