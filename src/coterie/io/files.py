"""A file -> Table: which format it has, and how its bytes are opened."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

from coterie.errors import DataError, MissingExtraError
from coterie.frames import Coded, Table
from coterie.frames.values import code_arrow

_GZIP, _PARQUET, _ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
_HEAD = 1 << 20  # bytes that show the format and the header


@dataclass(frozen=True)
class File:
    """A file that can be opened again and again, uncompressed."""

    name: str
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


def table_of_file(path: str | PathLike[str] | File) -> Table:
    """See a CSV, TSV, Parquet or JSONL file as a table; ``"-"`` is standard input."""
    from coterie.io.jsonl import jsonl_table
    from coterie.io.text import text_table

    file = path if isinstance(path, File) else find(path)
    head = file.head()
    if head.startswith(_PARQUET):
        return _parquet_table(file)
    if file.suffix in (".parquet", ".pq"):
        raise DataError(f"{file.name} is not a Parquet file, it does not begin with PAR1")
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise DataError(
            f"{file.name} is empty; expected a header with columns for item, annotator and label, "
            "then one row a label"
        )
    if head.startswith(_ZIP) or file.suffix == ".json":
        raise DataError(
            f"{file.name} is not CSV, TSV, Parquet or JSONL; load it with pandas and pass the frame"
        )
    typed = file.suffix not in (".csv", ".tsv") and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"
    if file.suffix in (".jsonl", ".ndjson") or typed:
        return jsonl_table(file)
    return text_table(file, head)


def find(path: str | PathLike[str]) -> File:
    """Find a file and see whether it is compressed."""
    if path == "-":
        content = sys.stdin.buffer.read()
        return File("standard input", "", lambda: io.BytesIO(content), content[:2] == _GZIP)
    place = Path(path).expanduser()
    if place.is_dir():
        raise DataError(f"{path} is a folder; expected a CSV, TSV, Parquet or JSONL file in it")
    if not place.exists():
        raise DataError(f"there is no file {path}; check the path")
    try:
        with place.open("rb") as handle:
            compressed = handle.read(2) == _GZIP
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return File(place.name, suffixes[-1] if suffixes else "", lambda: place.open("rb"), compressed)


def _parquet_table(file: File) -> Table:
    """See a Parquet file as a table; only the columns asked for are read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise MissingExtraError("reading Parquet", "pyarrow", "parquet") from error

    def opened(handle: BinaryIO) -> Any:
        try:
            return pq.ParquetFile(handle)
        except pa.ArrowInvalid as error:
            raise DataError(f"{file.name} is a damaged Parquet file: {error}") from error

    with file.open() as handle:
        names: list[str] = opened(handle).schema_arrow.names

    def code(places: Sequence[int]) -> list[Coded]:
        with file.open() as handle:
            table = opened(handle).read(columns=[names[place] for place in places])
        return [code_arrow(table.column(names[place])) for place in places]

    return Table(file.name, tuple(names), code)
