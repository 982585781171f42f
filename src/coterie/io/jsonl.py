"""A JSONL file, or a JSON list of objects -> Table: types as they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from coterie.data import Coded, Table
from coterie.data.provenance import Format, Source
from coterie.data.table import code_objects
from coterie.errors import DataError
from coterie.io.files import File
from coterie.io.text import not_utf8

COUNTED = "the first is row 1"
_ROOM, _THINNEST = 10_000_000, 20
"""Cells that a table may have in any case, and how many of them may stand for one in the file."""


class Column(NamedTuple):
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


def jsonl_table(file: File) -> Table:
    """See a JSONL file as a table; a key that a line lacks is a missing cell."""
    try:
        with file.text("utf-8-sig") as texts:
            numbered = ((line, text) for line, text in enumerate(texts, 1) if text.strip())
            return _table(file, ((line, parsed(file, line, text)) for line, text in numbered))
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error


def json_table(file: File) -> Table:
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
                f"entry {place} of {file.name} ({COUNTED}) is not an object; expected "
                '{"item": ..., "annotator": ..., "label": ...}'
            )
    return _table(file, enumerate(found, 1), Format.JSON)


def _table(
    file: File, records: Iterable[tuple[int, dict[str, Any]]], kind: Format = Format.JSONL
) -> Table:
    """See objects, each with the row that it stands in, as a table."""
    lines: list[int] = []
    columns: dict[str, Column] = {}
    for line, record in records:
        for key, cell in record.items():
            column = columns.get(key)
            if column is None:
                column = columns[key] = Column([], [])
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
        if len(places) * len(lines) > max(_ROOM, _THINNEST * held):
            raise DataError(
                f"{file.name} has {len(columns):,} different keys, most of them on few of its "
                f"{len(lines):,} lines; expected the same keys on every line"
            )
        return [code_objects(filled[place].spread(len(lines))) for place in places]

    return Table(
        Source(file.name, kind, file.path),
        tuple(columns),
        code,
        counted=COUNTED,
        number=lambda places: [lines[p] for p in places],
    )


def parsed(file: File, line: int, text: str) -> dict[str, Any]:
    """Give the object on a line; anything else is a DataError."""
    where = f"row {line} of {file.name} ({COUNTED})"
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
