"""Paths, folders and zips -> the files of one data set, and what their first bytes show."""

from __future__ import annotations

import codecs
import importlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from coterie.data import Table
from coterie.errors import CoterieError, DataError, MissingExtraError
from coterie.files.paths import is_folder, naming
from coterie.io.files import File, find
from coterie.io.tables import excel_table, parquet_opened, table_of_file
from coterie.io.text import text_of

ZIP, PARQUET, NUMPY, XML = b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"<"
_BLANK = b"\xef\xbb\xbf \t\r\n"
_SHEET = "xl/workbook.xml"
_JSON = (".json", ".jsonl", ".ndjson")
_LINES = 50  # of a JSON Lines file, looked at for keys


class Part:
    """One file, opened as far as is needed to tell what it is."""

    def __init__(self, file: File, home: str | None = None) -> None:
        self.file = file
        self.home = home  # the folder or zip that the user named, in which it lies

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return self.file.name

    @property
    def stem(self) -> str:
        """The name of the file without folders and ending: often the annotator's."""
        return self.name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".gz").rsplit(".", 1)[0]

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that it lies in, the innermost last: within its zip, or on disk."""
        inside = PurePosixPath(self.name).parts[:-1]
        return inside or Path(self.file.path).absolute().parts[1:-1]

    @cached_property
    def head(self) -> bytes:
        """The first bytes."""
        return self.file.head()

    @cached_property
    def mark(self) -> bytes:
        """The first bytes that are no blanks: ``b"["`` is a JSON list."""
        return self.head[:64].lstrip(_BLANK)[:1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files inside, if it is a zip."""
        if not self.head.startswith(ZIP):
            return ()
        with _opened(self.file) as archive:
            return tuple(archive.namelist())

    @property
    def is_archive(self) -> bool:
        """Whether it is a zip of files, and no Excel sheet, which is a zip too."""
        return self.head.startswith(ZIP) and _SHEET not in self.names

    @property
    def is_json(self) -> bool:
        """Whether its name and its first byte say that it is JSON."""
        return self.file.suffix in _JSON and self.mark in (b"[", b"{")

    @cached_property
    def table(self) -> Table | None:
        """It as a table with a header, if it is CSV, TSV or an Excel sheet."""
        if _SHEET in self.names:
            return excel_table(self.file)
        if self.mark in (b"[", b"{", XML, b"") or self.head.startswith((ZIP, PARQUET, NUMPY)):
            return None
        try:
            return text_of(self.file, self.head).table()
        except DataError:
            return None

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The columns of a table, CSV, Excel or Parquet; none for other files."""
        if self.head.startswith(PARQUET):
            return tuple(map(str, table_of_file(self.file).columns))
        return () if self.table is None else tuple(map(str, self.table.columns))

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first record of a JSON list or of JSON Lines, or the one JSON object."""
        if self.mark == b"[":
            return _record(self._first_of_list())
        if self.mark == b"{":
            return _record(self.lines[0] if self.lines else self._whole_or_none())
        return {}

    @cached_property
    def lines(self) -> tuple[Any, ...]:
        """The first records of JSON Lines; none if the first line is not JSON by itself."""
        if self.mark != b"{":
            return ()
        found = []
        with self.file.lines() as handle:
            for line in handle:
                if line.strip(_BLANK):
                    try:
                        found.append(json.loads(line))
                    except (ValueError, RecursionError):
                        break
                if len(found) == _LINES:
                    break
        return tuple(found)

    @cached_property
    def content(self) -> Any:
        """The whole file as JSON."""
        try:
            return json.loads(self.file.whole())
        except RecursionError:
            raise DataError(f"{self.name} is nested too deeply to be an export") from None
        except ValueError as error:
            raise DataError(
                f"{self.name} is not JSON: {error}; export it again, or finish the download"
            ) from None

    def records(self) -> Iterator[dict[str, Any]]:
        """Give every record: of a JSON list, JSON Lines, a table (text as written) or Parquet."""
        if self.head.startswith(PARQUET):
            yield from _parquet_records(self.file)
        elif self.mark == b"[":
            yield from _records(self.content, self.name)
        elif self.mark == b"{":
            yield from self._lines() if self.lines else _records([self.content], self.name)
        elif self.table is not None:
            yield from _rows(self.table)
        else:
            raise DataError(f"{self.name} holds no records; expected JSON, JSON Lines or a table")

    def _lines(self) -> Iterator[dict[str, Any]]:
        with self.file.lines() as handle:
            for number, line in enumerate(handle, 1):
                if not line.strip(_BLANK):
                    continue
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise DataError(
                        f"row {number} of {self.name} (the first is row 1) is not JSON: {error}; "
                        "export it again, or finish the download"
                    ) from None
                yield from _records([found], f"row {number} of {self.name}")

    def _first_of_list(self) -> Any:
        text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(self.head)
        start = text.find("[") + 1
        while text[start : start + 1].isspace():
            start += 1
        try:
            return json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError):  # longer than the head, or not UTF-8
            whole = self._whole_or_none()
            return whole[0] if isinstance(whole, list) and whole else None

    def _whole_or_none(self) -> Any:
        try:
            return self.content
        except DataError:
            return None


