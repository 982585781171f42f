"""Where compiled kernels are kept: in a folder named by what they were compiled from.

numba notices an edit of the file that a kernel is in, but not of the files that it calls: after an
edit or a pull it would run old code. Here the name of the folder is a checksum of all of them, so
that whatever is found there is of the sources as they are.

The first folder of these that can be written to: ``NUMBA_CACHE_DIR``, if it is set, and then no
other; beside the package; the user's caches. Where there is none, nothing is kept, and one warning
says how to change that.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from coterie.errors import CompilationWarning
from coterie.files.locks import is_held

PACKAGE = Path(__file__).resolve().parents[1]
COMPILED = ("numeric", "kernels", "partition", "roles", "assign", "data/codes.py")
"""Folders and files that compiled code, or a constant or tuple named in it, may lie in."""
PREFIX = "coterie-"
KEPT = 8
"""Folders that stay, those used last: of other branches, other numbas, the plain mode."""
PATIENCE, LOOK = 300.0, 0.1
"""Seconds to wait for who compiles the same, on a busy machine too, and between two looks."""
_given_up: list[OSError] = []
_paused: list[bool] = []


@functools.cache
def stamp(own: Path, *facts: str) -> str:
    """Give a checksum of the package's compiled sources, of a kernel's own folder, and of facts.

    Parameters
    ----------
    own
        The folder that the kernel is in; one outside of the package counts with all its files.
    facts
        What else the code depends on.
    """
    files = [file for name in COMPILED for file in python_files(PACKAGE / name)]
    if PACKAGE not in (own, *own.parents):
        files += sorted(own.glob("*.py"))
    digest = hashlib.sha256("\n".join(facts).encode())
    for path in files:
        with suppress(OSError):  # not ours, and not for us to read
            digest.update(f"\n{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def python_files(path: Path) -> list[Path]:
    """List a file, or the files of a folder and those below."""
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


@contextmanager
def keeping(function: Callable[..., object], *facts: str) -> Iterator[Path | None]:
    """Let numba keep in the right folder what is declared within, and give that folder, if any.

    numba looks where its cache is when a function is declared, not when it is compiled.
    """
    from numba import config

    settings = cast(Any, config)  # without types
    before = settings.CACHE_DIR
    name = PREFIX + stamp(Path(inspect.getfile(function)).resolve().parent, *facts)
    folder = None if _given_up or _paused else find_folder(name, before or None)
    try:
        settings.CACHE_DIR = before if folder is None else str(folder)
        yield folder
    finally:
        settings.CACHE_DIR = before


@functools.cache
def find_folder(name: str, wanted: str | None) -> Path | None:
    """Make a folder of this name where one can be written to; warn if there is no such place."""
    reasons = []
    for base in [Path(wanted)] if wanted else usual_places():
        folder = base / name
        try:
            new = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            os.utime(folder)  # it is used
        except OSError as error:
            reasons.append(f"{base}: {error.strerror}")
            continue
        if new:
            remove_oldest(base)
        return folder
    warn_of_none("; ".join(reasons))
    return None


@contextmanager
def alone(folder: Path, function: Callable[..., object]) -> Iterator[None]:
    """Be the only process that compiles a kernel, or wait for the one that does, but not for ever.

    Whoever waited finds it in the cache. Where files cannot be locked, nobody waits.
    """
    with ExitStack() as held:
        with suppress(OSError):
            name = f"{function.__module__}.{function.__qualname__}.lock"
            file = held.enter_context((folder / name).open("ab"))
            for _ in range(round(PATIENCE / LOOK)):
                if not is_held(file):
                    break
                time.sleep(LOOK)
        yield


def usual_places() -> list[Path]:
    """List where compiled code is kept unless the user says where: here, or with other caches."""
    places = [PACKAGE / "__pycache__"]
    caches = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    if caches:
        return [*places, Path(caches) / "coterie"]
    with suppress(RuntimeError):  # there is no home
        places.append(Path.home() / ".cache" / "coterie")
    return places


def remove_oldest(base: Path) -> None:
    """Keep only the folders that were used last."""
    with suppress(OSError):  # another process may be removing them
        folders = sorted(base.glob(f"{PREFIX}*"), key=lambda path: path.stat().st_mtime)
        for old in folders[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)


def remove(folder: Path, error: Exception) -> None:
    """Remove compiled code that is damaged, and say so."""
    shutil.rmtree(folder, ignore_errors=True)
    warn(
        f"compiled code kept in {folder} is damaged ({type(error).__name__}: {error}); it is"
        " removed and compiled again"
    )


@contextmanager
def paused() -> Iterator[None]:
    """Neither look for nor keep anything within."""
    _paused.append(True)
    try:
        yield
    finally:
        _paused.pop()


def give_up(error: OSError) -> None:
    """Keep nothing from now on, and say so once."""
    if not _given_up:
        _given_up.append(error)
        warn_of_none(str(error))


def warn_of_none(reason: str) -> None:
    """Say that nothing is kept."""
    warn(
        f"compiled code cannot be kept, so that every run has to compile again ({reason});"
        " set NUMBA_CACHE_DIR to a folder that can be written to"
    )


def warn(message: str) -> None:
    """Say what makes work slow."""
    warnings.warn(message, CompilationWarning, stacklevel=2)
