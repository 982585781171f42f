"""Some shards in one place: opened once, swept many times. What engines are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.shards import Shard, Shards
from coterie.errors import DataError
from coterie.inference.engine import Order
from coterie.kernels.gibbs.blocked.items import (
    Given,
    Items,
    Marks,
    Totals,
    elect_items,
    flat_given,
    flat_totals,
    new_totals,
    start_items,
    sweep_items,
)

FloatArray = NDArray[np.float64]
LongArray = NDArray[np.int64]


MOST_CELLS = 2**31
"""Cells of all annotators' rows: a label is one number of 32 bits."""


class Sizes(NamedTuple):
    """Of the whole crowd."""

    n_annotators: int
    n_classes: int
    n_answers: int


class Lost(Exception):
    """Sums of probabilities that should be here are not: another held them, and is gone."""


class Tallied(NamedTuple):
    """Summed probabilities of one shard in one chain."""

    sums: FloatArray  # (items, classes)
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
        self.items: dict[int, Items] = {}
        self.n_clear = 0
        self._weights = np.zeros(sizes.n_classes)
        for number, shard in shards.items():
            self.items[number] = items_of(shard, sizes, self.rows)
            clear = elect_items(self.items[number], sizes.n_answers, self._weights)
            self.n_clear += int(clear)
        self._tallied: dict[tuple[int, int], Tallied] = {}

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard here; give the counts, of ``rows`` if few."""
        n_rows = self.sizes.n_annotators if self.rows is None else len(self.rows)
        totals = new_totals(n_rows, self.sizes.n_classes, self.sizes.n_answers)
        weights = np.zeros(self.sizes.n_classes)  # its own: chains call at the same time
        counted, n_answers = flat_totals(totals), self.sizes.n_answers
        for number, items in self.items.items():
            if order.given is None:
                start_items(items, n_answers, order.noise, order.stream, counted, weights)
            else:
                self._sweep_one(number, items, flat_given(order.given), order, counted, weights)
        return totals

    def _sweep_one(
        self,
        number: int,
        items: Items,
        given: Given,
        order: Order,
        totals: Totals,
        weights: FloatArray,
    ) -> None:
        nothing, place = np.zeros((0, len(weights))), (order.chain, number)
        sums = nothing if order.tallied < 0 else self._sums(place, items, order.tallied)
        marks = Marks(weights, np.zeros(0, np.int32), sums)
        sweep_items(items, given, order.stream, totals, marks)
        if order.tallied >= 0:
            self._tallied[place] = Tallied(sums, order.tallied + 1)

    def _sums(self, place: tuple[int, int], items: Items, tallied: int) -> FloatArray:
        if tallied == 0:
            return np.zeros((len(items.gold), self.sizes.n_classes))
        found = self._tallied.get(place)
        if found is None or found.sweeps != tallied:
            raise Lost(f"of shard {place[1]} and chain {place[0]} at sweep {tallied}")
        return found.sums

    def has(self, chain: int, tallied: int) -> bool:
        """Say whether the sums of so many sweeps are here."""
        found = [self._tallied.get((chain, number)) for number in self.items]
        return tallied == 0 or all(one is not None and one.sweeps == tallied for one in found)

    def sums(self, chain: int, number: int) -> FloatArray:
        """Give the summed probabilities of a shard, shape (items, classes)."""
        if (chain, number) in self._tallied:
            return self._tallied[chain, number].sums
        return np.zeros((len(self.items[number].gold), self.sizes.n_classes))

    def restore(self, chain: int, number: int, sums: FloatArray, tallied: int) -> None:
        """Put sums back, of so many sweeps."""
        self._tallied[chain, number] = Tallied(np.array(sums), tallied)


def items_of(shard: Shard, sizes: Sizes, rows: LongArray | None = None) -> Items:
    """Show a shard to the kernels; annotators are numbered by their place in ``rows``, if given."""
    if sizes.n_annotators * sizes.n_answers >= MOST_CELLS:
        raise DataError(
            f"{sizes.n_annotators:,} annotators times {sizes.n_answers:,} answers are more than a"
            f" sweep can number, {MOST_CELLS:,}; leave out annotators with a label or two"
        )
    cell = np.array(shard.item_annotator, np.int32)
    if rows is not None:
        cell = np.searchsorted(rows, cell).astype(np.int32)
    cell *= np.int32(sizes.n_answers)
    cell += shard.item_answer
    items = Items(
        np.asarray(shard.key, np.uint64),
        np.asarray(shard.item_start, np.int64),
        cell,
        np.asarray(shard.gold, np.int32),
        np.full(len(shard.gold), -1, np.int32),
    )
    for array in items[:4]:  # all alike: code is compiled once
        array.setflags(write=False)
    return items


def _few_annotators(n_annotators: int, shards: dict[int, Shard]) -> LongArray | None:
    """Give who has labels in these shards, where that is less than half of all."""
    present = np.zeros(n_annotators, bool)
    for shard in shards.values():
        present[shard.item_annotator] = True
    rows = np.flatnonzero(present)
    return rows if 2 * len(rows) < n_annotators else None
