"""A place for results is tried before any work is done: can it be made, written, is there room."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from coterie.errors import DataError
from coterie.files.paths import naming

PROBE = b"coterie"


def try_folder(out: Path) -> None:
    """Make a folder and a file in it, and remove what was not there before.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try_folder(Path(folder, "a", "b"))
    ...     list(Path(folder).iterdir())
    []
    """
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    probe = out / ".coterie.probe"
    try:
        with naming(out):
            out.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(PROBE)
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
        for folder in missing:  # the innermost comes first
            with suppress(OSError):
                folder.rmdir()


def check_room(out: Path, least: int) -> None:
    """Refuse a place whose disk has less room than results will take at least.

    Parameters
    ----------
    out
        The folder; it need not be there yet.
    least
        Bytes.
    """
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    with suppress(OSError):  # a file system that does not say is tried at the end
        free = shutil.disk_usage(there).free
        if free < least:
            raise DataError(
                f"the results will take {_size(least)} at least, and the disk of {out} has "
                f"{_size(free)} left; make room, or choose another --out"
            )


def _size(bytes: int) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> _size(4096), _size(250_000), _size(3 * 10**9)
    ('4.1 KB', '0.2 MB', '3,000.0 MB')
    """
    return f"{bytes / 1e3:,.1f} KB" if bytes < 1e5 else f"{bytes / 1e6:,.1f} MB"
