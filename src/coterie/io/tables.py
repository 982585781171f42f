"""A file -> Table: which format it has, and who reads it; tables put together, columns of items.

Formats that a scan reads give blocks of rows; a table in memory is one block.
"""

from __future__ import annotations

import codecs
import io
import json
import sys
import warnings
import zipfile
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie.data import Coded, Table
from coterie.data.columns import guess, place_of
from coterie.data.provenance import Format, Source
from coterie.data.table import Unusable, code_arrow, code_objects, columns_table, is_text
from coterie.errors import Argument, CoterieError, DataError, DataWarning, MissingExtraError
from coterie.files.paths import reason_of
from coterie.io.files import PARQUET, TABLES, File, find
from coterie.io.text import empty, not_utf8, text_of
from coterie.words.values import written
from coterie.words.visible import quoted

if TYPE_CHECKING:
    import pandas as pd

_ZIP = b"PK\x03\x04"
_ROOM, _DENSEST = 1_000_000, 1_000
"""Rows that a Parquet file may have in any case, and for each of its bytes."""
_CELLS, _THINNEST = 10_000_000, 20
"""Cells that objects may have in any case, and how many of them may stand for one in the file."""
_BLANK = b"\xef\xbb\xbf \t\r\n"  # with the mark that may stand before UTF-8
_UNFIT = "holds a NUL or half a character (a lone surrogate); write it without"
_COUNTED = "the first is row 1"
HEAD = 100
"""Rows of a JSONL file that show its keys to a scan; others are found where they are asked for."""
MOST_ROWS = 1_048_576
"""Of a sheet, as Excel has it."""
MOST_BYTES = 1 << 30
"""Of an Excel file when it is unpacked."""

Blocks = Callable[[Sequence[Hashable], int], Iterator[list[Coded]]]


def never_whole(places: Sequence[int]) -> list[Coded]:
    """Refuse to give a column of a table that is read a block at a time."""
    raise AssertionError("a scan reads no file whole")  # pragma: no cover


class Reader(NamedTuple):
    """A file that is read a block at a time: columns of some names, about so many rows."""

    table: Table
    blocks: Blocks
    rows: int | None = None  # where the file says


def table_of_file(path: str | PathLike[str] | File) -> Table:
    """See a file as a table; ``"-"`` is standard input."""
    file = path if isinstance(path, File) else find(path)
    head = file.head()
    format = format_of(file, head)
    table = text_of(file, head).table() if format is Format.TEXT else _WHOLE[format](file)
    _refuse_unfit_names(table)
    return fit(table)


def reader_of(file: File) -> Reader:
    """Find out how to read a file a block at a time, and which columns it has."""
    head = file.head()
    format = format_of(file, head)
    if format in (Format.EXCEL, Format.JSON):
        what = "a spreadsheet" if format is Format.EXCEL else "one JSON list"
        raise DataError(
            f"{file.name} is {what}, which cannot be scanned; coterie.read reads it, or write CSV,"
            " JSONL or Parquet"
        )
    in_blocks = {Format.PARQUET: _parquet, Format.JSONL: _jsonl}
    reader = _text(file, head) if format is Format.TEXT else in_blocks[format](file)
    _refuse_unfit_names(reader.table)
    return reader


def fit(table: Table) -> Table:
    """Give the same table, which refuses text that no text file could hold, with its row."""

    def code(places: Sequence[int]) -> list[Coded]:
        coded = table.code(places)
        for place, column in zip(places, coded, strict=True):
            _refuse_unfit(table, place, column)
        return coded

    return replace(table, code=code)


def _refuse_unfit_names(table: Table) -> None:
    for column in table.columns:
        if isinstance(column, str) and _is_unfit(column):
            raise DataError(f"the column {quoted(column)} of {table.name} {_UNFIT}")


def _refuse_unfit(table: Table, place: int, column: Coded) -> None:
    values = column.values
    if values.dtype != object or (is_text(values) and all(map(str.isprintable, values.tolist()))):
        return
    for code, value in enumerate(values.tolist()):
        if isinstance(value, str) and not value.isprintable() and _is_unfit(value):
            row = table.row(int(np.argmax(column.codes == code)))
            raise DataError(f"{quoted(value)}, the {table.column_name(place)} in {row}, {_UNFIT}")


