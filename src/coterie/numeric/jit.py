"""How every kernel is compiled: cached on disk, without the GIL, with full IEEE arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function with numba; under ``NUMBA_DISABLE_JIT=1`` it stays plain Python."""
    return _compile(function)


def piece(function: F) -> F:
    """Compile a small part of an inner loop: pasted into its callers, no reference counting.

    Handing tuples of arrays from function to function costs more than the work in them, most of it
    for counting references; without both, the sweeps are two to three times as fast. In return a
    piece must neither make an array nor return one, nor call anything that returns one.
    """
    return _compile(function, forceinline=True, _nrt=False)


def part(function: F) -> F:
    """Compile a larger part of a kernel, with the bargain of :func:`piece`, but not pasted.

    It is compiled once and called: for what runs once a sweep, or hardly ever.
    """
    return _compile(function, _nrt=False)


def _compile(function: F, **options: Any) -> F:
    njit: Any = numba.njit  # typed without the options that piece needs
    compiled: F = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    return compiled


class _Teller(event.Listener):
    """Tells once that something is being compiled: what the cache holds starts nothing."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, event: Any) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def telling_of_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` once if anything must be compiled, just before it is."""
    teller = _Teller(tell)
    events: Any = event  # without types
    events.register("numba:compile", teller)
    try:
        yield
    finally:
        events.unregister("numba:compile", teller)
