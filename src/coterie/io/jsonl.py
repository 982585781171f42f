"""A JSONL file -> Table: one JSON object a line, types as they are."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.frames import Coded, Table
from coterie.frames.values import code_objects
from coterie.io.files import File
from coterie.io.text import not_utf8

_COUNTED = "the first is row 1"


def jsonl_table(file: File) -> Table:
    """See a JSONL file as a table; a key that a line lacks is a missing cell."""
    lines: list[int] = []
    objects: list[dict[str, Any]] = []
    try:
        with file.open() as handle, io.TextIOWrapper(handle, "utf-8-sig") as texts:
            for line, text in enumerate(texts, 1):
                if text.strip():
                    objects.append(_parsed(file, line, text))
                    lines.append(line)
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error
    keys: tuple[Hashable, ...] = tuple(dict.fromkeys(key for cells in objects for key in cells))

    def code(places: Sequence[int]) -> list[Coded]:
        names = [str(keys[place]) for place in places]
        return [code_objects([cells.get(name) for cells in objects]) for name in names]

    return Table(file.name, keys, code, _COUNTED, lambda places: [lines[place] for place in places])


def _parsed(file: File, line: int, text: str) -> dict[str, Any]:
    where = f"row {line} of {file.name} ({_COUNTED})"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where} is not JSON: {error}; expected one object a line") from error
    if not isinstance(value, dict):
        raise DataError(f'{where} is not an object; expected {{"item": ..., "label": ...}}')
    return value