def _is_unfit(text: str) -> bool:
    return "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text)


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


def _as_text(column: Any, file: File) -> Any:
    """Give bytes as the text that they mostly are: many programs write it so."""
    import pyarrow as pa

    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    if not any(is_bytes(column.type) for is_bytes in kinds):
        return column
    try:
        return column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid as error:
        raise DataError(
            f"a column of {file.name} holds bytes that are no text ({column.type}); write its "
            "values as text"
        ) from error


def _parquet(file: File) -> Reader:
    with parquet_opened(file) as found:
        names: list[str] = found.schema_arrow.names
        rows = int(found.metadata.num_rows)

    def blocks(own: Sequence[Hashable], size: int) -> Iterator[list[Coded]]:
        import pyarrow as pa

        twice = [name for name in own if names.count(str(name)) > 1]
        if twice:
            raise DataError(
                f"{file.name} has several columns called {quoted(twice[0])}; rename one"
            )
        with parquet_opened(file) as found:
            if size == sys.maxsize:
                parts: Iterable[Any] = [found.read(columns=list(own))]
            else:
                batches = found.iter_batches(batch_size=size, columns=list(own))
                parts = (pa.Table.from_batches([batch]) for batch in batches)
            for part in parts:
                yield [code_arrow(_as_text(part.column(name), file)) for name in own]

    source = Source(file.name, Format.PARQUET, file.path)

    def whole(places: Sequence[int]) -> list[Coded]:
        return next(blocks([names[place] for place in places], sys.maxsize))

    return Reader(Table(source, tuple(names), whole), blocks, rows)


def _text(file: File, head: bytes) -> Reader:
    text = text_of(file, head)

    def blocks(names: Sequence[Hashable], size: int) -> Iterator[list[Coded]]:
        return text.blocks([text.header.index(str(name)) for name in names], size)

    return Reader(replace(text.table(), index=None), blocks)


def _jsonl(file: File) -> Reader:
    keys = tuple({key: None for _, row in islice(_objects(file), HEAD) for key in row})

    def blocks(names: Sequence[Hashable], size: int) -> Iterator[list[Coded]]:
        rows = _objects(file)
        while some := [[row.get(str(name)) for name in names] for _, row in islice(rows, size)]:
            yield [code_objects(list(cells)) for cells in zip(*some, strict=True)]

    def number(places: Sequence[int]) -> list[int]:
        wanted = set(places)
        lines = ((k, line) for k, (line, _) in enumerate(_objects(file)) if k in wanted)
        found = dict(islice(lines, len(wanted)))
        return [found[place] for place in places]

    source = Source(file.name, Format.JSONL, file.path)
    return Reader(Table(source, keys, never_whole, _COUNTED, number), blocks)


