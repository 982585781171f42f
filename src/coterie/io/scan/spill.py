"""The pass over the files: rows are checked, words collected, labels dealt by key to parts.

Who reads a file deals its rows into a pile of its own: of every block a part gets one piece, its
labels in the order of the rows and the ids of their items. What is in memory is one block.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.build import Tally
from coterie.data.codes import key_of
from coterie.data.columns import ROLES, refuse_blanks
from coterie.data.table import (
    Coded,
    Table,
    as_float,
    code_objects,
    in_order,
    is_number,
    is_text,
    sort_order,
    value_array,
)
from coterie.errors import DataError
from coterie.files.paths import naming
from coterie.files.values import Unkept, from_json, to_json
from coterie.io.scan.sources import Found
from coterie.io.tables import Reader, fit, reader_of
from coterie.words.visible import quoted

Array = NDArray[Any]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
Keys = NDArray[np.uint64]

BLOCK = 2**18
"""Rows that are read at a time."""
TEXT, WHOLE, FRACTION, VALUES = range(4)
"""How ids are kept; values of other or mixed types as JSON, each with its type."""
_TYPES = {"large_string": TEXT, "int64": WHOLE, "double": FRACTION, "large_binary": VALUES}


# Ids of items as columns of pyarrow.
def form_of(ids: Any) -> int:
    """Tell how ids are kept."""
    return _TYPES[str(ids.type)]


def packed(values: Array, *, one_by_one: bool = False) -> Any:
    """Put ids into a column of pyarrow: in the form of their type, or one by one."""
    import pyarrow as pa

    if not one_by_one:
        long = values.dtype == np.uint64 and values.max(initial=0) >= 2**63
        if values.dtype.kind in "iu" and not long:
            return pa.array(values.astype(np.int64))
        if values.dtype.kind == "f":
            return pa.array(values.astype(np.float64))
        if is_text(values):
            return pa.array(values, pa.large_string())
    try:
        written = [json.dumps(to_json(value)).encode() for value in values.tolist()]
    except Unkept as error:
        raise DataError(
            f"{error}, which a shard cannot keep: use text, numbers, dates or tuples of them for"
            " items"
        ) from None
    return pa.array(written, pa.large_binary())


def unpacked(ids: Any) -> Array:
    """Give ids as :class:`coterie.Annotations` has them: numbers, or objects.

    Examples
    --------
    >>> unpacked(packed(value_array(["q1", 7]))).tolist()
    ['q1', 7]
    """
    if form_of(ids) in (WHOLE, FRACTION):
        return np.asarray(ids.to_numpy(zero_copy_only=False))
    cells = ids.to_pylist()
    if form_of(ids) == VALUES:
        return value_array(from_json(json.loads(cell)) for cell in cells)
    objects = np.empty(len(cells), object)
    objects[:] = cells
    return objects


def merged(pieces: Sequence[Any], forms: frozenset[int]) -> tuple[LongArray, Any]:
    """Give the place of each id of the pieces among the different ones, and those.

    The forms are those of the whole column, here or elsewhere: whole numbers are fractions if any
    is one, as if the column had been read at once.
    """
    import pyarrow as pa

    if len(forms) > 1 and forms != {WHOLE, FRACTION}:
        values = [value for piece in pieces for value in unpacked(piece).tolist()]
        if {WHOLE, FRACTION} <= forms:
            values = [as_float(value) if is_number(value) else value for value in values]
        coded = code_objects(values)
        return coded.codes.astype(np.int64), packed(coded.values, one_by_one=True)
    kinds = [pa.large_string(), pa.int64(), pa.float64(), pa.large_binary()]
    kind = kinds[max(forms, default=TEXT)]
    cells = [piece.cast(kind, safe=False) for piece in pieces] or [pa.array([], kind)]
    coded_cells = pa.concat_arrays(cells).dictionary_encode()
    return coded_cells.indices.to_numpy().astype(np.int64), coded_cells.dictionary


def by_key(ids: Any, key: Keys) -> LongArray:
    """Give the order of items by key; of one key, which no one has seen, in that of their ids."""
    order = np.argsort(key, kind="stable").astype(np.int64)
    sorted_key = key[order]
    alike = np.flatnonzero(sorted_key[1:] == sorted_key[:-1])
    for shared in np.unique(sorted_key[alike]):
        (places,) = np.nonzero(sorted_key == shared)
        order[places] = order[places][sort_order(unpacked(ids.take(order[places])))]
    return order


# Columns of several lengths as one batch of pyarrow: a row of lists.
def batch_of(columns: Mapping[str, Any], **told: int) -> Any:
    """Put arrays of several lengths, and numbers about them, into a batch."""
    import pyarrow as pa

    lists = {}
    for name, column in columns.items():
        cells = pa.array(column) if isinstance(column, np.ndarray) else column
        lists[name] = pa.LargeListArray.from_arrays(pa.array([0, len(cells)], pa.int64()), cells)
    batch = pa.record_batch(lists)
    return batch.replace_schema_metadata({name: str(value) for name, value in told.items()})


def column_in(batch: Any, name: str) -> Any:
    """Give one of the arrays of a batch, as pyarrow has it."""
    return batch.column(name).values


def array_in(batch: Any, name: str) -> Array:
    """Give one of the arrays of numbers of a batch, not copied, read only."""
    array: Array = column_in(batch, name).to_numpy()
    array.setflags(write=False)  # also if it is empty: compiled code tells them apart
    return array


class Piece(NamedTuple):
    """What one block left in one part: labels in the order of the rows.

    Numbers of annotators and answers are for the time being.
    """

    ids: Any
    key: Keys
    item: LongArray  # (labels,)   among the ids
    annotator: IntArray
    answer: IntArray
    gold: IntArray  # -1 where none is known; empty if there is no such column
    block: LongArray  # (labels,)
    row: IntArray  # (labels,)   within the block


NUMBERS = ("annotator", "answer", "gold")


def part_of(key: Keys, n_parts: int) -> LongArray:
    """Give the part of each key: ranges of keys, in order, all alike.

    Examples
    --------
    >>> part_of(np.array([0, 2**63, 2**64 - 1], np.uint64), 3).tolist()
    [0, 1, 2]
    """
    high = key >> np.uint64(32)
    return ((high * np.uint64(n_parts)) >> np.uint64(32)).astype(np.int64)


class Pile:
    """All parts in one file, and where their pieces begin."""

    def __init__(self, folder: Path, n_parts: int) -> None:
        self.n_parts = n_parts
        self.path = folder / f"{uuid.uuid4().hex}.rows"  # a second try leaves the first alone
        self.start: list[list[int]] = [[] for _ in range(n_parts)]
        with naming(self.path):
            self.path.touch()

    def add(self, block: int, items: Coded, ids: Any, columns: Sequence[IntArray]) -> None:
        """Deal a block's rows: items, annotators, answers, and known labels if there are any."""
        key = key_of(items.values)
        part = part_of(key, self.n_parts)
        parts = np.arange(self.n_parts + 1)
        item_order = np.argsort(part, kind="stable")
        item_bound = np.searchsorted(part[item_order], parts)
        within = np.empty(len(part), np.int32)
        within[item_order] = np.arange(len(part)) - item_bound[part[item_order]]
        small = np.uint16 if self.n_parts <= 2**16 else np.int64  # sorted by radix
        row_part = part.astype(small)[items.codes]
        order = np.argsort(row_part, kind="stable")
        bound = np.searchsorted(row_part[order], parts)
        item = within[items.codes]
        with naming(self.path), self.path.open("ab") as file:
            for k in range(self.n_parts):
                rows = order[bound[k] : bound[k + 1]].astype(np.int32)
                if len(rows):
                    mine = item_order[item_bound[k] : item_bound[k + 1]]
                    cells = dict(zip(NUMBERS, (column[rows] for column in columns), strict=False))
                    own = {"ids": ids.take(mine), "key": key[mine], "item": item[rows], "row": rows}
                    self.start[k].append(file.tell())
                    write_piece(file, batch_of(own | cells, block=block))


