"""A JSONL file -> Table: one JSON object per line, types as they are."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable
from typing import Any

from coterie.data import Table
from coterie.data.provenance import Format, Source
from coterie.data.table import columns_table
from coterie.errors import DataError
from coterie.io.files import File
from coterie.io.text import not_utf8

_COUNTED = "the first is row 1"


def jsonl_table(file: File) -> Table:
    """See a JSONL file as a table; a key that a line lacks is a missing cell."""
    lines: list[int] = []
    # Lists of cells, not of objects: a million dictionaries keep the garbage collector busy.
    columns: dict[Hashable, list[Any]] = {}
    try:
        with file.open() as handle, io.TextIOWrapper(handle, "utf-8-sig") as texts:
            for line, text in enumerate(texts, 1):
                if text.strip():
                    for key, cell in _parsed(file, line, text).items():
                        column = columns.setdefault(key, [])
                        column += [None] * (len(lines) - len(column))
                        column.append(cell)
                    lines.append(line)
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error
    for column in columns.values():
        column += [None] * (len(lines) - len(column))
    return columns_table(
        Source(file.name, Format.JSONL, file.path),
        columns,
        counted=_COUNTED,
        number=lambda places: [lines[p] for p in places],
    )


def _parsed(file: File, line: int, text: str) -> dict[str, Any]:
    where = f"row {line} of {file.name} ({_COUNTED})"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where} is not JSON: {error}; expected one object per line") from error
    if not isinstance(value, dict):
        raise DataError(f'{where} is not an object; expected {{"item": ..., "label": ...}}')
    return value
