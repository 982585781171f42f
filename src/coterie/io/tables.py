"""A file -> Table: which format it has; Parquet."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from coterie.data import Coded, Table
from coterie.data.provenance import Format, Source
from coterie.data.table import Unusable, code_arrow, is_text
from coterie.errors import CoterieError, DataError, MissingExtraError
from coterie.files.paths import reason_of
from coterie.io.excel import excel_table
from coterie.io.files import PARQUET, TABLES, File, find
from coterie.io.jsonl import json_table, jsonl_table
from coterie.io.text import empty, text_table
from coterie.words.visible import quoted

_ZIP = b"PK\x03\x04"
_ROOM, _DENSEST = 1_000_000, 1_000
"""Rows that a Parquet file may have in any case, and for each of its bytes."""
_BLANK = b"\xef\xbb\xbf \t\r\n"  # with the mark that may stand before UTF-8


def table_of_file(path: str | PathLike[str] | File) -> Table:
    """See a file as a table; ``"-"`` is standard input."""
    file = path if isinstance(path, File) else find(path)
    head = file.head()
    table = READERS[format_of(file, head)](file, head)
    refuse_unfit_names(file, table.columns)

    def code(places: Sequence[int]) -> list[Coded]:
        coded = table.code(places)
        for place, column in zip(places, coded, strict=True):
            refuse_unfit(table, place, column)
        return coded

    return replace(table, code=code)


def refuse_unfit_names(file: File, columns: Sequence[Hashable]) -> None:
    """Refuse names of columns that no text file could hold."""
    for column in columns:
        if isinstance(column, str) and _is_unfit(column):
            raise DataError(f"the column {quoted(column)} of {file.name} {_UNFIT}")


def refuse_unfit(table: Table, place: int, column: Coded) -> None:
    """Refuse text that no text file could hold: a result could not be written."""
    values = column.values
    if values.dtype != object or (is_text(values) and all(map(str.isprintable, values.tolist()))):
        return
    for code, value in enumerate(column.values.tolist()):
        if isinstance(value, str) and not value.isprintable() and _is_unfit(value):
            row = table.row(int(np.argmax(column.codes == code)))
            raise DataError(f"{quoted(value)}, the {table.column_name(place)} in {row}, {_UNFIT}")


def _is_unfit(text: str) -> bool:
    return "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text)


_UNFIT = "holds a NUL or half a character (a lone surrogate); write it without"


READERS: dict[Format, Callable[[File, bytes], Table]] = {
    Format.PARQUET: lambda file, _: _parquet_table(file),
    Format.EXCEL: lambda file, _: excel_table(file),
    Format.JSONL: lambda file, _: jsonl_table(file),
    Format.JSON: lambda file, _: json_table(file),
    Format.TEXT: text_table,
}


def format_of(file: File, head: bytes) -> Format:
    """Tell from its first bytes and its name what a file is; what is no table is a DataError."""
    if head.startswith(PARQUET):
        return Format.PARQUET
    if file.suffix in (".parquet", ".pq"):
        raise DataError(f"{file.name} is not a Parquet file: it does not begin with PAR1")
    if not head.strip(_BLANK):
        raise DataError(empty(file.name))
    if head.startswith(_ZIP) and file.suffix in (".xlsx", ".xlsm"):
        return Format.EXCEL
    listed = head.lstrip(_BLANK)[:1] == b"["
    if head.startswith(_ZIP) or (file.suffix == ".json" and not listed):
        raise DataError(f"{file.name} is not {TABLES}; load it with pandas and pass the frame")
    if listed and file.suffix not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        return Format.JSON
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise DataError(f"{file.name} is UTF-32; save it as UTF-8")
    typed = file.suffix not in (".csv", ".tsv") and head.lstrip(_BLANK)[:1] == b"{"
    if file.suffix in (".jsonl", ".ndjson") or typed:
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{file.name} is UTF-16; save it as UTF-8")
        return Format.JSONL
    return Format.TEXT


@contextmanager
def parquet_opened(file: File) -> Iterator[Any]:
    """Open a Parquet file; a damaged one is a DataError."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise MissingExtraError("reading Parquet", "pyarrow", "parquet") from error
    try:
        with file.open() as handle:
            found = pq.ParquetFile(handle)
            size = handle.seek(0, io.SEEK_END)
            if found.metadata.num_rows > _ROOM + _DENSEST * size:
                raise ValueError(f"{found.metadata.num_rows:,} rows in {size:,} bytes")
            yield found
    except (CoterieError, Unusable):
        raise
    except Exception as error:  # pyarrow raises almost anything on damaged bytes
        raise DataError(f"{file.name} is a damaged Parquet file: {reason_of(error)}") from error


def as_text(column: Any, file: File) -> Any:
    """Give bytes as the text that they mostly are: many programs write it so."""
    import pyarrow as pa

    if not any(
        is_bytes(column.type)
        for is_bytes in (
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_fixed_size_binary,
        )
    ):
        return column
    try:
        return column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid as error:
        raise DataError(
            f"a column of {file.name} holds bytes that are no text ({column.type}); write its "
            "values as text"
        ) from error


def _parquet_table(file: File) -> Table:
    """See a Parquet file as a table; only the columns asked for are read."""
    with parquet_opened(file) as found:
        names: list[str] = found.schema_arrow.names

    def code(places: Sequence[int]) -> list[Coded]:
        with parquet_opened(file) as found:
            twice = [names[place] for place in places if names.count(names[place]) > 1]
            if twice:
                raise DataError(
                    f"{file.name} has several columns called {quoted(twice[0])}; rename one"
                )
            table = found.read(columns=[names[place] for place in places])
            return [code_arrow(as_text(table.column(names[place]), file)) for place in places]

    return Table(Source(file.name, Format.PARQUET, file.path), tuple(names), code)