def _objects(file: File) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the objects of a JSONL file with their lines, blank lines left out."""
    try:
        with file.text("utf-8-sig") as texts:
            for line, text in enumerate(texts, 1):
                if text.strip():
                    yield line, _parsed(file, line, text)
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error


def _parsed(file: File, line: int, text: str) -> dict[str, Any]:
    """Give the object on a line; anything else is a DataError."""
    where = f"row {line} of {file.name} ({_COUNTED})"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where} is not JSON: {error}; expected one object per line") from error
    except RecursionError:
        raise DataError(f"{where} holds lists in lists without end; expected an object") from None
    except ValueError:  # Python refuses to make a number of so many digits
        raise DataError(
            f"{where} holds a number of thousands of digits; write it as text"
        ) from None
    if not isinstance(value, dict):
        raise DataError(f'{where} is not an object; expected {{"item": ..., "label": ...}}')
    return value


class _Column(NamedTuple):
    """The cells of a key, and the rows that have it: not all rows need to.

    Lists of cells, not of objects: a million dictionaries keep the garbage collector busy.
    """

    rows: list[int]
    cells: list[Any]

    def spread(self, n_rows: int) -> list[Any]:
        """Give one cell per row, None where the key is missing."""
        if len(self.rows) == n_rows:
            return self.cells
        cells: list[Any] = [None] * n_rows
        for row, cell in zip(self.rows, self.cells, strict=True):
            cells[row] = cell
        return cells


def _jsonl_table(file: File) -> Table:
    """See a JSONL file as a table; a key that a line lacks is a missing cell."""
    return _table(file, _objects(file), Format.JSONL)


def _json_table(file: File) -> Table:
    """See a JSON list of objects as a table; a key that an object lacks is a missing cell."""
    try:
        found = json.loads(file.whole().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file.name} is not JSON: {error}; finish the download") from error
    if not found:
        raise DataError(f"{file.name} is an empty list; expected one object per label")
    for place, entry in enumerate(found, 1):
        if not isinstance(entry, dict):
            raise DataError(
                f"entry {place} of {file.name} ({_COUNTED}) is not an object; expected "
                '{"item": ..., "annotator": ..., "label": ...}'
            )
    return _table(file, enumerate(found, 1), Format.JSON)


def _table(file: File, records: Iterable[tuple[int, dict[str, Any]]], kind: Format) -> Table:
    """See objects, each with the row that it stands in, as a table."""
    lines: list[int] = []
    columns: dict[str, _Column] = {}
    for line, record in records:
        for key, cell in record.items():
            column = columns.get(key)
            if column is None:
                column = columns[key] = _Column([], [])
            column.rows.append(len(lines))
            column.cells.append(cell)
        lines.append(line)
    if lines and not columns:
        raise DataError(
            f'no row of {file.name} has a key; expected {{"item": ..., "annotator": ..., '
            '"label": ...} on every line'
        )
    filled = list(columns.values())
    held = sum(len(column.rows) for column in filled)

    def code(places: Sequence[int]) -> list[Coded]:
        if len(places) * len(lines) > max(_CELLS, _THINNEST * held):
            raise DataError(
                f"{file.name} has {len(columns):,} different keys, most of them on few of its "
                f"{len(lines):,} lines; expected the same keys on every line"
            )
        return [code_objects(filled[place].spread(len(lines))) for place in places]

    return Table(
        Source(file.name, kind, file.path),
        tuple(columns),
        code,
        counted=_COUNTED,
        number=lambda places: [lines[p] for p in places],
    )


def excel_table(file: File) -> Table:
    """See an ``.xlsx`` file as a table; its first row that is not blank is the header."""
    try:
        import openpyxl
    except ModuleNotFoundError as error:
        raise MissingExtraError("reading an Excel sheet", "openpyxl", "excel") from error
    try:
        with file.open() as handle:
            _check_size(handle, file.name)
            book = openpyxl.load_workbook(handle, read_only=True, data_only=True)
            title, rows = _first_filled(book, file.name)
    except CoterieError:
        raise
    except Exception as error:  # openpyxl raises almost anything on damaged bytes
        raise DataError(f"{file.name} is a damaged Excel file: {reason_of(error)}") from error
    if not rows:
        raise DataError(f"{file.name} is empty; expected a header, then one row per label")
    header, *body = rows
    width = max(place for place, cell in enumerate(header, 1) if cell is not None)
    columns: dict[Hashable, list[Any]] = {}
    for place in range(width):
        name = str("" if header[place] is None else header[place]).strip()
        if name in columns:
            raise DataError(f"{file.name} has 2 columns called {quoted(name)}", remedy="rename one")
        columns[name] = [row[place] if place < len(row) else None for row in body]
    source = Source(file.name, Format.EXCEL, file.path, f" (sheet {quoted(title)})")
    return columns_table(source, columns, counted="the row below the header is row 0")


def _check_size(handle: Any, name: str) -> None:
    """Refuse a small file that would become a large one."""
    with zipfile.ZipFile(handle) as archive:
        size = sum(member.file_size for member in archive.infolist())
    handle.seek(0)
    if size > MOST_BYTES:
        raise DataError(f"{name} is an Excel file of {size / 1e9:,.1f} GB unpacked; save it as CSV")


def _first_filled(book: Any, name: str) -> tuple[str, list[tuple[Any, ...]]]:
    sheets = iter(book.worksheets)
    for sheet in sheets:
        rows = list(_filled(sheet, name))
        if rows:
            _warn_of_others(name, sheet.title, sheets)
            return sheet.title, rows
    return "", []


def _warn_of_others(name: str, title: str, sheets: Iterable[Any]) -> None:
    """Say which sheets are not read."""
    others = [sheet.title for sheet in sheets if next(_filled(sheet, name), None) is not None]
    if others:
        told = f"of {name}, sheet {quoted(title)} is read, and not {written(others)}"
        warnings.warn(DataWarning(f"{told}; save another sheet as a file of its own"), stacklevel=2)


def _filled(sheet: Any, name: str) -> Iterator[tuple[Any, ...]]:
    """Give the rows of a sheet that hold something; a sheet that does not end is none."""
    rows = sheet.iter_rows(values_only=True)
    yield from (row for row in islice(rows, MOST_ROWS) if any(x is not None for x in row))
    if next(rows, None) is not None:
        raise DataError(f"{name} has a sheet of more than {MOST_ROWS:,} rows, which Excel has not")


_WHOLE: dict[Format, Callable[[File], Table]] = {
    Format.PARQUET: lambda file: _parquet(file).table,
    Format.EXCEL: excel_table,
    Format.JSONL: _jsonl_table,
    Format.JSON: _json_table,
}


def stacked(tables: Sequence[Table], name: str) -> Table:
    """Put tables below each other, in the order in which they were named.

    Examples
    --------
    >>> from coterie.data import table_from
    >>> parts = [table_from([("q1", "ann", "yes")]), table_from([("q1", "bob", "no")])]
    >>> stacked(parts, "both").read([1])[0].values.tolist()
    ['ann', 'bob']
    """
    first = tables[0]
    for table in tables[1:]:
        if sorted(map(str, table.columns)) != sorted(map(str, first.columns)):
            raise DataError(
                f"{first.name} has the columns {written(first.columns)}, {table.name} "
                f"{written(table.columns)}; files that are one data set have the same",
                remedy=["name the files of labels, and one of known labels by ", Argument("gold")],
            )
    columns: dict[Hashable, list[Any]] = {name: [] for name in first.columns}
    for table in tables:
        places = [table.columns.index(name) for name in first.columns]
        for cells, coded in zip(columns.values(), table.read(places), strict=True):
            values = coded.values.tolist()
            cells += [None if code < 0 else values[code] for code in coded.codes.tolist()]
    source = replace(first.source, name=name)
    return columns_table(source, columns, counted="of all files in their order; the first is row 0")


def read_beside(
    file: File, columns: Mapping[str, str], item: Hashable | None = None
) -> dict[str, pd.Series]:
    """Read columns of a table by item: Series, item -> the first value that is not blank.

    Columns go by the argument that asks for them; that of the items is by default told by its name.
    """
    table = table_of_file(file)
    places = [_item_place(table, item), *(place_of(table, columns[key], key) for key in columns)]
    items, *cells = table.read(places)
    return {key: _first(items, cell) for key, cell in zip(columns, cells, strict=True)}


def _item_place(table: Table, item: Hashable | None) -> int:
    if item is not None and item in table.columns:
        return place_of(table, item, "item")
    found = guess(table, "item")
    if found is None:
        raise DataError(
            f"no column of {table.name} is known to hold the items; call it 'item', or as in the "
            "labels"
        )
    return found


def _first(items: Coded, cells: Coded) -> pd.Series:
    """Give the first value of each item that has any."""
    import pandas as pd

    keys: Sequence[Hashable] = items.values.tolist()
    (there,) = np.nonzero((items.codes >= 0) & (cells.codes >= 0))
    codes, first = np.unique(items.codes[there], return_index=True)
    values = [cells.values[code] for code in cells.codes[there[first]]]
    index = pd.Index([keys[code] for code in codes], dtype=object, tupleize_cols=False)
    return pd.Series(values, index=index, dtype=object)
