"""Files that can be opened again and again, compressed or not, standard input included."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

from coterie.errors import DataError
from coterie.files.paths import existing, naming, reason_of

TABLES = "CSV, TSV, a JSON list, JSONL, Parquet or Excel"
"""What tables of labels are written as, for sentences."""
_GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
_EMPTY_ZIP = b"PK\x05\x06"
_HEAD = 1 << 20  # bytes that show the format
_MOST = 1 << 30  # bytes that are kept of what can be read once
_BLOCK = 1 << 18  # bytes that are read at a time
_LETTERS = 40  # looked at to tell an encoding
LARGEST = 1 << 29
"""Bytes of a file that is kept in memory whole."""
LONGEST_LINE = 1 << 26
"""Bytes of a line: a million annotators fit side by side; a small .gz may hold far more."""
MOST_BLANK = 1 << 22
"""Blank lines in a row: a sheet has a quarter of them at most; a small .gz may hold far more."""
_BLANK = b" \t\r\n,;|"  # all that blank lines hold, also those of a sheet

MARKS = (
    codecs.BOM_UTF8,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
    codecs.BOM_UTF32_BE,
)
"""What texts in some encodings begin with; that of UTF-32 LE begins as that of UTF-16 LE."""


def no_text(name: str, head: bytes) -> DataError:
    """Say that a file with NUL bytes is no text, and what it may be."""
    if head.startswith(_EMPTY_ZIP):
        return DataError(f"{name} is a zip with nothing in it; expected an export or a table")
    for encoding, width in (("UTF-32", 4), ("UTF-16", 2)):
        # Of plain letters all bytes but one of each are NUL.
        for own in (0, width - 1):
            others = [head[k::width][:_LETTERS] for k in range(width) if k != own]
            letters = head[own::width][:_LETTERS]
            if letters and b"\0" not in letters and not b"".join(others).strip(b"\0"):
                return DataError(f"{name} is {encoding}; save it as UTF-8")
    return DataError(f"{name} is not text, it holds NUL bytes; expected {TABLES}")


@dataclass(frozen=True)
class File:
    """A file that can be opened again and again, uncompressed."""

    name: str
    path: str  # as the user wrote it; "-" is standard input
    suffix: str  # without .gz
    raw: Callable[[], BinaryIO]
    compressed: bool
    is_same: Callable[[], bool] = lambda: True  # as when it was found
    _checksum: list[str] = field(default_factory=list, compare=False)  # once it is known

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file; a damaged or unreadable one is a DataError."""
        try:
            with self.raw() as raw:
                summed = raw if self._checksum else _summed(raw, self._checksum)
                yield cast(BinaryIO, gzip.GzipFile(fileobj=summed)) if self.compressed else summed
            if not self.is_same():
                raise self.changed()
        except (EOFError, OSError, zlib.error) as error:
            raise DataError(f"{self.name} cannot be read: {reason_of(error)}") from error

    @contextmanager
    def text(self, encoding: str) -> Iterator[io.TextIOWrapper]:
        """Open the file as text, line ends as they are; what is no text is a DataError."""
        with self.lines(encoding) as lines, io.TextIOWrapper(lines, encoding, newline="") as text:
            yield text

    @contextmanager
    def lines(self, encoding: str = "utf-8") -> Iterator[BinaryIO]:
        """Open the file as bytes of lines; a NUL, or a line without end, is a DataError."""
        with (
            self.open() as handle,
            io.BufferedReader(_Lines(handle, self.name, encoding), _BLOCK) as lines,
        ):
            yield lines

    def whole(self) -> bytes:
        """Give all bytes, uncompressed; a small .gz may hold too many."""
        with self.open() as handle:
            content = handle.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise DataError(f"{self.name} holds more than {LARGEST:,} bytes; split it")
        return content

    def changed(self) -> DataError:
        """Say that the file is not what it was a moment ago."""
        return DataError(f"{self.name} changed while it was read; read it when it is whole")

    def sha256(self) -> str:
        """Give the checksum of the bytes as they lie there, compressed or not.

        Whoever has read the file from beginning to end has computed it on the way.
        """
        if not self._checksum:
            with self.raw() as raw, _summed(raw, self._checksum) as summed:
                while summed.read(_HEAD):
                    pass
        return self._checksum[0]

    def head(self) -> bytes:
        """Give the first bytes."""
        with self.open() as handle:
            return handle.read(_HEAD)


