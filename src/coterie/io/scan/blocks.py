"""A file -> tables of some of its rows, one after the other: only the columns asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from coterie.data import Coded, Table
from coterie.data.provenance import Format, Source
from coterie.data.table import code_arrow, code_objects, value_array
from coterie.errors import DataError
from coterie.io.files import File
from coterie.io.jsonl import COUNTED, parsed
from coterie.io.scan.sources import Found
from coterie.io.tables import as_text, format_of, parquet_opened, refuse_unfit, refuse_unfit_names
from coterie.io.text import not_utf8, text_of
from coterie.words.visible import quoted

Code = Callable[[Sequence[int]], list[Coded]]
HEAD = 100
"""Rows of a JSONL file that show its keys; others are found where they are asked for by name."""


class Block(NamedTuple):
    """Some rows of a file: how many, and the columns asked for when they are wanted as codes."""

    rows: int
    code: Code


@dataclass(frozen=True)
class Reader:
    """A file that is read a block at a time.

    Parameters
    ----------
    table
        Its columns, and how its rows are named; its own cells are not read.
    blocks
        Gives the columns of these names, about so many rows at a time.
    rows
        How many rows it has, where the file says; else None.
    size
        Bytes of the file as it lies there, or None.
    """

    table: Table
    blocks: Callable[[Sequence[Hashable], int], Iterator[Block]]
    rows: int | None
    size: int | None

    def tables(self, names: Sequence[Hashable], size: int) -> Iterator[Table]:
        """Give the columns of these names as tables of about so many rows."""
        first = 0
        for block in self.blocks(names, size):
            yield _part(self.table, tuple(names), block, first)
            first += block.rows


def _part(whole: Table, names: tuple[Hashable, ...], block: Block, first: int) -> Table:
    def code(places: Sequence[int]) -> list[Coded]:
        coded = block.code(places)
        for place, column in zip(places, coded, strict=True):
            refuse_unfit(part, place, column)
        return coded

    def number(places: Sequence[int]) -> list[int]:
        return whole.number([first + place for place in places])

    part = replace(whole, columns=names, code=code, number=number, index=None)
    return part


def reader_of(found: Found) -> Reader:
    """Find out how to read a file, and which columns it has, those of its folders included."""
    file, head = found.file, found.file.head()
    format = format_of(file, head)
    if format in (Format.EXCEL, Format.JSON):
        what = "a spreadsheet" if format is Format.EXCEL else "one JSON list"
        raise DataError(
            f"{file.name} is {what}, which cannot be scanned; coterie.read reads it, or write CSV,"
            " JSONL or Parquet"
        )
    opened = {Format.PARQUET: _parquet, Format.JSONL: _jsonl, Format.TEXT: _text}
    reader = opened[format](file, head)
    size = next((mark for mark in found.stamp[1:2] if isinstance(mark, int)), None)
    reader = replace(reader, size=size)
    refuse_unfit_names(file, reader.table.columns)
    both = set(found.hive) & set(reader.table.columns)
    if both:
        raise DataError(
            f"{file.name} has a column {quoted(min(both))} of its own, which its folder names too;"
            " rename one"
        )
    return _with_hive(reader, found) if found.hive else reader


def _with_hive(reader: Reader, found: Found) -> Reader:
    """Add the columns that folders name, one value in all rows."""
    hive = found.hive

    def blocks(names: Sequence[Hashable], size: int) -> Iterator[Block]:
        own = [name for name in names if name not in hive] or list(reader.table.columns[:1])
        for block in reader.blocks(own, size):
            yield Block(block.rows, _mixed(names, own, block, hive))

    table = replace(reader.table, columns=(*reader.table.columns, *hive))
    return replace(reader, table=table, blocks=blocks)


def _mixed(names: Sequence[Hashable], own: list[Hashable], block: Block, hive: Any) -> Code:
    def code(places: Sequence[int]) -> list[Coded]:
        return [
            _constant(hive[names[place]], block.rows)
            if names[place] in hive
            else block.code([own.index(names[place])])[0]
            for place in places
        ]

    return code


def _constant(value: str | None, rows: int) -> Coded:
    if value is None:
        return Coded(np.full(rows, -1, np.int32), value_array([]))
    return Coded(np.zeros(rows, np.int32), value_array([value]))


def never_whole(places: Sequence[int]) -> list[Coded]:
    """Refuse to give a column of a table that is read a block at a time."""
    raise AssertionError("a scan reads no file whole")  # pragma: no cover


def _parquet(file: File, head: bytes) -> Reader:
    with parquet_opened(file) as found:
        columns: list[str] = found.schema_arrow.names
        rows = int(found.metadata.num_rows)

    def blocks(names: Sequence[Hashable], size: int) -> Iterator[Block]:
        for name in names:
            if columns.count(str(name)) > 1:
                raise DataError(
                    f"{file.name} has several columns called {quoted(name)}; rename one"
                )
        with parquet_opened(file) as found:
            for batch in found.iter_batches(batch_size=size, columns=list(names)):
                yield Block(len(batch), _arrow_code(file, batch, names))

    table = Table(Source(file.name, Format.PARQUET, file.path), tuple(columns), never_whole)
    return Reader(table, blocks, rows, None)


def _arrow_code(file: File, batch: Any, names: Sequence[Hashable]) -> Code:
    import pyarrow as pa

    def code(places: Sequence[int]) -> list[Coded]:
        cells = (pa.chunked_array([batch.column(names[place])]) for place in places)
        return [code_arrow(as_text(column, file)) for column in cells]

    return code


def _text(file: File, head: bytes) -> Reader:
    text = text_of(file, head)
    table = text.table()

    def blocks(names: Sequence[Hashable], size: int) -> Iterator[Block]:
        places = [table.columns.index(name) for name in names]
        for coded in text.blocks(places, size):
            yield Block(len(coded[0].codes), _picked(coded))

    return Reader(replace(table, code=never_whole, index=None), blocks, None, None)


def _picked(coded: list[Coded]) -> Code:
    return lambda places: [coded[place] for place in places]


def _jsonl(file: File, head: bytes) -> Reader:
    keys: dict[Hashable, None] = {}
    for _, row in islice(_objects(file), HEAD):
        keys.update(dict.fromkeys(row))

    def blocks(names: Sequence[Hashable], size: int) -> Iterator[Block]:
        rows = _objects(file)
        while some := [[row.get(str(name)) for name in names] for _, row in islice(rows, size)]:
            yield Block(len(some), _object_code([list(cells) for cells in zip(*some, strict=True)]))

    def number(places: Sequence[int]) -> list[int]:
        wanted = set(places)
        lines = ((k, line) for k, (line, _) in enumerate(_objects(file)) if k in wanted)
        found = dict(islice(lines, len(wanted)))
        return [found[place] for place in places]

    source = Source(file.name, Format.JSONL, file.path)
    return Reader(Table(source, tuple(keys), never_whole, COUNTED, number), blocks, None, None)


def _objects(file: File) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the objects of a JSONL file with their lines, blank lines left out."""
    try:
        with file.text("utf-8-sig") as texts:
            for line, text in enumerate(texts, 1):
                if text.strip():
                    yield line, parsed(file, line, text)
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error


def _object_code(columns: list[list[Any]]) -> Code:
    return lambda places: [code_objects(columns[place]) for place in places]