def write_piece(file: BinaryIO, batch: Any) -> None:
    """Write a batch behind others."""
    import pyarrow as pa

    with pa.ipc.new_stream(file, batch.schema) as stream:
        stream.write_batch(batch)


def pieces_at(path: Path, starts: Sequence[int]) -> Iterator[Piece]:
    """Give the pieces of a pile that begin there."""
    import pyarrow as pa

    with naming(path, "read"), path.open("rb") as file:
        for start in starts:
            file.seek(start)
            with pa.ipc.open_stream(file) as stream:
                batch = stream.read_next_batch()
            block, row = int(batch.schema.metadata[b"block"]), array_in(batch, "row")
            names, none = {*batch.schema.names}, np.zeros(0, np.int32)
            annotator, answer, gold = (
                array_in(batch, name) if name in names else none for name in NUMBERS
            )
            yield Piece(
                ids=column_in(batch, "ids"),
                key=array_in(batch, "key"),
                item=array_in(batch, "item").astype(np.int64),
                annotator=annotator,
                answer=answer,
                gold=gold,
                block=np.full(len(row), block),
                row=row,
            )


class Growing:
    """The different values of a column so far: each has a number for the time being.

    Values of different types are kept apart until all have been seen: what is equal, 1 and 1.0, is
    then one value, as if the whole column had been coded at once.
    """

    def __init__(self) -> None:
        self.values: list[Hashable] = []
        self.counts = np.zeros(0, np.int64)
        self.first: list[tuple[int, int]] = []  # in which block of all, and which of its rows
        self._number: dict[Any, int] = {}
        self._kinds: set[Any] = set()

    def add(self, coded: Coded, block: int) -> IntArray:
        """Take in a block's values; give the number of each cell, -1 where it is missing."""
        known = len(self.values)
        self._kinds.add(coded.values.dtype)
        codes: IntArray = self._numbers(coded.values.tolist())[coded.codes]
        if len(self.values) > known:
            new, row = np.unique(codes, return_index=True)
            self.first += [(block, int(k)) for k in row[new >= known]]
        given = codes[codes >= 0] if codes.min(initial=0) < 0 else codes
        self._count(np.bincount(given, minlength=len(self.values)))
        return codes

    def merge(self, other: Growing, before: int) -> IntArray:
        """Take in what somebody else saw of the files that follow, behind so many blocks.

        Gives the number of each of its numbers, and -1, for missing cells, at the end.
        """
        known = len(self.values)
        self._kinds |= other._kinds
        number = self._numbers(other.values)
        new = zip(number.tolist(), other.first, strict=False)
        self.first += [(before + block, row) for k, (block, row) in new if k >= known]
        counts = np.zeros(len(self.values), np.int64)
        counts[number[:-1]] = other.counts
        self._count(counts)
        return number

    def _numbers(self, cells: list[Any]) -> IntArray:
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

    def settled(self, *, ordered: bool = False) -> Coded:
        """Give the values as they would be had they been coded at once, and each number's place."""
        one = next(iter(self._kinds)) if len(self._kinds) == 1 else np.dtype(object)
        if one.kind != "O":
            coded = Coded(np.arange(len(self.values)), np.array(self.values, one))
        elif all(type(value) is str for value in self.values):
            coded = Coded(np.arange(len(self.values)), value_array(self.values))
        else:
            coded = code_objects(self.values)
        return in_order(coded) if ordered else coded

    def tally(self, settled: Coded) -> Tally:
        """Count how often each of the settled values occurs."""
        counts = np.zeros(len(settled.values), np.int64)
        np.add.at(counts, settled.codes, self.counts)
        return Tally(settled.values, counts)