class _Lines(io.RawIOBase):
    """Bytes of lines: without a NUL, and no line without an end."""

    def __init__(self, raw: BinaryIO, name: str, encoding: str) -> None:
        self._raw, self._name = raw, name
        self._has_nul = encoding == "utf-16"
        self._since = 0  # bytes since the last line's end
        self._blank = 0  # lines of blocks in a row that hold nothing

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._raw.read(len(buffer))
        buffer[: len(block)] = block
        if not self._has_nul and b"\0" in block:
            raise no_text(self._name, block)
        end = max(block.rfind(b"\n"), block.rfind(b"\r"))
        self._since = self._since + len(block) if end < 0 else len(block) - end
        if self._since > LONGEST_LINE:
            raise DataError(
                f"{self._name} has a line of more than {LONGEST_LINE:,} bytes; expected {TABLES}"
            )
        is_blank = block and not block.lstrip(_BLANK)
        self._blank = self._blank + max(map(block.count, (b"\n", b"\r"))) if is_blank else 0
        if self._blank > MOST_BLANK:
            raise DataError(
                f"{self._name} has more than {MOST_BLANK:,} blank lines in a row; remove them"
            )
        return len(block)


class _Summing(io.RawIOBase):
    """Bytes that are summed up while they are read in order; others are only passed on."""

    def __init__(self, raw: BinaryIO, checksum: list[str]) -> None:
        self._raw, self._checksum = raw, checksum
        self._digest, self._summed = hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._raw.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def readinto(self, buffer: Any) -> int:
        place = self._raw.tell()
        block = self._raw.read(len(buffer))
        buffer[: len(block)] = block
        if place == self._summed:
            self._digest.update(block)
            self._summed += len(block)
            if not block and not self._checksum:
                self._checksum.append(self._digest.hexdigest())
        return len(block)


def _summed(raw: BinaryIO, checksum: list[str]) -> BinaryIO:
    """Give the same bytes; at the end of them, if all are read in order, note their checksum."""
    return io.BufferedReader(_Summing(raw, checksum), _BLOCK)


def find(path: str | PathLike[str]) -> File:
    """Find a file and see whether it is compressed."""
    if path == "-":
        if sys.stdin is None:
            raise DataError("standard input is closed; pipe the labels in, or name a file")
        return _kept("standard input", "-", sys.stdin.buffer)
    place = existing(path, f"a file of labels: {TABLES}").absolute()  # whoever opens it
    with naming(path, "read"), place.open("rb") as handle:
        if not place.is_file():  # a pipe can be read once
            return _kept(place.name, str(path), handle)
        compressed = handle.read(2) == _GZIP
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    before = _state(place)
    return File(
        place.name,
        str(path),
        suffix,
        raw=lambda: place.open("rb"),
        compressed=compressed,
        is_same=lambda: _state(place) == before,
    )


def _state(place: Path) -> tuple[int, ...]:
    """Give what changes when a file does."""
    now = place.stat()
    return now.st_ino, now.st_size, now.st_mtime_ns


def _kept(name: str, path: str, stream: BinaryIO) -> File:
    """Keep what can be read once; what has no end is noticed."""
    content = bytearray()
    while block := stream.read(_HEAD):
        content += block
        if b"\0" in block and not content.startswith((_GZIP, PARQUET, *MARKS)):
            raise no_text(name, bytes(content[:_HEAD]))
        if len(content) > _MOST:
            raise DataError(
                f"more than {_MOST:,} bytes came through {name}; write them to a file and name that"
            )
    kept = bytes(content)
    return File(name, path, "", lambda: io.BytesIO(kept), kept[:2] == _GZIP)
