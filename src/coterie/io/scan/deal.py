"""The one pass over the files: rows are checked, words collected, labels dealt to parts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.columns import ROLES, refuse_blanks
from coterie.data.table import Coded
from coterie.io.scan.blocks import Reader
from coterie.io.scan.ids import named
from coterie.io.scan.spill import Spill
from coterie.io.scan.vocabulary import Growing

BLOCK = 2**18
"""Rows that are read at a time."""


@dataclass
class Dealt:
    """What is known once all rows have been read."""

    names: Sequence[Hashable]  # of the columns: item, annotator, label, and gold if there is one
    annotators: Growing = field(default_factory=Growing)
    labels: Growing = field(default_factory=Growing)
    gold: Growing | None = None
    forms: set[int] = field(default_factory=set)  # of the items' ids
    blocks: list[tuple[Reader, int]] = field(default_factory=list)  # file, and rows before

    def columns(self) -> list[Growing]:
        """Give what was seen of the annotators, the labels, and known labels if there are any."""
        return [self.annotators, self.labels, *([] if self.gold is None else [self.gold])]

    def rows(self, places: NDArray[np.int64]) -> tuple[str, int]:
        """Name rows of the first file among them, and how many those are.

        Parameters
        ----------
        places
            Block and row of each, shape (rows, 2), in order.
        """
        reader, _ = self.blocks[int(places[0, 0])]
        own = [
            first + row
            for (file, first), row in ((self.blocks[b], row) for b, row in places.tolist())
            if file is reader
        ]
        return reader.table.rows(own), len(own)


def nothing_dealt(names: Sequence[Hashable]) -> Dealt:
    """Give what is known before any row of these columns has been read."""
    return Dealt(names, gold=Growing() if len(names) > 3 else None)


def deal(readers: Sequence[Reader], names: Sequence[Hashable], spill: Spill) -> Dealt:
    """Read all files, a block at a time.

    Parameters
    ----------
    readers
        The files, in order.
    names
        The columns: item, annotator, label, and known labels if there is a column of them.
    spill
        Where the labels go.
    """
    dealt = nothing_dealt(names)
    for reader in readers:
        deal_file(dealt, reader, spill)
    return dealt


def deal_file(dealt: Dealt, reader: Reader, spill: Spill) -> None:
    """Read one file, a block at a time."""
    before = 0
    for table in reader.tables(dealt.names, BLOCK):
        coded = table.read(range(len(dealt.names)))
        if len(coded[0].codes):
            _refuse_blanks(reader, dealt.names, coded)
            _take(dealt, spill, coded)
            dealt.blocks.append((reader, before))
            before += len(coded[0].codes)


def _take(dealt: Dealt, spill: Spill, coded: list[Coded]) -> None:
    block = len(dealt.blocks)
    items = named(coded[0])
    dealt.forms |= items.forms()
    columns = zip(dealt.columns(), coded[1:], strict=True)
    spill.add(block, items, [seen.add(column, block) for seen, column in columns])


def _refuse_blanks(reader: Reader, names: Sequence[Hashable], coded: list[Coded]) -> None:
    """Refuse missing cells: with those of the whole file, not only of the block."""
    for role, name, column in zip(ROLES, names, coded, strict=False):
        if column.codes.min(initial=0) < 0:
            parts = [table.read([0])[0] for table in reader.tables([name], BLOCK)]
            whole: Any = np.concatenate([part.codes for part in parts])
            refuse_blanks(reader.table, role, Coded(whole, column.values))
