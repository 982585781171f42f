"""A shard as a file: arrays one after the other, mapped into memory where they are read.

That is not the container of :mod:`coterie.files.container`: there an array may begin at any byte,
and is read whole, for its checksum. Here each begins where compiled code wants it, and a sweep
reads only what it touches; what lies where is in the container beside the shards.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.files.paths import naming, reason_of

Array = NDArray[Any]
MAGIC = b"coterie shard 1\n"
ALIGNED = 64
SUFFIX = ".shard"


class Layout(NamedTuple):
    """What lies where in a file: by name the type, the length, and the first byte."""

    arrays: dict[str, tuple[str, int, int]]
    size: int  # bytes of the whole file


def shard_path(folder: Path, k: int) -> Path:
    """Give the file of the k-th shard.

    Examples
    --------
    >>> shard_path(Path("labels"), 7).name
    'shard-00007.shard'
    """
    return folder / f"shard-{k:05d}{SUFFIX}"


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> Layout:
    """Write arrays of one dimension to a file that :func:`map_arrays` maps."""
    laid: dict[str, tuple[str, int, int]] = {}
    with naming(path), path.open("wb") as file:
        file.write(MAGIC)
        for name, array in arrays.items():
            file.write(bytes(-file.tell() % ALIGNED))
            laid[name] = (array.dtype.str, len(array), file.tell())
            np.ascontiguousarray(array).tofile(file)
        size = file.tell()
    return Layout(laid, size)


def map_arrays(path: Path, layout: Layout, what: str) -> dict[str, Array]:
    """Map the arrays of a file, read only; one that is not whole is a DataError.

    Parameters
    ----------
    path, layout
        The file, and what lies where in it.
    what
        What to call it in a sentence.
    """
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise _unreadable(what, path, reason_of(error)) from error
    if len(content) != layout.size or content[: len(MAGIC)] != MAGIC:
        raise _unreadable(what, path, "it is not what was written")
    return {
        name: np.frombuffer(content, np.dtype(kind), length, first) if length else _none(kind)
        for name, (kind, length, first) in layout.arrays.items()
    }


def _none(kind: str) -> Array:
    array = np.zeros(0, np.dtype(kind))
    array.setflags(write=False)  # as those that are mapped: compiled code tells them apart
    return array


def _unreadable(what: str, path: Path, reason: str) -> DataError:
    return DataError(f"{what}, {path}, cannot be read: {reason}", remedy="scan the labels again")
