"""How the parts of a sweep are compiled to be measured alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Part = Callable[[int], object]
"""Does a part of a sweep this often."""


def compiled(function: Callable[..., Any]) -> Any:
    """As the kernels are, without the cache on disk: it does not see edits in other files."""
    return numba.njit(nogil=True, error_model="numpy")(function)
