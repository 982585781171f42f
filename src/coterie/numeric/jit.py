"""How every kernel is compiled: cached on disk, without the GIL, with full IEEE arithmetic."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.extending import typeof_impl

from coterie.numeric.linked import LinkedCompiler

F = TypeVar("F", bound=Callable[..., object])

int64 = cast(Callable[[Any], int], np.int64)
"""Of one kind, whatever an array holds: a function is compiled for each kind it is called with."""


def kernel(function: F) -> F:
    """Compile a function with numba, when it is called first.

    Under ``NUMBA_DISABLE_JIT=1`` it stays plain Python, and so do the others.
    """
    njit: Any = numba.njit
    options = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: F = njit(**options)(function)
    return compiled


def piece(function: F) -> F:
    """Compile a small part of an inner loop with the kernel that calls it, pasted into it.

    Handing tuples of arrays from function to function costs more than the work in them, most of it
    for counting references; without both, the sweeps are two to three times as fast. In return a
    piece must neither make an array nor return one, nor call anything that returns one.

    Called from Python it runs as Python: the way in would take longer to compile than the piece.
    """
    return _inner(function, forceinline=True)


def part(function: F) -> F:
    """Compile a larger part of a kernel, with the bargain of :func:`piece`, but not pasted.

    It is called: for what runs once a sweep, or hardly ever.
    """
    return _inner(function)


class Inner:
    """What numba compiles into the kernels that call it; called from Python it runs as Python."""

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        functools.update_wrapper(self, function)
        njit: Any = numba.njit  # typed without some of these options
        bare: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        bare["pipeline_class"] = LinkedCompiler
        self.compiled = njit(nogil=True, error_model="numpy", **bare, **options)(function)

    def __call__(self, *args: Any) -> object:
        """Run as Python."""
        return self.__wrapped__(*args)  # type: ignore[attr-defined]


@typeof_impl.register(Inner)
def _typeof_inner(value: Inner, context: object) -> Any:
    return typeof_impl(value.compiled, context)


def _inner(function: F, **options: Any) -> F:
    if cast(Any, numba.config).DISABLE_JIT:
        return function
    inner: Any = Inner(function, **options)
    compiled: F = inner
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
