"""One file of named arrays and a JSON header: a zip archive without compression or pickle.

The header is an array of bytes, so that ``numpy.load`` opens all of it. Nothing in such a file is
ever executed or unpacked to disk. Members are stored, not compressed, so that nothing can grow
beyond the size of the file; the zip's own checksums find damage. They end in ``.coterie``.

Only shards of a scan are other files, mapped into memory: :mod:`coterie.io.scan.shards`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.files.atomic import Writer
from coterie.files.paths import existing, naming
from coterie.files.values import Unkept, from_json, to_json
from coterie.version import __version__

Arrays = dict[str, NDArray[Any]]

HEADER = "header"
KINDS = "biufMmUS"
"""Kinds of array a file may hold: booleans, numbers, dates, plain text; never objects."""
CHUNK = 1 << 24
LONGEST_HEADER = 1 << 17


class Format(NamedTuple):
    """What kind of file it is, and the newest version this coterie writes and reads."""

    name: str
    version: int


class Content(NamedTuple):
    """What a file's header says, and its arrays by name."""

    header: dict[str, Any]
    arrays: Arrays


def container_writer(
    format: Format, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Writer:
    """Give what writes these arrays and what the header says of them to a path."""
    facts = {"format": format.name, "version": format.version, "coterie": __version__}
    text = json.dumps({**facts, "arrays": list(arrays), **header}, allow_nan=False)
    return partial(_write, {HEADER: np.frombuffer(text.encode(), np.uint8), **arrays})


def _write(arrays: Mapping[str, NDArray[Any]], path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            # Dated 1980, so that the same content gives the same bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as handle:
                plain = np.asarray(array, order="C")
                np.lib.format.write_array(handle, plain, version=(1, 0), allow_pickle=False)


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
    if f"{HEADER}.npy" not in archive.namelist():
        raise DataError(f"{path} is a zip file, but none that coterie saved")
    header = json.loads(_array(archive, HEADER, size).tobytes())
    if not isinstance(header, dict) or header.pop("format", None) != format.name:
        raise DataError(f"{path} holds no {format.name}")
    version, coterie, names = (header.pop(name) for name in ("version", "coterie", "arrays"))
    if type(version) is not int or version < 1:
        raise ValueError(f"version {version!r}")
    if version != format.version:
        newer = version > format.version
        age, remedy = ("a newer", "upgrade coterie") if newer else ("an earlier", "fit again")
        raise DataError(
            f"{path} was written by {age} coterie ({coterie}) in version {version} of its"
            f" format, this one ({__version__}) reads version {format.version}; {remedy}"
        )
    # Entries may point at the same bytes: few bytes must not become many.
    if sum(archive.getinfo(f"{name}.npy").file_size for name in names) > size:
        raise ValueError("its arrays overlap")
    return Content(header, {name: _array(archive, name, size) for name in names})


def _array(archive: zipfile.ZipFile, name: str, size: int) -> NDArray[Any]:
    """Read an array; its header is parsed, as a literal, only after the checksum was right."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
        raise ValueError(f"{name} is not stored as it should be")
    content = bytearray(info.file_size)  # memory that may be written to
    place = 0
    with archive.open(info) as handle:
        while block := handle.read(CHUNK):
            content[place : place + len(block)] = block
            place += len(block)
    if place != len(content):
        raise EOFError(f"{name} ends early")
    start = io.BytesIO(content[:LONGEST_HEADER])
    if np.lib.format.read_magic(start) != (1, 0):
        raise ValueError(f"unknown layout of {name}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(start)
    if fortran or dtype.kind not in KINDS:
        raise ValueError(f"{name} has type {dtype}")
    array: NDArray[Any] = np.frombuffer(content, dtype, offset=start.tell()).reshape(shape)
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def pack_vocabulary(name: str, values: NDArray[Any], arrays: Arrays) -> list[Any] | None:
    """Put ids or labels among the arrays of a file; give those that it can only hold one by one.

    Arrays of one type go as they are, text as one run of UTF-8 with the length of each.

    Examples
    --------
    >>> arrays = {}
    >>> pack_vocabulary("items", np.array(["q1", "ü"], object), arrays)
    >>> unpack_vocabulary("items", None, arrays)
    array(['q1', 'ü'], dtype=object)
    """
    if values.dtype != object:
        arrays[name] = values
        return None
    if set(map(type, values)) <= {str}:
        texts = [text.encode("utf-8", "surrogatepass") for text in values]
        arrays[f"{name}.utf8"] = np.frombuffer(b"".join(texts), np.uint8)
        arrays[f"{name}.length"] = narrow(np.fromiter(map(len, texts), np.int64, len(texts)))
        return None
    try:
        return [to_json(value) for value in values]
    except Unkept as error:
        raise DataError(
            f"{error}, which a file cannot keep: use text, numbers, dates or tuples of them "
            f"for {name}"
        ) from None


def unpack_vocabulary(name: str, values: Any, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Give ids or labels back, each as the type it was; ValueError or the like if it is none."""
    if isinstance(values, list):
        values = [from_json(value) for value in values]
    elif values is None and f"{name}.utf8" in arrays:
        values = _texts(arrays[f"{name}.utf8"], arrays[f"{name}.length"])
    else:
        if values is not None or arrays[name].ndim != 1:
            raise ValueError(f"{name} must be a list")
        return arrays[name]
    objects = np.empty(len(values), object)
    for place, value in enumerate(values):  # slice assignment would unpack tuples
        objects[place] = value
    return objects


def _texts(utf8: NDArray[Any], length: NDArray[Any]) -> list[str]:
    plain = utf8.dtype == np.uint8 and utf8.ndim == length.ndim == 1
    if not plain or length.dtype not in (np.uint8, np.uint16, np.uint32):
        raise ValueError("text is not stored as it should be")
    end = np.cumsum(length, dtype=np.int64)
    if len(utf8) != (end[-1] if len(end) else 0):
        raise ValueError("text is not as long as it should be")
    content = utf8.tobytes()
    places = pairwise([0, *end.tolist()])
    return [content[a:b].decode("utf-8", "surrogatepass") for a, b in places]


def narrow(codes: NDArray[Any]) -> NDArray[Any]:
    """Give the same whole numbers in as few bytes as will do.

    Examples
    --------
    >>> narrow(np.array([0, 300])).dtype, narrow(np.array([-1, 200])).dtype
    (dtype('uint16'), dtype('int16'))
    """
    low, high = codes.min(initial=0), codes.max(initial=0)
    return codes.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))
