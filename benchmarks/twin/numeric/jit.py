"""How every kernel is compiled: cached on disk, without the GIL, with full IEEE arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

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


def _compile(function: F, **options: Any) -> F:
    njit: Any = numba.njit  # typed without the options that piece needs
    compiled: F = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    return compiled
