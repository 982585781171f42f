"""Globs, folders, hive partitions, addresses -> the files of one scan, in order."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from coterie.errors import CoterieError, DataError
from coterie.files.paths import is_folder, naming, reason_of
from coterie.io.files import File, find

ENDINGS = ("", ".csv", ".tsv", ".tab", ".txt", ".jsonl", ".ndjson", ".parquet", ".pq")
"""Of files that are read in a folder, with or without .gz."""
WILD = "*?["
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_GZIP = b"\x1f\x8b"
Where = str | PathLike[str]


class Found(NamedTuple):
    """One file of a scan."""

    file: File
    hive: Mapping[str, str | None]  # columns that its folders name: .../year=2024/...
    size: int | None  # in bytes, where that is known
    stamp: tuple[Any, ...]  # what changes when the file does


def find_all(source: Where | Iterable[Where]) -> list[Found]:
    """Find the files that patterns, folders and addresses stand for, sorted by name."""
    several = not isinstance(source, (str, PathLike))
    wheres: Iterable[Where] = source if several else [source]  # type: ignore[list-item, assignment]
    found = [one for where in wheres for one in _found(where)]
    if not found:
        raise DataError("the list of files to scan is empty; name one")
    twice = {one.stamp[0] for one in found}
    if len(twice) < len(found):
        raise DataError("a file is named twice among those to scan; name it once")
    return found


def sum_of_names(found: Iterable[Found]) -> str:
    """Give the sha256 of the names and sizes of files, which need not be read again for it."""
    told = "\n".join(f"{one.size} {one.file.name}" for one in found)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def is_scanned(source: Where) -> bool:
    """Tell what only a scan reads: a pattern or an address; a file that is there is none.

    Examples
    --------
    >>> is_scanned("labels/*.parquet"), is_scanned("labels.parquet")
    (True, False)
    """
    text = str(source)
    return "://" in text or (any(sign in text for sign in WILD) and not Path(text).exists())


def _found(where: Where) -> list[Found]:
    text = str(where)
    if "://" in text:
        return _remote(text)
    if text == "-":
        raise DataError("standard input cannot be scanned; write it to a file and name that")
    if is_folder(where):
        folder = Path(where).expanduser()
        return _named(folder, sorted(folder.rglob("*")), f"the folder {where}")
    if is_scanned(where):
        with naming(where, "read"):
            text = str(Path(where).expanduser())
            paths = sorted(map(Path, glob.glob(text, recursive=True)))  # noqa: PTH207
        return _named(_steady(text), paths, f"the pattern {where}")
    return [_local(find(where), Path(where).expanduser(), Path(where).name)]


def _steady(pattern: str) -> Path:
    """Give the part of a pattern before its first wild card."""
    parts = Path(pattern).parts
    wild = next(k for k, part in enumerate(parts) if any(sign in part for sign in WILD))
    return Path(*parts[:wild])


def _named(root: Path, paths: Iterable[Path], what: str) -> list[Found]:
    names = {path: path.relative_to(root).as_posix() for path in paths if path.is_file()}
    found = [
        _local(find(path), path, name)
        for path, name in names.items()
        if not _is_hidden(name) and _is_table(name)
    ]
    if not found:
        raise DataError(f"{what} holds no table; expected CSV, TSV, JSONL or Parquet files")
    return found


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in PurePosixPath(name).parts)


def _is_table(name: str) -> bool:
    return PurePosixPath(name.removesuffix(".gz")).suffix.lower() in ENDINGS


def _local(file: File, path: Path, name: str) -> Found:
    state = path.stat()
    stamp = (str(path.absolute()), state.st_size, state.st_mtime_ns)
    return Found(replace(file, name=name), hive_of(name), state.st_size, stamp)


def hive_of(name: str) -> dict[str, str | None]:
    """Give the columns that folders name, text as it is written.

    Examples
    --------
    >>> hive_of("year=2024/lang=de%20ch/part-0.parquet")
    {'year': '2024', 'lang': 'de ch'}
    """
    pairs = (part.partition("=") for part in PurePosixPath(name).parent.parts)
    return {
        unquote(key): None if value == NO_VALUE else unquote(value)
        for key, sign, value in pairs
        if key and sign
    }


def _remote(address: str) -> list[Found]:
    """Find the files of an address that fsspec knows."""
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise CoterieError(f"reading {address} needs fsspec: pip install fsspec") from error
    try:
        system, path = fsspec.core.url_to_fs(address)
        wild = any(sign in path for sign in WILD)
        paths = system.glob(path) if wild else system.find(path)
        infos = {name: system.info(name) for name in sorted(paths)}
    except Exception as error:  # whatever the file system of the day raises
        raise DataError(f"{address} cannot be read: {reason_of(error)}") from error
    root = path.partition("*")[0] if wild else path
    root = root if root.endswith("/") or root == path else root.rpartition("/")[0]
    found = []
    for name, info in infos.items():
        short = name.removeprefix(root).strip("/") or PurePosixPath(name).name
        if info.get("type") != "directory" and not _is_hidden(short) and _is_table(short):
            found.append(_fetched(system, name, short, info))
    if not found:
        raise DataError(f"{address} holds no table; expected CSV, TSV, JSONL or Parquet files")
    return found


def _fetched(system: Any, path: str, name: str, info: Mapping[str, Any]) -> Found:
    with naming(path, "read"), system.open(path, "rb") as handle:
        compressed = handle.read(2) == _GZIP
    suffix = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
    marks = ("size", "mtime", "LastModified", "ETag", "etag", "updated")
    stamp = (system.unstrip_protocol(path), *(str(info[key]) for key in marks if key in info))
    file = File(name, path, suffix, lambda: system.open(path, "rb"), compressed)
    return Found(file, hive_of(name), info.get("size"), stamp)
