"""The one way to write: aside, forced to disk, then renamed; nothing is ever half-written.

A file that is being written lies beside its target as ``.<name>.<token>.part`` and is locked, so
that the next write of that name can tell what a dead process has left, and removes it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from coterie.errors import DataError
from coterie.files.paths import naming, try_folder
from coterie.words.numbers import be

if sys.platform != "win32":
    import fcntl

NOTE = ".unfinished.json"
"""Lies in a folder while results are put in place: the checksum of each, by name."""

Writer = Callable[[Path], object]
"""Writes one file, whole, to the path it is given."""


def text_writer(text: str) -> Writer:
    """Give what writes a text, as UTF-8."""
    return partial(Path.write_text, data=text, encoding="utf-8")


def check_free(out: Path, paths: Iterable[Path], *, force: bool) -> None:
    """Refuse, before any work is done, where earlier results lie or nothing can be written."""
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file, not a folder; choose another --out")
    _check_new(out, paths, force=force)
    try_folder(out)


def _check_new(out: Path, paths: Iterable[Path], *, force: bool) -> None:
    there = [path.name for path in paths if path.exists()]
    if there and not force:
        raise DataError(
            f"{out} already holds {', '.join(there)}; choose another --out, or pass --force"
        )


def write_file(path: Path, write: Writer, *, parents: bool = True) -> None:
    """Write one file; what was there is replaced whole, or, on failure, not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "note.txt"), text_writer("whole"))
    ...     Path(folder, "note.txt").read_text("utf-8")
    'whole'
    """
    write_files({path: write}, parents=parents)


def write_set(
    out: Path, writers: Mapping[Path, Writer], remove: Iterable[Path] = (), *, force: bool
) -> None:
    """Write files that belong together into one folder: all of them or none.

    What is killed while it renames leaves a note behind, which :func:`check_whole` reads. Of two
    writers at once one wins whole, and the other is told. Files of an earlier run that must not lie
    beside the new ones are removed.
    """
    with naming(out):
        out.mkdir(parents=True, exist_ok=True)
    with folder_held(out):
        _check_new(out, writers, force=force)  # they may have been written since work began
        write_files(writers, remove, note=out / NOTE)


def check_whole(path: Path) -> None:
    """Refuse a file whose folder somebody was killed in while results were put in place."""
    note = path.parent / NOTE
    try:
        sums = json.loads(note.read_text("utf-8"))
        torn = [name for name in sums if _checksum(path.parent / name) != sums[name]]
    except (OSError, ValueError, TypeError, AttributeError):
        return  # there is no note, or it is none of ours
    if torn and path.name in sums:
        raise DataError(
            f"{path.parent} holds parts of two runs, one of which was killed while it wrote: "
            f"{', '.join(map(str, torn))} {be(len(torn))} not of the same run "
            "as the rest; run it again with --force"
        )


def _checksum(path: Path) -> str | None:
    with suppress(OSError), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return None


def write_files(
    writers: Mapping[Path, Writer],
    remove: Iterable[Path] = (),
    *,
    parents: bool = True,
    note: Path | None = None,
) -> None:
    """Write several files aside, then give all of them their names; on failure leave nothing.

    Parameters
    ----------
    writers
        What writes each file.
    remove
        Files of an earlier run that must not lie beside the new ones.
    parents
        Make folders that are not there.
    note
        A file that says, while files are renamed, what they should be.
    """
    for path in writers:
        with naming(path):
            if path.is_dir():
                raise DataError(f"{path} is a folder; name a file")
    asides: dict[Path, Aside] = {}
    try:
        for path, write in writers.items():
            with naming(path):
                if parents:
                    path.parent.mkdir(parents=True, exist_ok=True)
                _remove_abandoned(path)
                asides[path] = Aside(path)
                write(asides[path].path)
                asides[path].sync()
        if note is not None:
            sums = {
                path.relative_to(note.parent).as_posix(): _checksum(aside.path)
                for path, aside in asides.items()
            }
            write_file(note, text_writer(json.dumps(sums)))
        for path, aside in asides.items():
            with naming(path):
                aside.rename(path)
        for path in remove:
            if path not in writers:
                with naming(path, "removed"):
                    _remove_abandoned(path)
                    path.unlink(missing_ok=True)
        if note is not None:
            note.unlink(missing_ok=True)
    finally:
        for aside in asides.values():
            aside.close()


class Aside:
    """A new empty file beside its target, locked until it is renamed or closed."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        self._held = self.path.open("xb")
        _lock(self._held)

    def sync(self) -> None:
        """Force the content to disk: after a power cut a renamed file must not be empty."""
        os.fsync(self._held.fileno())

    def rename(self, target: Path) -> None:
        """Put the file in the place of its target."""
        if sys.platform == "win32":
            self._held.close()  # it renames no open file
        self.path.replace(target)

    def close(self) -> None:
        """Unlock the file, and remove it if it was not renamed."""
        self._held.close()  # first: Windows removes no open file
        self.path.unlink(missing_ok=True)


def _remove_abandoned(target: Path) -> None:
    """Remove what processes that have died left beside a file they were writing."""
    if not target.parent.is_dir():
        return
    name = re.compile(rf"\.{re.escape(target.name)}(\.[0-9a-f]+)?\.part")
    for path in target.parent.iterdir():
        if name.fullmatch(path.name):
            # What cannot be opened, locked or removed is somebody's; what is gone is gone.
            with suppress(OSError), path.open("rb") as file:
                if _lock(file):
                    path.unlink()


def _lock(file: BinaryIO | int) -> bool | None:
    """Lock a file until it is closed; False if somebody else has, None if there are no locks."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


@contextmanager
def folder_held(folder: Path) -> Iterator[None]:
    """Hold a folder while results are written to it; somebody else who does is a DataError."""
    if sys.platform == "win32":
        yield
        return
    with naming(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        if _lock(handle) is False:
            raise DataError(
                f"another process is writing to {folder}; choose another folder, or try again when"
                " it is done"
            )
        yield
    finally:
        os.close(handle)


@contextmanager
def file_held(path: Path) -> Iterator[None]:
    """Hold a file that a long run replaces again and again; a second run is told who has it."""
    with naming(path):
        beside = path.with_name(f".{path.name}.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = beside.open("a+b")
    try:
        if _lock(handle) is False:
            with suppress(OSError):
                handle.seek(0)
            who = handle.read(20).decode("ascii", "replace") or "unknown"
            raise DataError(
                f"{path} is in use by another run (process {who}); wait for it, or choose another"
                " path"
            )
        with suppress(OSError):  # a full disk: it is held all the same
            handle.truncate(0)
            handle.write(str(os.getpid()).encode())
            handle.flush()
        try:
            yield
        finally:
            with suppress(OSError):
                beside.unlink()
    finally:
        with suppress(OSError):
            handle.close()
