"""MACE: no header; one row per item, one column per annotator, blanks are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coterie.errors import DataError
from coterie.io.exports.bare import rows_of_bare
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.reading import Reading

_LOOKED_AT = 200
_FEWEST = 3


def recognise(part: Part) -> bool:
    """Tell it by a first row that is no header: its words come back, and it repeats or skips some.

    A header names every column, and none twice.
    """
    header = part.header
    if len(header) < _FEWEST:
        return False
    first = [cell for cell in header if cell]
    if not first or (len(set(first)) == len(header)):
        return False
    words = {cell for row in list(rows_of_bare(part, _LOOKED_AT))[1:] for cell in row if cell}
    return set(first) <= words and len(words) < len(header) + _FEWEST


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give one label per filled cell."""
    for part in parts:
        width = len(part.header)
        for item, row in enumerate(rows_of_bare(part)):
            if len(row) != width:
                raise DataError(
                    f"row {item + 1} of {part.name} (the first is row 1) has {len(row)} fields, "
                    f"the first row has {width}; there must be one per annotator"
                )
            for annotator, cell in enumerate(row):
                if cell:
                    yield Submission(item, annotator, {"label": [cell]})


FORMAT = ExportFormat("MACE", recognise, read, item="row", annotator="column")