@dataclass
class Dealt:
    """What is known once rows have been read."""

    names: Sequence[Hashable]  # of the columns: item, annotator, label, and gold if there is one
    columns: list[Growing]  # of annotators, labels, and known labels if there are any
    forms: set[int] = field(default_factory=set)  # of the items' ids
    blocks: list[tuple[Table, int]] = field(default_factory=list)  # file, and rows before

    def rows(self, places: LongArray) -> tuple[str, int]:
        """Name rows of the first file among places, block and row, in order; and how many."""
        table, _ = self.blocks[int(places[0, 0])]
        near = ((*self.blocks[block], row) for block, row in places.tolist())
        own = [first + row for file, first, row in near if file is table]
        return table.rows(own), len(own)


def nothing_dealt(names: Sequence[Hashable]) -> Dealt:
    """Give what is known before any row of these columns has been read."""
    return Dealt(names, [Growing() for _ in names[1:]])


class Seen(NamedTuple):
    """What is said of a file whose rows have been dealt."""

    path: Path
    start: list[list[int]]  # of each part: where its pieces begin
    dealt: Dealt  # its blocks without their table
    before: list[int]  # rows of the file before each block


def opened(found: Found) -> Reader:
    """Find out how to read a file, and which columns it has, those of its folders included."""
    reader, hive = reader_of(found.file), found.hive
    both = set(hive) & set(reader.table.columns)
    if both:
        raise DataError(
            f"{found.file.name} has a column {quoted(min(both))} of its own, which its folder names"
            " too; rename one"
        )
    if not hive:
        return reader

    def blocks(names: Sequence[Hashable], size: int) -> Iterator[list[Coded]]:
        own = [name for name in names if name not in hive] or [reader.table.columns[0]]
        for block in reader.blocks(own, size):
            cells = dict(zip(own, block, strict=True))
            rows = len(block[0].codes)
            yield [cells[x] if x in cells else _constant(hive[str(x)], rows) for x in names]

    table = replace(reader.table, columns=(*reader.table.columns, *hive))
    return reader._replace(table=table, blocks=blocks)


