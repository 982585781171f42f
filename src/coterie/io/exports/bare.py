"""Tables without a header: rows as they are."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from itertools import islice

from coterie.errors import DataError
from coterie.io.exports.part import Part


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number.

    Examples
    --------
    >>> [is_number(cell) for cell in ("7", "0.5", "label", "")]
    [True, True, False, False]
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True


def rows_of_bare(part: Part, most: int | None = None) -> Iterator[list[str]]:
    """Give the rows of a file without a header; blank ones are left out where no blank counts."""
    encoding = "utf-16" if part.head[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
    with part.file.open() as handle, io.TextIOWrapper(handle, encoding, newline="") as text:
        sample = "\t" if b"\t" in part.head.split(b"\n", 1)[0] else ","
        try:
            for row in islice(csv.reader(text, delimiter=sample), most):
                if row:
                    yield [cell.strip() for cell in row]
        except (UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{part.name} cannot be read as a table: {error}") from error
