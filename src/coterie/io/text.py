"""A CSV or TSV file -> Table: strings exactly as written, every row as long as the header."""

from __future__ import annotations

import codecs
import csv
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from coterie.data import Coded, Table
from coterie.data.provenance import Format, Source
from coterie.data.table import value_array
from coterie.errors import DataError
from coterie.io.files import LONGEST_LINE, File
from coterie.words.visible import quoted

_DELIMITERS = (",", ";", "\t", "|")
_CHUNK = 1_000  # rows at a time: few enough that the garbage collector does not walk them all
_COUNTED = "the header is row 1"
_LONGEST_CELL = 1 << 24
csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))  # for all of Python, alas


def text_of(file: File, head: bytes) -> Text:
    """Find out how a text file is written: its encoding, its delimiter, its header."""
    encoding = "utf-16" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    usual = "\t" if file.suffix in (".tsv", ".tab") else ","
    # Of equals max takes the first, so the usual delimiter stands first.
    ranked = [usual, *(mark for mark in _DELIMITERS if mark != usual)]
    try:
        headers = {mark: _header(file, encoding, mark) for mark in ranked}
    except UnicodeDecodeError as error:
        raise DataError(not_utf8(file)) from error
    delimiter = max(ranked, key=lambda mark: len(headers[mark]))
    header = headers[delimiter]
    if len(header) == 1:
        raise DataError(
            f"{file.name} has a single column, {quoted(header[0])}; expected columns separated by "
            "a comma, a semicolon, a tab or '|'"
        )
    found = [] if delimiter == usual or not file.suffix else [f"separated by {quoted(delimiter)}"]
    found += ["UTF-16"] if encoding == "utf-16" else []
    note = f" ({', '.join(found)})" if found else ""
    return Text(file, encoding, delimiter, tuple(header), note)


def _header(file: File, encoding: str, delimiter: str) -> list[str]:
    """Give the first row that is not blank."""
    with file.text(encoding) as text:
        rows = csv.reader(text, delimiter=delimiter)
        try:
            header = next(filter(_filled, rows), None)
        except csv.Error as error:
            raise DataError(
                f"the header of {file.name} cannot be read ({error}); expected the names of the "
                "columns, on one line"
            ) from error
    if header is None:
        raise DataError(empty(file.name))
    return [cell.strip() for cell in header]


def empty(name: str) -> str:
    """Say that a file holds nothing."""
    return (
        f"{name} is empty; expected a header with columns for item, annotator and label, "
        "then one row per label"
    )


@dataclass(frozen=True)
class Text:
    """The rows of a delimited text file, below its header."""

    file: File
    encoding: str
    delimiter: str
    header: tuple[str, ...]
    note: str

    def table(self) -> Table:
        """See all rows as a table."""
        return Table(
            source=Source(self.file.name, Format.TEXT, self.file.path, self.note),
            columns=self.header,
            code=self.code,
            counted=_COUNTED,
            number=self.lines_of,
            index=0 if self.header[0] == "" else None,
        )

    def chunks(self, size: int) -> Iterator[tuple[int, list[list[str]]]]:
        """Give rows, ``size`` at a time, blank ones left out, and the line before each chunk."""
        with self.file.text(self.encoding) as text:
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
                raise DataError(self.misread(line + 1, error)) from error

    def misread(self, line: int, error: csv.Error) -> str:
        """Say what is wrong with the row that begins on a line."""
        where = f"row {line} of {self.file.name} ({_COUNTED})"
        if "field limit" in str(error):
            return (
                f"{where} has a cell of more than {_LONGEST_CELL:,} characters; shorten it, or "
                "look for a quote that is never closed"
            )
        return (
            f"{where} is badly quoted ({error}); "
            'double every " inside a quoted field and close each quote'
        )

    def code(self, places: Sequence[int]) -> list[Coded]:
        """Code the columns at these places in one pass."""
        return next(self.blocks(places, sys.maxsize))

    def blocks(self, places: Sequence[int], size: int) -> Iterator[list[Coded]]:
        """Code the columns at these places, about so many rows at a time; one block at least."""
        words: list[defaultdict[str, int]] = []
        codes: list[array[int]] = []

        def coded() -> list[Coded]:
            return [
                Coded(np.array(code, np.int32), value_array(word))
                for code, word in zip(codes, words, strict=True)
            ]

        full = True
        for _, rows in self.chunks(_CHUNK):
            if full:
                if codes:
                    yield coded()
                codes = [array("i") for _ in places]
                words = [defaultdict(count().__next__) for _ in places]
            if not {*map(len, rows)} <= {len(self.header)}:
                raise DataError(self.ragged())
            for place, code, word in zip(places, codes, words, strict=True):
                code.extend(map(word.__getitem__, [row[place] for row in rows]))
            full = len(codes[0]) >= size
        yield coded()

    def lines_of(self, places: Sequence[int]) -> list[int]:
        """Give the line on which each row begins, as an editor counts."""
        wanted = set(places)
        filled = ((line + 1, row) for line, rows in self.chunks(1) for row in rows)
        needed = islice(filled, max(places) + 1)
        lines = {place: line for place, (line, _) in enumerate(needed) if place in wanted}
        if lines.keys() != wanted:
            raise self.file.changed()
        return [lines[place] for place in places]

    def ragged(self) -> str:
        """Say which row is longer or shorter than the header."""
        rows = ((line + 1, row) for line, rows in self.chunks(1) for row in rows)
        line, row = next(((k, row) for k, row in rows if len(row) != len(self.header)), (0, []))
        if not line:
            raise self.file.changed()
        remedy = "fill in the missing field"
        if len(row) > len(self.header):
            remedy = f"put a field that contains {quoted(self.delimiter)} in quotes"
        return (
            f"row {line} of {self.file.name} ({_COUNTED}) has {len(row)} fields, "
            f"the header has {len(self.header)}; {remedy}"
        )


def _filled(row: list[str]) -> bool:
    return any(map(str.strip, row))


def not_utf8(file: File) -> str:
    """Say where a file stops being UTF-8, and what to do."""
    if file.head().startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{file.name} is UTF-16, damaged or cut short; save it as UTF-8"
    row, before, byte = 1, 0, 0
    with file.open() as handle:
        while line := handle.readline(LONGEST_LINE):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                before += error.start
                byte = line[error.start]
                break
            before += len(line)
            row += 1
    return (
        f"{file.name} is not UTF-8: byte 0x{byte:02x} at position {before:,}, in row {row}; save "
        "it as UTF-8, or load it with pandas.read_csv(..., dtype=str, encoding=...) and pass the "
        "frame"
    )