def _record(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _records(found: Any, name: str) -> Iterator[dict[str, Any]]:
    for place, record in enumerate(found if isinstance(found, list) else [found]):
        if not isinstance(record, dict):
            raise DataError(f"entry {place} of {name} (the first is 0) is not an object")
        yield record


def _rows(table: Table) -> Iterator[dict[str, Any]]:
    """Give the rows of a table; a blank cell is None."""
    columns = table.read(range(len(table.columns)))
    cells = [
        [None if code < 0 else values[code] for code in coded.codes.tolist()]
        for coded, values in ((coded, [*map(_text, coded.values.tolist())]) for coded in columns)
    ]
    names = [str(name) for name in table.columns]
    for row in zip(*cells, strict=True):
        if any(cell is not None for cell in row):
            yield dict(zip(names, row, strict=True))


def _text(cell: Any) -> Any:
    """Write a cell of an Excel sheet as the same export's CSV has it."""
    return (
        cell if isinstance(cell, str) else str(cell).lower() if cell in (True, False) else str(cell)
    )


def _parquet_records(file: File) -> Iterator[dict[str, Any]]:
    with parquet_opened(file) as found:
        yield from found.read().to_pylist()


_ENDINGS = ".csv .eval .json .jsonl .manifest .ndjson .npy .parquet .tsv .txt .xlsx .xml"
ENDINGS = {"", *_ENDINGS.split()}
"""Of files that are looked at in a folder or zip: images and the like are not."""
LARGEST = 2 << 30
"""Bytes that are taken out of one zip at most: a small zip can hold endless zeros."""
DEEPEST = 3
"""Zips within zips that are opened."""
_OWN = ("header.json", "_journal/start.json")
"""Files that tell that a zip is one export as a whole (inspect)."""

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
        yield from _in_zip(part, depth)
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
def _opened(file: File) -> Iterator[zipfile.ZipFile]:
    """Open a zip; a damaged or locked one is a DataError."""
    try:  # the zipfile of Python 3.14 knows Zstandard, and has a backport
        reader: Any = importlib.import_module("backports.zstd.zipfile")
    except ModuleNotFoundError:
        reader = zipfile
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


def contents(file: File, wanted: Iterable[str]) -> dict[str, bytes]:
    """Give files of a zip, by name; too much of it is a DataError."""
    with _opened(file) as archive:
        infos = [archive.getinfo(name) for name in wanted]
        size = sum(info.file_size for info in infos)
        if size > LARGEST:
            raise DataError(
                f"{file.name} unpacks to {size:,} bytes, more than {LARGEST:,}; unpack it, and "
                "name the folder"
            )
        return {info.filename: archive.read(info) for info in infos}


def _in_zip(part: Part, depth: int) -> Iterator[Part]:
    file = part.file
    names = [name for name in part.names if not name.endswith("/") and _is_inside(name)]
    if not names:
        raise DataError(f"{file.name} holds no file that could be an export")
    for name, content in sorted(contents(file, names).items()):
        for inside in _unpacked(Part(_kept(f"{file.name}/{name}", file.path, content)), depth + 1):
            inside.home = file.name
            yield inside


def _is_inside(name: str) -> bool:
    """Tell a file of a zip that is looked at: what is wanted, and zips but those of a Mac."""
    path = PurePosixPath(name)
    return _wanted(name) or (_is_zip(path) and "__MACOSX" not in path.parts)


def _as_utf8(file: File) -> File:
    """Give JSON in UTF-16, which the Windows console writes, as the UTF-8 that JSON should be."""
    head = file.head()[:64]
    if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return file
    if head[:64].decode("utf-16", "replace").lstrip()[:1] not in ("[", "{"):
        return file
    try:
        content = file.whole().decode("utf-16").encode("utf-8")
    except UnicodeError as error:
        raise DataError(f"{file.name} is UTF-16, damaged or cut short; save it as UTF-8") from error
    return replace(_kept(file.name, file.path, content), suffix=file.suffix)


def _kept(name: str, path: str, content: bytes) -> File:
    suffix = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
    return File(name, path, suffix, lambda: io.BytesIO(content), content[:2] == b"\x1f\x8b")
