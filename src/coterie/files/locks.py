"""One writer at a time: files and folders that a process holds until it is done, or dead."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from coterie.errors import DataError
from coterie.files.paths import naming

if sys.platform != "win32":
    import fcntl


def lock(file: BinaryIO | int) -> bool:
    """Lock a file until it is closed; False if somebody else has, or if there are no locks here."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_held(file: BinaryIO | int) -> bool:
    """Try to lock a file until it is closed; say whether somebody else has."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # where there are no locks, nobody has one
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    return False


@contextmanager
def folder_held(folder: Path) -> Iterator[None]:
    """Hold a folder while results are written to it; somebody else who does is a DataError."""
    if sys.platform == "win32":
        yield
        return
    with naming(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        if is_held(handle):
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
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = _open_beside(path)
    try:
        if is_held(handle.fileno()):
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


def _open_beside(path: Path) -> tuple[BinaryIO, Path]:
    """Open the file that is locked, which lies beside the one that is replaced."""
    beside = path.with_name(f".{path.name}.lock")
    return beside.open("a+b"), beside
