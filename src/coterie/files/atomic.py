"""The one way to write: aside, forced to disk, then renamed; nothing is ever half-written.

A file that is being written lies beside its target as ``.<name>.<token>.part`` and is locked, so
that the next write of that name can tell what a dead process has left, and removes it.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from coterie.errors import CoterieError, DataError

if sys.platform != "win32":
    import fcntl

Writer = Callable[[Path], object]
"""Writes one file, whole, to the path it is given."""


def text_writer(text: str) -> Writer:
    """Give what writes a text, as UTF-8."""
    return partial(Path.write_text, data=text, encoding="utf-8")


def check_free(out: Path, paths: Iterable[Path], *, force: bool) -> None:
    """Refuse, before any work is done, to write where earlier results lie."""
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file, not a folder; choose another --out")
    there = [path.name for path in paths if path.exists()]
    if there and not force:
        raise DataError(
            f"{out} already holds {', '.join(there)}; choose another --out, or pass --force"
        )


def write_file(path: Path, write: Writer, *, parents: bool = True) -> None:
    """Write one file; what was there is replaced whole, or, on failure, not at all.

    Parameters
    ----------
    path
        The file.
    write
        What writes it; the path that it is given lies in the same folder.
    parents
        Make the folder if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "note.txt"), text_writer("whole"))
    ...     Path(folder, "note.txt").read_text("utf-8")
    'whole'
    """
    write_files({path: write}, parents=parents)


def write_files(
    writers: Mapping[Path, Writer], remove: Iterable[Path] = (), *, parents: bool = True
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
    """
    for path in writers:
        with _naming(path):
            if path.is_dir():
                raise DataError(f"{path} is a folder; name a file")
    asides: dict[Path, Aside] = {}
    try:
        for path, write in writers.items():
            with _naming(path):
                if parents:
                    path.parent.mkdir(parents=True, exist_ok=True)
                remove_abandoned(path)
                asides[path] = Aside(path)
                write(asides[path].path)
                asides[path].sync()
        for path, aside in asides.items():
            with _naming(path):
                aside.rename(path)
        for path in remove:
            if path not in writers:
                with _naming(path, "removed"):
                    remove_abandoned(path)
                    path.unlink(missing_ok=True)
    finally:
        for aside in asides.values():
            aside.close()


@contextmanager
def _naming(path: Path, what: str = "written") -> Iterator[None]:
    """Name the file that was asked for in whatever goes wrong, not the one beside it."""
    try:
        yield
    except CoterieError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in a path, text that is no UTF-8
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise DataError(f"{path} cannot be {what}: {reason}") from error


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


def remove_abandoned(target: Path) -> None:
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


def _lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; False if somebody else has, or if there are no locks here."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
