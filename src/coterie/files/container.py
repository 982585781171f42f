"""One file of named arrays and a JSON header: a zip archive without compression or pickle.

The header is an array of bytes, so that ``numpy.load`` opens all of it. Nothing in such a file is
ever executed or unpacked to disk. Members are stored, not compressed, so that nothing can grow
beyond the size of the file; the zip's own checksums find damage. They end in ``.coterie``.

Only shards of a scan are other files, mapped into memory: :mod:`coterie.io.scan.shard_files`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.files.atomic import Writer
from coterie.files.paths import existing, naming
from coterie.version import __version__

HEADER = "header"
OLD_HEADER = "coterie.json"
"""What the first files called it, in which it was text, and what it says lay one level deeper."""
FACTS = ("format", "version", "coterie", "arrays")
"""What the container itself says in the header."""
KINDS = "biufMmUS"
"""Kinds of array a file may hold: booleans, numbers, dates, plain text; never objects."""

CHUNK = 1 << 24
LONGEST_HEADER = 1 << 17


class Format(NamedTuple):
    """What kind of file it is, and the newest version this coterie writes and reads."""

    name: str
    version: int


class Content(NamedTuple):
    """What a file holds: its version, what its header says, its arrays by name."""

    version: int
    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def container_writer(
    format: Format, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Writer:
    """Give what writes these arrays and what the header says of them to a path."""
    facts = (format.name, format.version, __version__, list(arrays))
    text = json.dumps({**dict(zip(FACTS, facts, strict=True)), **header}, allow_nan=False)
    return partial(_write, {HEADER: np.frombuffer(text.encode(), np.uint8), **arrays})


def _write(arrays: Mapping[str, NDArray[Any]], path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            _write_array(archive, name, array)


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    # Dated 1980, so that the same content gives the same bytes.
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as handle:
        array = np.asarray(array, order="C")
        np.lib.format.write_array(handle, array, version=(1, 0), allow_pickle=False)


def read_container(path: str | PathLike[str], format: Format) -> Content:
    """Read a file and check that it is whole; whatever is wrong with it is a DataError."""
    place = existing(path, "a file saved by coterie")
    with naming(path, "read"), place.open("rb") as handle, damage_of(path):
        if not (start := handle.read(2)):
            raise DataError(f"{path} is empty; expected a file saved by coterie")
        if start != b"PK":
            raise DataError(f"{path} is not a file saved by coterie")
        with zipfile.ZipFile(handle) as archive:
            return _read(archive, place.stat().st_size, path, format)


@contextmanager
def damage_of(path: str | PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong in reading a file into one DataError that names it."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:  # zipfile and numpy raise almost anything on damaged bytes
        reason = str(error) or type(error).__name__
        raise DataError(f"{path} is damaged or cut short ({reason}); save it again") from error


def _read(
    archive: zipfile.ZipFile, size: int, path: str | PathLike[str], format: Format
) -> Content:
    found = _header(archive, size, path)
    if not isinstance(found, dict) or found.get("format") != format.name:
        raise DataError(f"{path} holds no {format.name}")
    version = found["version"]
    if type(version) is not int or version < 1:
        raise ValueError(f"version {version!r}")
    if version != format.version:
        age, remedy = (
            ("a newer", "upgrade coterie")
            if version > format.version
            else ("an earlier", "fit again")
        )
        raise DataError(
            f"{path} was written by {age} coterie ({found['coterie']}) in version {version} of its"
            f" format, this one ({__version__}) reads version {format.version}; {remedy}"
        )
    names = found["arrays"]
    # Entries may point at the same bytes: few bytes must not become many.
    if sum(archive.getinfo(f"{name}.npy").file_size for name in names) > size:
        raise ValueError("its arrays overlap")
    said = {name: value for name, value in found.items() if name not in FACTS}
    return Content(version, said, {n: _array(archive, n, size) for n in names})


def _header(archive: zipfile.ZipFile, size: int, path: str | PathLike[str]) -> Any:
    there = archive.namelist()
    if f"{HEADER}.npy" in there:
        return json.loads(_array(archive, HEADER, size).tobytes())
    if OLD_HEADER not in there:
        raise DataError(f"{path} is a zip file, but none that coterie saved")
    found = json.loads(_bytes(archive, OLD_HEADER, size))
    return {**found.pop("header", {}), **found} if isinstance(found, dict) else found


def _array(archive: zipfile.ZipFile, name: str, size: int) -> NDArray[Any]:
    """Read an array; its header is parsed, as a literal, only after the checksum was right."""
    content = _bytes(archive, f"{name}.npy", size)
    start = io.BytesIO(content[:LONGEST_HEADER])
    if np.lib.format.read_magic(start) != (1, 0):
        raise ValueError(f"unknown layout of {name}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(start)
    if fortran or dtype.kind not in KINDS:
        raise ValueError(f"{name} has type {dtype}")
    array: NDArray[Any] = np.frombuffer(content, dtype, offset=start.tell()).reshape(shape)
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def _bytes(archive: zipfile.ZipFile, name: str, size: int) -> bytearray:
    """Read a member whole, which checks its checksum, into memory that may be written to."""
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
        raise ValueError(f"{name} is not stored as it should be")
    content = bytearray(info.file_size)
    place = 0
    with archive.open(info) as handle:
        while block := handle.read(CHUNK):
            content[place : place + len(block)] = block
            place += len(block)
    if place != len(content):
        raise EOFError(f"{name} ends early")
    return content
