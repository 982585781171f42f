"""Active Crowd Toolkit: no header; annotator, item, label, gold, seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coterie.errors import DataError
from coterie.io.exports.bare import is_number, rows_of_bare
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import choice
from coterie.io.reading import Reading

_WIDTHS = (4, 5)


def recognise(part: Part) -> bool:
    """Tell it by four or five columns, and numbers from the third on in the first row, too."""
    header = part.header
    if len(header) not in _WIDTHS or not all(map(is_number, header[2:])):
        return False
    return all(
        len(row) == len(header) and all(map(is_number, row[2:])) for row in rows_of_bare(part, 20)
    )


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the rows; gold is a column."""
    for part in parts:
        for number, row in enumerate(rows_of_bare(part), 1):
            if len(row) not in _WIDTHS:
                raise DataError(
                    f"row {number} of {part.name} (the first is row 1) has {len(row)} fields; "
                    "expected annotator, item, label, gold and perhaps seconds"
                )
            annotator, item, label, gold = row[:4]
            seconds = row[4] if len(row) > 4 else None
            known = {"label": gold} if gold.strip() else {}
            yield Submission(
                item, annotator, {"label": choice(label)}, known=known, seconds=seconds
            )


FORMAT = ExportFormat(
    "Active Crowd Toolkit", recognise, read, item="second column", annotator="first column"
)
