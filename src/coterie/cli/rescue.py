"""Nothing is lost at the end: what cannot be written is shown, and saved somewhere else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coterie.errors import CoterieError
from coterie.files.paths import reason_of

Save = Callable[[Path], object]
"""Writes what was found to a place that is not there yet."""


@contextmanager
def nothing_lost(show: Callable[[], object], save: Save, name: str, use: str) -> Iterator[None]:
    """If something cannot be written within, show what was found, and save it elsewhere.

    Parameters
    ----------
    show
        Shows the result.
    save
        Saves it.
    name
        The file or folder to save it in.
    use
        What can be done with that, for the sentence: which ... read.
    """
    try:
        yield
    except Exception as error:  # whatever it is, the result must not be lost
        show()
        told = rescue(save, name, use)
        if not isinstance(error, CoterieError | OSError):
            error.add_note(told)
            raise
        raise CoterieError(f"{reason_of(error)}; {told}") from error


def rescue(save: Save, name: str, use: str) -> str:
    """Save a result that cannot be put where it should, and say where it is now."""
    for parent in (tempfile.gettempdir, Path.cwd, Path.home):
        with suppress(Exception):
            path = Path(tempfile.mkdtemp(prefix="coterie-", dir=parent()), name)
            try:
                save(path)
            except BaseException:  # Ctrl-C too: no half of a result is left behind
                shutil.rmtree(path.parent, ignore_errors=True)
                raise
            return f"the result is saved in {path}, which {use}"
    return "the result could not be saved anywhere else either"
