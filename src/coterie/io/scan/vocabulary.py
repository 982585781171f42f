"""A vocabulary that grows while files are read; put in order when all of them have been."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.build import Tally
from coterie.data.table import Coded, code_objects, in_order, value_array

Array = NDArray[Any]
LongArray = NDArray[np.int64]


class Place(NamedTuple):
    """Where a row is: in which block of all, and which of its rows."""

    block: int
    row: int


class Growing:
    """The different values of a column so far: each has a number for the time being.

    Values of different types are kept apart until all have been seen: what is equal, 1 and 1.0, is
    then one value, as if the whole column had been coded at once.
    """

    def __init__(self) -> None:
        self.values: list[Hashable] = []
        self.counts = np.zeros(0, np.int64)
        self.first: list[Place] = []
        self._number: dict[Any, int] = {}
        self._kinds: set[Any] = set()

    def add(self, coded: Coded, block: int) -> NDArray[np.int32]:
        """Take in a block's values; give the number of each cell, -1 where it is missing."""
        known = len(self.values)
        self._kinds.add(coded.values.dtype)
        codes: NDArray[np.int32] = self._numbers(coded.values.tolist())[coded.codes]
        if len(self.values) > known:
            new, row = np.unique(codes, return_index=True)
            self.first += [Place(block, int(k)) for k in row[new >= known]]
        given = codes[codes >= 0] if codes.min(initial=0) < 0 else codes
        self._count(np.bincount(given, minlength=len(self.values)))
        return codes

    def merge(self, other: Growing, before: int) -> NDArray[np.int32]:
        """Take in what was seen of the files that follow; give the number of each of its numbers.

        Parameters
        ----------
        other
            Values of those files, seen by somebody else.
        before
            Blocks of the files before them.

        Returns
        -------
        Array of shape (numbers + 1,), with -1, for missing cells, at its end.
        """
        known = len(self.values)
        self._kinds |= other._kinds
        number = self._numbers(other.values)
        new = zip(number.tolist(), other.first, strict=False)
        self.first += [Place(before + block, row) for k, (block, row) in new if k >= known]
        counts = np.zeros(len(self.values), np.int64)
        counts[number[:-1]] = other.counts
        self._count(counts)
        return number

    def _numbers(self, cells: list[Any]) -> NDArray[np.int32]:
        """Give the number of each value, -1 at the end: those that are new get the next ones."""
        number = np.empty(len(cells) + 1, np.int32)
        number[-1] = -1
        for k, cell in enumerate(cells):
            key = cell if type(cell) is str else (type(cell), cell)
            number[k] = place = self._number.setdefault(key, len(self.values))
            if place == len(self.values):
                self.values.append(cell)
        return number

    def _count(self, counts: LongArray) -> None:
        counts[: len(self.counts)] += self.counts
        self.counts = counts

    def settled(self) -> Coded:
        """Give the values as they would be had they been coded at once, and each number's place."""
        if len(self._kinds) == 1 and (kind := next(iter(self._kinds))).kind != "O":
            return Coded(np.arange(len(self.values)), np.array(self.values, kind))
        if all(type(value) is str for value in self.values):
            return Coded(np.arange(len(self.values)), value_array(self.values))
        return code_objects(self.values)

    def ordered(self) -> Coded:
        """Give the same in order, so that neither files nor rows leave a trace."""
        return in_order(self.settled())

    def tally(self, settled: Coded) -> Tally:
        """Count how often each of the settled values occurs."""
        counts = np.zeros(len(settled.values), np.int64)
        np.add.at(counts, settled.codes, self.counts)
        return Tally(settled.values, counts)
