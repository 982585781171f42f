"""An Excel sheet -> Table: the first sheet that holds something, types as they are."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from coterie.data import Table
from coterie.data.provenance import Format, Source
from coterie.data.table import columns_table
from coterie.errors import CoterieError, DataError, DataWarning, MissingExtraError
from coterie.files.paths import reason_of
from coterie.io.files import File
from coterie.words.values import written
from coterie.words.visible import quoted

MOST_ROWS = 1_048_576
"""Of a sheet, as Excel has it."""
MOST_BYTES = 1 << 30
"""Of a file when it is unpacked."""


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


def _check_size(handle: BinaryIO, name: str) -> None:
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
