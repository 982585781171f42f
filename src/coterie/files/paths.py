"""Names of files as users write them: found, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path

from coterie.errors import CoterieError, DataError
from coterie.words.values import did_you_mean
from coterie.words.visible import shorten

_SHOWN = 400  # characters of a path
_MOST = 1_000  # files of a folder that are looked at for a name nearly so


def existing(path: str | PathLike[str], expected: str) -> Path:
    """Find a file that is to be read; whatever is in the way is a DataError.

    Parameters
    ----------
    path
        As the user wrote it.
    expected
        What it should be, for the sentence.
    """
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
            near = did_you_mean(place.name, _beside(place))
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


def _beside(place: Path) -> list[str]:
    """Name the files of a folder; none where it cannot be looked into."""
    try:
        return [path.name for path in islice(place.parent.iterdir(), _MOST)]
    except OSError:
        return []


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
    try:
        return Path(path).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False


def is_folder(path: str | PathLike[str]) -> bool:
    """Say whether a folder can be seen."""
    try:
        return Path(path).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):
        return False
