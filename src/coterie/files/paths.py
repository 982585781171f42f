"""Names of files as users write them: found, tried, or refused in a sentence."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from os import PathLike
from pathlib import Path

from coterie.errors import CoterieError, DataError
from coterie.words.values import did_you_mean
from coterie.words.visible import shorten

_SHOWN = 400  # characters of a path
_MOST = 1_000  # files of a folder that are looked at for a name nearly so


def existing(path: str | PathLike[str], expected: str) -> Path:
    """Find a file that is to be read, expected to be this; whatever is in the way is an error."""
    if not str(path):
        raise DataError(f"the name of the file is empty; expected {expected}")
    if "\n" in str(path):
        raise DataError(
            f"{shorten(repr(str(path)), _SHOWN)} is text, not the name of a file; write it to a "
            "file and name that"
        )
    with naming(path, "read"):
        place = Path(path).expanduser()
        try:
            place.stat()
        except (FileNotFoundError, NotADirectoryError):
            beside: list[str] = []
            with suppress(OSError):  # a folder that cannot be looked into
                beside = [other.name for other in islice(place.parent.iterdir(), _MOST)]
            near = did_you_mean(place.name, beside)
            raise DataError(f"there is no file {path}{near}; check the path") from None
        if place.is_dir():
            raise DataError(f"{path} is a folder; expected {expected}")
        return place


def to_write(path: str | PathLike[str]) -> Path:
    """Give the place of a file that is to be written; a user who is not there is a DataError.

    Examples
    --------
    >>> to_write("~nosuch/x.csv")
    Traceback (most recent call last):
    coterie.errors.DataError: ~nosuch/x.csv cannot be written: Could not determine home directory.
    """
    with naming(path):
        return Path(path).expanduser()


@contextmanager
def naming(path: str | PathLike[str], what: str = "written") -> Iterator[None]:
    """Name the file that was asked for in whatever goes wrong."""
    try:
        yield
    except CoterieError:
        raise
    # RuntimeError: no such user; ValueError: a NUL in a path, text that is no UTF-8.
    except (OSError, RuntimeError, ValueError) as error:
        name = shorten(str(path), _SHOWN)
        raise DataError(f"{name} cannot be {what}: {reason_of(error)}") from error


def reason_of(error: BaseException) -> str:
    """Give why something failed, without the file that the system names."""
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error) or type(error).__name__


def is_there(path: str | PathLike[str]) -> bool:
    """Say whether a file or folder can be seen; what can be none is none."""
    with suppress(OSError, RuntimeError, ValueError):
        return Path(path).expanduser().exists()
    return False


def is_folder(path: str | PathLike[str]) -> bool:
    """Say whether a folder can be seen."""
    return is_there(path) and Path(path).expanduser().is_dir()


def try_folder(out: Path) -> None:
    """Make a folder and a file in it, and remove what was not there before."""
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    probe = out / ".coterie.probe"
    try:
        with naming(out):
            out.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"coterie")
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
        for folder in missing:  # the innermost comes first
            with suppress(OSError):
                folder.rmdir()


def check_room(out: Path, least: int) -> None:
    """Refuse a folder, there or not yet, whose disk has less room than these bytes."""
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    with suppress(OSError):  # a file system that does not say is tried at the end
        free = shutil.disk_usage(there).free
        if free < least:
            raise DataError(
                f"the results will take {_size(least)} at least, and the disk of {out} has "
                f"{_size(free)} left; make room, or choose another --out"
            )


def _size(bytes: int) -> str:
    return f"{bytes / 1e3:,.1f} KB" if bytes < 1e5 else f"{bytes / 1e6:,.1f} MB"
