"""A CSV or TSV file -> Table: strings exactly as written, every row as long as the header."""

from __future__ import annotations

import codecs
import csv
import io
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from coterie.data import Coded, Table
from coterie.data.encoding import value_array
from coterie.data.provenance import Format, Source
from coterie.errors import DataError
from coterie.io.files import File

_DELIMITERS = (",", ";", "\t", "|")
_CHUNK = 1_000  # rows at a time: few enough that the garbage collector does not walk them all
_COUNTED = "the header is row 1"


def text_table(file: File, head: bytes) -> Table:
    """See a delimited text file as a table; the header decides the delimiter."""
    encoding = "utf-16" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    if encoding != "utf-16" and b"\0" in head:
        raise DataError(f"{file.name} is not text; expected CSV, TSV, Parquet or JSONL")
    try:
        start = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error
    usual = "\t" if file.suffix in (".tsv", ".tab") else ","
    # Of equals max takes the first, so the usual delimiter stands first.
    ranked = [usual, *(mark for mark in _DELIMITERS if mark != usual)]
    headers = {mark: _header(start, mark) for mark in ranked}
    delimiter = max(ranked, key=lambda mark: len(headers[mark]))
    header = headers[delimiter]
    if len(header) == 1:
        raise DataError(
            f"{file.name} has a single column, {header[0]!r}; expected columns separated by "
            "a comma, a semicolon, a tab or '|'"
        )
    text = Text(file, encoding, delimiter, len(header))
    found = [] if delimiter == usual or not file.suffix else [f"separated by {delimiter!r}"]
    found += ["UTF-16"] if encoding == "utf-16" else []
    note = f" ({', '.join(found)})" if found else ""
    return Table(
        source=Source(file.name, Format.TEXT, file.path, note),
        columns=tuple(header),
        code=text.code,
        counted=_COUNTED,
        number=text.lines_of,
        index=0 if header[0] == "" else None,
    )


def _header(start: str, delimiter: str) -> list[str]:
    """Give the first row that is not blank."""
    rows = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)
    return [cell.strip() for cell in next(filter(_filled, rows))]


@dataclass(frozen=True)
class Text:
    """The rows of a delimited text file, below its header."""

    file: File
    encoding: str
    delimiter: str
    width: int

    def chunks(self, size: int) -> Iterator[tuple[int, list[list[str]]]]:
        """Give rows, ``size`` at a time, blank ones left out, and the line before each chunk."""
        with (
            self.file.open() as handle,
            io.TextIOWrapper(handle, self.encoding, newline="") as text,
        ):
            rows = csv.reader(text, delimiter=self.delimiter, strict=True)
            line = 0
            header_passed = False
            try:
                while chunk := list(islice(rows, size)):
                    filled = [row for row in chunk if row and (row[0].strip() or _filled(row))]
                    yield line, filled if header_passed else filled[1:]
                    header_passed = header_passed or bool(filled)
                    line = rows.line_num
            except UnicodeDecodeError as error:
                raise DataError(not_utf8(self.file)) from error
            except csv.Error as error:
                if size > 1:  # read again, row by row, to see where it begins
                    yield from self.chunks(1)
                raise DataError(
                    f"row {line + 1} of {self.file.name} ({_COUNTED}) is badly quoted ({error}); "
                    'double every " inside a quoted field and close each quote'
                ) from error

    def code(self, places: Sequence[int]) -> list[Coded]:
        """Code the columns at these places in one pass."""
        codes = [array("i") for _ in places]
        words: list[defaultdict[str, int]] = [defaultdict(count().__next__) for _ in places]
        for _, rows in self.chunks(_CHUNK):
            if not {*map(len, rows)} <= {self.width}:
                raise DataError(self.ragged())
            for place, code, word in zip(places, codes, words, strict=True):
                code.extend(map(word.__getitem__, [row[place] for row in rows]))
        return [
            Coded(
                np.frombuffer(code, np.int32) if code else np.empty(0, np.int32), value_array(word)
            )
            for code, word in zip(codes, words, strict=True)
        ]

    def lines_of(self, places: Sequence[int]) -> list[int]:
        """Give the line on which each row begins, as an editor counts."""
        wanted = set(places)
        filled = ((line + 1, row) for line, rows in self.chunks(1) for row in rows)
        needed = islice(filled, max(places) + 1)
        lines = {place: line for place, (line, _) in enumerate(needed) if place in wanted}
        return [lines[place] for place in places]

    def ragged(self) -> str:
        """Say which row is longer or shorter than the header."""
        line, row = next(
            (line + 1, row)
            for line, rows in self.chunks(1)
            for row in rows
            if len(row) != self.width
        )
        remedy = "fill in the missing field"
        if len(row) > self.width:
            remedy = f"put a field that contains {self.delimiter!r} in quotes"
        return (
            f"row {line} of {self.file.name} ({_COUNTED}) has {len(row)} fields, "
            f"the header has {self.width}; {remedy}"
        )


def _filled(row: list[str]) -> bool:
    return any(map(str.strip, row))


def not_utf8(file: File) -> str:
    """Say where a file stops being UTF-8, and what to do."""
    row = before = 0
    with file.open() as handle:
        for line in handle:
            row += 1
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                before += error.start
                byte = line[error.start]
                break
            before += len(line)
    return (
        f"{file.name} is not UTF-8: byte 0x{byte:02x} at position {before:,}, in row {row}; save "
        "it as UTF-8, or load it with pandas.read_csv(..., dtype=str, encoding=...) and pass the "
        "frame"
    )