def _constant(value: str | None, rows: int) -> Coded:
    code = -1 if value is None else 0
    return Coded(np.full(rows, code, np.int32), value_array([] if value is None else [value]))


def _tables(reader: Reader, names: Sequence[Hashable]) -> Iterator[tuple[Table, list[Coded]]]:
    """Give columns of a file as tables of some rows, and their cells."""
    first = 0
    for block in reader.blocks(names, BLOCK):
        part = _part(reader.table, tuple(names), block, first)
        yield part, part.read(range(len(names)))
        first += len(block[0].codes)


def _part(whole: Table, names: tuple[Hashable, ...], block: list[Coded], first: int) -> Table:
    def code(places: Sequence[int]) -> list[Coded]:
        return [block[place] for place in places]

    def number(places: Sequence[int]) -> list[int]:
        return whole.number([first + place for place in places])

    return fit(replace(whole, columns=names, code=code, number=number, index=None))


def deal_one(found: Found, names: Sequence[Hashable], folder: Path, n_parts: int) -> Seen:
    """Deal the rows of one file into a pile."""
    if not folder.exists():
        raise DataError(
            f"a worker does not see {folder}, where shards are to lie: pass a folder that this"
            " process and all workers see, or scan without the cluster"
        )
    reader, dealt, pile = opened(found), nothing_dealt(names), Pile(folder, n_parts)
    before: list[int] = []
    rows = 0
    for _, coded in _tables(reader, names):
        if len(coded[0].codes):
            _refuse_blanks(reader, names, coded)
            ids, block = packed(coded[0].values), len(before)
            dealt.forms |= _forms(ids)
            columns = zip(dealt.columns, coded[1:], strict=True)
            pile.add(block, coded[0], ids, [seen.add(column, block) for seen, column in columns])
            before.append(rows)
            rows += len(coded[0].codes)
    return Seen(pile.path, pile.start, dealt, before)


def _forms(ids: Any) -> set[int]:
    """Give the form, and of values one by one also those of the numbers among them."""
    if form_of(ids) != VALUES:
        return {form_of(ids)}
    numbers = [value for value in unpacked(ids).tolist() if is_number(value)]
    return {VALUES, *(WHOLE if isinstance(number, int) else FRACTION for number in numbers)}


def _refuse_blanks(reader: Reader, names: Sequence[Hashable], coded: list[Coded]) -> None:
    """Refuse missing cells: with those of the whole file, not only of the block."""
    for role, name, column in zip(ROLES, names, coded, strict=False):
        if column.codes.min(initial=0) < 0:
            parts = [cells[0].codes for _, cells in _tables(reader, [name])]
            refuse_blanks(reader.table, role, Coded(np.concatenate(parts), column.values))
