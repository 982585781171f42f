"""How every kernel is compiled: cached on disk, without the GIL, with full IEEE arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function with numba; under ``NUMBA_DISABLE_JIT=1`` it stays plain Python."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def piece(function: F) -> F:
    """Compile a small function that numba pastes into the kernels that call it.

    For what inner loops call with large tuples of arrays: passing those costs more than the work.
    """
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
    return cast(F, compiled(function))
