"""Whoever holds the items: what an iteration asks of them, and all of them in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.data.shards import Shard
from coterie.kernels.soft import engine
from coterie.kernels.soft.engine import new_sums
from coterie.kernels.soft.parts import Sums, Weights

FloatArray = NDArray[np.float64]
Start = FloatArray | Callable[[Codes], FloatArray]
"""Probabilities of cells, shape (items, cells); or what gives those of some of the items."""


class Items(Protocol):
    """Items that are weighed where they are: only sums come back."""

    @property
    def probability(self) -> FloatArray:
        """What the last pass found, shape (items, cells); of none where items stay in shards."""

    def count(self, start: Start, n_cells: int) -> Sums:
        """Sum what is expected under given probabilities; the next pass overwrites the sums."""

    def sweep(self, weights: Weights) -> Sums:
        """Weigh all items and sum what is expected; the next pass overwrites the sums."""


class Whole:
    """All items in one place."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.probability = np.empty((0, 0))
        self._sums: Sums | None = None

    def count(self, start: Start, n_cells: int) -> Sums:
        """Sum what is expected under given probabilities."""
        given = start(self.codes) if callable(start) else start
        self.probability = np.ascontiguousarray(given, np.float64).copy()
        sums = self._room(n_cells)
        engine.count(self.codes, self.probability, sums)
        return sums

    def sweep(self, weights: Weights) -> Sums:
        """Weigh all items and sum what is expected."""
        n_cells = len(weights.cell_class)
        sums = self._room(n_cells)
        if not self.probability.size:
            self.probability = np.empty((len(self.codes.gold), n_cells))
        engine.sweep(self.codes, weights, self.probability, sums)
        return sums

    def _room(self, n_cells: int) -> Sums:
        if self._sums is None:
            self._sums = new_sums(self.codes, n_cells)
        return self._sums


def whole(codes: Codes) -> Whole:
    """Hold all items in one place."""
    return Whole(codes)


def codes_of(shard: Shard, n_classes: int, n_answers: int) -> Codes:
    """See a shard as codes, by item only: what the engine reads."""
    none = np.zeros(0, np.int32)
    return Codes(
        item_start=shard.item_start,
        item_annotator=shard.item_annotator,
        item_answer=shard.item_answer,
        annotator_start=np.zeros(1, np.int64),
        annotator_item=none,
        annotator_answer=none,
        gold=shard.gold,
        n_classes=n_classes,
        n_answers=n_answers,
    )
