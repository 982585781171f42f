"""Labels on their way from files to shards: dealt by key to parts, each a file that grows.

Of every block a part gets one piece: its labels in the order of the rows, and the ids of the items
they are about. What is in memory at any time is one block, and later one part.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.files.paths import naming
from coterie.io.scan.ids import FRACTION, WHOLE, Ids, Named, text_of

Array = NDArray[Any]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
Keys = NDArray[np.uint64]
HEAD_BYTES = 48
"""Of a piece: its block, rows, columns, ids, their form, their bytes."""


class Rows(NamedTuple):
    """Labels in the order of the rows; numbers of annotators and answers are for the time being."""

    item: LongArray  # (labels,)   among the ids beside them
    annotator: IntArray
    answer: IntArray
    gold: IntArray  # -1 where none is known; empty if there is no such column
    block: LongArray  # (labels,)
    row: IntArray  # (labels,)   within the block


class Piece(NamedTuple):
    """What one block left in one part."""

    rows: Rows
    ids: Ids
    key: Keys


def part_of(key: Keys, n_parts: int) -> LongArray:
    """Give the part of each key: ranges of keys, in order, all alike.

    Examples
    --------
    >>> part_of(np.array([0, 2**63, 2**64 - 1], np.uint64), 3).tolist()
    [0, 1, 2]
    """
    high = key >> np.uint64(32)
    return ((high * np.uint64(n_parts)) >> np.uint64(32)).astype(np.int64)


class Spill:
    """Parts that grow, in a folder."""

    def __init__(self, folder: Path, n_parts: int) -> None:
        self.folder, self.n_parts = folder, n_parts
        with naming(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def path(self, part: int) -> Path:
        """Give the file of a part."""
        return self.folder / f"part-{part:05d}.rows"

    def add(self, block: int, items: Named, columns: list[IntArray]) -> None:
        """Deal a block's rows to the parts.

        Parameters
        ----------
        block
            Its number.
        items
            What the rows are about.
        columns
            Annotators and answers, and known labels if there are any, each of shape (rows,).
        """
        part = part_of(items.key, self.n_parts)
        item_order = np.argsort(part, kind="stable")
        within = np.empty(len(part), np.int32)
        item_bound = np.searchsorted(part[item_order], np.arange(self.n_parts + 1))
        within[item_order] = np.arange(len(part)) - item_bound[part[item_order]]
        small = np.uint16 if self.n_parts <= 2**16 else np.int64  # sorted by radix
        row_part = part.astype(small)[items.item]
        order = np.argsort(row_part, kind="stable")
        bound = np.searchsorted(row_part[order], np.arange(self.n_parts + 1))
        item = within[items.item]
        for k in range(self.n_parts):
            rows = order[bound[k] : bound[k + 1]].astype(np.int32)
            if len(rows):
                mine = item_order[item_bound[k] : item_bound[k + 1]]
                cells = [item[rows], *(column[rows] for column in columns), rows]
                self._write(
                    k,
                    block,
                    cells,
                    Ids(items.ids.form, items.ids.cells.take(mine)),
                    items.key[mine],
                )

    def _write(self, part: int, block: int, cells: list[IntArray], ids: Ids, key: Keys) -> None:
        body = _bytes_of(ids)
        head = np.array([block, len(cells[0]), len(cells), len(key), ids.form, len(body[-1])])
        path = self.path(part)
        with naming(path), path.open("ab") as file:
            file.write(head.astype(np.int64).tobytes())
            for column in cells:
                file.write(column.astype(np.int32, copy=False).tobytes())
            file.write(key.tobytes())
            for some in body:
                file.write(some)

    def pieces(self, part: int) -> Iterator[Piece]:
        """Give a part back, block by block."""
        path = self.path(part)
        if not path.exists():
            return
        with naming(path, "read"), path.open("rb") as file:
            while head := file.read(HEAD_BYTES):
                yield _piece(file, np.frombuffer(head, np.int64))

    def remove(self, part: int) -> None:
        """Remove a part that has become a shard."""
        self.path(part).unlink(missing_ok=True)


class Pile(Spill):
    """All parts in one file of this process's own, and where their pieces begin."""

    def __init__(self, folder: Path, n_parts: int) -> None:
        self.folder, self.n_parts = folder, n_parts
        self.file = folder / f"{uuid.uuid4().hex}.rows"  # a second try leaves the first alone
        self.start: list[list[int]] = [[] for _ in range(n_parts)]
        with naming(self.file):
            self.file.touch()

    def path(self, part: int) -> Path:
        """Give the one file."""
        return self.file

    def _write(self, part: int, block: int, cells: list[IntArray], ids: Ids, key: Keys) -> None:
        with naming(self.file):
            self.start[part].append(self.file.stat().st_size)
        super()._write(part, block, cells, ids, key)


def pieces_at(path: Path, starts: Sequence[int]) -> Iterator[Piece]:
    """Give the pieces of a pile that begin there."""
    with naming(path, "read"), path.open("rb") as file:
        for start in starts:
            file.seek(start)
            yield _piece(file, np.frombuffer(file.read(HEAD_BYTES), np.int64))


def _piece(file: BinaryIO, head: LongArray) -> Piece:
    block, n, n_columns, n_ids, form, n_bytes = head.tolist()
    cells = [np.frombuffer(file.read(4 * n), np.int32) for _ in range(n_columns)]
    key = np.frombuffer(file.read(8 * n_ids), np.uint64)
    item, annotator, answer, *gold, row = cells
    known = gold[0] if gold else np.zeros(0, np.int32)
    rows = Rows(item.astype(np.int64), annotator, answer, known, np.full(n, block), row)
    return Piece(rows, _ids_of(file, form, n_ids, n_bytes), key)


def _bytes_of(ids: Ids) -> list[bytes]:
    """Give ids as bytes: numbers as they are, text as lengths and one run of UTF-8."""
    if ids.form in (WHOLE, FRACTION):
        return [ids.cells.to_numpy(zero_copy_only=False).tobytes()]
    length, content = text_of(ids.cells)
    return [length.tobytes(), content.tobytes()]


def _ids_of(file: BinaryIO, form: int, n_ids: int, n_bytes: int) -> Ids:
    import pyarrow as pa

    if form in (WHOLE, FRACTION):
        numbers = np.frombuffer(file.read(n_bytes), np.int64 if form == WHOLE else np.float64)
        return Ids(form, pa.array(numbers))
    start = np.zeros(n_ids + 1, np.int64)
    np.cumsum(np.frombuffer(file.read(8 * n_ids), np.int64), out=start[1:])
    buffers = [None, pa.py_buffer(start.tobytes()), pa.py_buffer(file.read(n_bytes))]
    return Ids(form, pa.Array.from_buffers(pa.large_string(), n_ids, buffers))
