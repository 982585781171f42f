"""Files that can be opened again and again, compressed or not, standard input included."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

from coterie.errors import DataError

_GZIP = b"\x1f\x8b"
_HEAD = 1 << 20  # bytes that show the format and the header


@dataclass(frozen=True)
class File:
    """A file that can be opened again and again, uncompressed."""

    name: str
    path: str  # as the user wrote it; "-" is standard input
    suffix: str  # without .gz
    raw: Callable[[], BinaryIO]
    compressed: bool

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file; a damaged or unreadable one is a DataError."""
        try:
            with self.raw() as raw:
                yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if self.compressed else raw
        except (EOFError, OSError, zlib.error) as error:
            raise DataError(f"{self.name} cannot be read: {error}") from error

    def sha256(self) -> str:
        """Give the checksum of the bytes as they lie there, compressed or not."""
        with self.raw() as raw:
            digest = hashlib.sha256()
            while block := raw.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    def head(self) -> bytes:
        """Give the first bytes."""
        with self.open() as handle:
            return handle.read(_HEAD)


def find(path: str | PathLike[str]) -> File:
    """Find a file and see whether it is compressed."""
    if path == "-":
        if sys.stdin is None:
            raise DataError("standard input is closed; pipe the labels in, or name a file")
        return _kept("standard input", "-", sys.stdin.buffer.read())
    if not str(path):
        raise DataError("the name of the file is empty; name a CSV, TSV, Parquet or JSONL file")
    place = Path(path).expanduser()
    if place.is_dir():
        raise DataError(f"{path} is a folder; name a CSV, TSV, Parquet or JSONL file")
    if not place.exists():
        raise DataError(f"there is no file {path}; check the path")
    try:
        if not place.is_file():  # a pipe can be read once
            return _kept(place.name, str(path), place.read_bytes())
        with place.open("rb") as handle:
            compressed = handle.read(2) == _GZIP
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    return File(place.name, str(path), suffix, lambda: place.open("rb"), compressed)


def _kept(name: str, path: str, content: bytes) -> File:
    return File(name, path, "", lambda: io.BytesIO(content), content[:2] == _GZIP)
