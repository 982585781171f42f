"""Paths, folders and zips -> the files of one data set."""

from __future__ import annotations

import codecs
import importlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path, PurePath, PurePosixPath
from types import ModuleType
from typing import BinaryIO

from coterie.errors import CoterieError, DataError, MissingExtraError
from coterie.files.paths import is_folder, naming
from coterie.io.exports.part import Part
from coterie.io.files import File, find

ENDINGS = {
    "",
    ".csv",
    ".eval",
    ".json",
    ".jsonl",
    ".manifest",
    ".ndjson",
    ".npy",
    ".parquet",
    ".tsv",
    ".txt",
    ".xlsx",
    ".xml",
}
"""Of files that are looked at in a folder or zip: images and the like are not."""
LARGEST = 2 << 30
"""Bytes that are taken out of one zip at most: a small zip can hold endless zeros."""
DEEPEST = 3
"""Zips within zips that are opened."""
_OWN = ("header.json", "_journal/start.json")
"""Files that tell that a zip is one export as a whole (inspect)."""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Path_ = str | PathLike[str] | File


def parts_of(source: Path_ | Iterable[Path_]) -> list[Part]:
    """Give the files that a path, a folder, a zip or several of them stand for."""
    several = not isinstance(source, (str, PathLike, File))
    paths: Iterable[Path_] = source if several else [source]  # type: ignore[assignment,list-item]
    return [part for path in paths for part in _expanded(path)]


def _expanded(path: Path_) -> Iterator[Part]:
    if not isinstance(path, File) and path != "-" and str(path) and is_folder(path):
        yield from _in_folder(Path(path).expanduser())
        return
    yield from _unpacked(Part(path if isinstance(path, File) else find(path)))


def _unpacked(part: Part, depth: int = 0) -> Iterator[Part]:
    """Give the files of a zip, of zips inside it too, or the file that is none."""
    if not part.is_archive or any(name in part.names for name in _OWN):
        yield Part(_as_utf8(part.file), part.home)
    elif depth < DEEPEST:
        yield from _in_zip(part.file, depth)
    else:
        raise DataError(f"{part.name} is a zip in a zip in a zip; unpack it, and name the folder")


def _in_folder(folder: Path) -> Iterator[Part]:
    found = False
    with naming(folder, "read"):  # files come and go while one looks
        places = sorted(folder.rglob("*"))
    for place in places:
        inside = place.relative_to(folder).as_posix()
        if place.is_file() and (_wanted(inside) or _is_zip(place)):
            found = True
            for part in _expanded(find(place)):
                part.home = folder.name or str(folder)
                yield part
    if not found:
        raise DataError(f"the folder {folder} holds no file that could be an export")


def _wanted(name: str) -> bool:
    path = PurePosixPath(name.removesuffix(".gz"))
    hidden = path.name.startswith("._") or "__MACOSX" in path.parts or path.name == ".DS_Store"
    return not hidden and path.suffix.lower() in ENDINGS


def _is_zip(place: PurePath) -> bool:
    return place.suffix.lower() == ".zip" and _wanted(place.with_suffix("").name)


@contextmanager
def opened(file: File) -> Iterator[zipfile.ZipFile]:
    """Open a zip; a damaged or locked one is a DataError."""
    reader = _zip_reader()
    try:
        with reader.ZipFile(io.BytesIO(file.whole())) as archive:
            yield archive
    except NotImplementedError as error:  # newer inspect logs are compressed by Zstandard
        raise MissingExtraError(f"reading {file.name}", "backports.zstd", "inspect") from error
    except CoterieError:
        raise
    except Exception as error:  # damaged bytes: whatever the decompressor of the day raises
        raise DataError(
            f"{file.name} is a zip that cannot be read: {error}; unpack it, and name the folder"
        ) from error


def _zip_reader() -> ModuleType:
    """Give the zipfile of Python 3.14, which knows Zstandard, where its backport is there."""
    try:
        return importlib.import_module("backports.zstd.zipfile")
    except ModuleNotFoundError:
        return zipfile


def names_in(file: File) -> tuple[str, ...]:
    """Name the files in a zip."""
    with opened(file) as archive:
        return tuple(archive.namelist())


def contents(file: File, wanted: Iterable[str]) -> dict[str, bytes]:
    """Give files of a zip, by name; too much of it is a DataError."""
    with opened(file) as archive:
        infos = [archive.getinfo(name) for name in wanted]
        size = sum(info.file_size for info in infos)
        if size > LARGEST:
            raise DataError(
                f"{file.name} unpacks to {size:,} bytes, more than {LARGEST:,}; unpack it, and "
                "name the folder"
            )
        return {info.filename: archive.read(info) for info in infos}


def _in_zip(file: File, depth: int) -> Iterator[Part]:
    names = [name for name in names_in(file) if not name.endswith("/") and _is_inside(name)]
    if not names:
        raise DataError(f"{file.name} holds no file that could be an export")
    for name, content in sorted(contents(file, names).items()):
        kept = Part(_kept(f"{file.name}/{name}", file.path, content), home=file.name)
        for part in _unpacked(kept, depth + 1):
            part.home = file.name
            yield part


def _is_inside(name: str) -> bool:
    """Tell a file of a zip that is looked at: what is wanted, and zips but those of a Mac."""
    path = PurePosixPath(name)
    return _wanted(name) or (_is_zip(path) and "__MACOSX" not in path.parts)


def _as_utf8(file: File) -> File:
    """Give JSON in UTF-16, which the Windows console writes, as the UTF-8 that JSON should be."""
    head = file.head()[:64]
    if not head.startswith(_UTF16):
        return file
    if head[:64].decode("utf-16", "replace").lstrip()[:1] not in ("[", "{"):
        return file
    try:
        content = file.whole().decode("utf-16").encode("utf-8")
    except UnicodeError as error:
        raise DataError(f"{file.name} is UTF-16, damaged or cut short; save it as UTF-8") from error
    return replace(_kept(file.name, file.path, content), suffix=file.suffix)


def _kept(name: str, path: str, content: bytes) -> File:
    def raw() -> BinaryIO:
        return io.BytesIO(content)

    suffix = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
    return File(name, path, suffix, raw, content[:2] == b"\x1f\x8b")
