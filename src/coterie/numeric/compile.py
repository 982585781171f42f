"""How loops are compiled: by the documented options of numba, once, and kept for the next time.

``jit`` is for what compiled code calls, ``entry`` for what Python calls. A compiled function calls
only compiled functions of its own file, and names no constant of another: numba's cache sees edits
of the file that a function is in, and of no other. What crosses is arrays and numbers.

numba is imported by the first call of an entry. Until then helpers that Python calls run as Python,
and under ``NUMBA_DISABLE_JIT=1`` all do for ever.
"""

from __future__ import annotations

import functools
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from coterie.errors import CompilationWarning

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
COMPILES = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
_helpers: dict[int, list[Callable[..., Any]]] = {}  # by module, until an entry of it is called
_declaring = threading.RLock()
_tellers: list[Callable[[], None]] = []
_warned: list[str] = []


def jit(function: F) -> F:
    """Compile a function with those that call it, from the same file."""
    _helpers.setdefault(id(function.__globals__), []).append(function)
    return function


def entry(function: F) -> F:
    """Compile a function that Python calls, and keep the code where that is possible.

    Where it is not, or what is kept is damaged, it is compiled in memory; one warning says so.
    Where a file has the entry by another name, its compiled code may call the function by its own.
    """
    return cast(F, functools.wraps(function)(Entry(jit(function)))) if COMPILES else function


class Entry:
    """A compiled function, declared when it is first called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.compiled: Any = None

    def __reduce__(self) -> str:
        return self.function.__qualname__  # pickled by name, as functions are

    def __call__(self, *args: Any) -> Any:
        """Run; numba compiles what it does not find, one thread at a time."""
        compiled = self.compiled or self._declared()
        try:
            return compiled(*args)
        except Exception as error:
            from numba import typeof

            # With code for these arguments it has run, unless the code could not be written.
            has_code = tuple(map(typeof, args)) in compiled.signatures
            if has_code and not isinstance(error, OSError):
                raise
            return self._afresh(args, error)

    def _declared(self) -> Any:
        """Hand the function to numba, and before it the helpers of its file.

        From then on their names stand for what is compiled, which entries of the file call.
        """
        from numba import njit

        with _declaring:
            if self.compiled is not None:  # another thread was here
                return self.compiled
            names = self.function.__globals__
            for helper in _helpers.pop(id(names), []):
                if names.get(helper.__name__) is helper:  # and no entry
                    names[helper.__name__] = njit(**OPTIONS)(helper)
            try:
                compiled = njit(cache=True, **OPTIONS)(self.function)
            except RuntimeError as error:  # no folder can be written to
                warn_once(f"cannot be kept, so that every run has to compile again ({error})")
                compiled = _in_memory(self.function)
            if not self._is_kept(compiled):
                while _tellers:
                    _tellers.pop()()
            self.compiled = compiled
            return compiled

    def _is_kept(self, compiled: Any) -> bool:
        """Say whether something was kept since the file was written; ask about a file only once."""
        kept, edited = self._kept(compiled), Path(self.function.__code__.co_filename)
        with suppress(OSError):
            if any(path.stat().st_mtime >= edited.stat().st_mtime for path in kept):
                return True
            for path in kept:  # numba looks at the contents, which may be the same as before
                path.touch()
        return False

    def _kept(self, compiled: Any) -> list[Path]:
        """List what is kept of the function."""
        folder, code = compiled.stats.cache_path, self.function.__code__
        stem = f"{Path(code.co_filename).stem}.{self.function.__qualname__}-"
        found = [] if folder is None else Path(folder).glob("*.nb?")
        return [path for path in found if path.name.startswith(stem)]

    def _afresh(self, args: tuple[Any, ...], error: Exception) -> Any:
        """Compile in memory; if that works, what is kept is to blame, and is removed."""
        afresh = _in_memory(self.function)
        try:
            return afresh(*args)
        finally:
            if afresh.signatures:
                for path in self._kept(self.compiled):
                    with suppress(OSError):
                        path.unlink()
                self.compiled = afresh
                warn_once(f"could not be kept, or was damaged ({error!r}), and is compiled again")


def _in_memory(function: Callable[..., Any]) -> Any:
    from numba import njit

    return njit(**OPTIONS)(function)


def warn_once(what: str) -> None:
    """Say what makes work slow, once in a process."""
    if not _warned:
        _warned.append(what)
        advice = "set NUMBA_CACHE_DIR to a folder that can be written to"
        warnings.warn(CompilationWarning(f"compiled code {what}; {advice}"), stacklevel=2)


@contextmanager
def telling_of_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` once if anything must be compiled within, just before it is."""
    _tellers.append(tell)
    try:
        yield
    finally:
        with suppress(ValueError):
            _tellers.remove(tell)
