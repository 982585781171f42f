"""What users give, looked at before it is used."""

from __future__ import annotations

import math

import numpy as np

from coterie.errors import DataError

MOST = 1e100
"""Of what is weighed: sums and products of two are numbers."""
MOST_WHOLE = 2**31 - 1
"""Of what is counted: more than there can be."""


def is_number(value: object) -> bool:
    """Say whether a value is a number; True and False are none.

    Examples
    --------
    >>> [is_number(x) for x in (1, 0.5, True, "1", None)]
    [True, True, False, False, False]
    """
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def at_least_zero(name: str, value: float) -> float:
    """Give a finite number of at least 0, or raise."""
    if not is_number(value) or not 0 <= value <= MOST:
        raise DataError(
            f"{name} must be a number of at least 0, {MOST:g} at most, got {value!r}", argument=name
        )
    return float(value)


def whole(name: str, value: int | None, otherwise: int) -> int:
    """Give a whole number of at least 0, or what is meant where there is none."""
    if value is None:
        return otherwise
    if not is_number(value) or not 0 <= value < math.inf or int(value) != value:
        raise DataError(
            f"{name} must be a whole number of at least 0, got {value!r}", argument=name
        )
    return min(int(value), MOST_WHOLE)
