"""A sum of money shared to the cent."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.assign.checks import is_number
from coterie.errors import DataError

FloatArray = NDArray[np.float64]


def share_out(pay: float, weights: FloatArray) -> FloatArray:
    """Share a sum by weights, to the cent: what is rounded off goes to the largest remainders.

    Shares are never negative and add up to the sum. Of equal remainders the largest weight comes
    first; if there are no weights at all, everybody has the same.

    Parameters
    ----------
    pay
        The sum, rounded to the cent.
    weights
        At least 0, shape (people,).

    Examples
    --------
    >>> share_out(100, np.array([1.0, 1.0, 1.0])).tolist()
    [33.34, 33.33, 33.33]
    >>> share_out(0.05, np.array([0.0, 3.0, 1.0])).tolist()
    [0.0, 0.04, 0.01]
    """
    if not is_number(pay) or not 0 <= pay < 1e13:
        raise DataError(f"pay must be a sum of at least 0, got {pay!r}", argument="pay")
    cents = round(float(pay) * 100)
    if len(weights) == 0:
        return np.zeros(0)
    total = math.fsum(weights)
    if total <= 0:
        weights, total = np.ones(len(weights)), float(len(weights))
    exact = np.asarray(weights, np.float64) / total * cents
    whole = np.floor(exact + 1e-9)
    left = cents - int(whole.sum())
    rest = np.round(exact - whole, 9)  # below that, remainders differ by rounding only
    order = np.lexsort((-np.asarray(weights), -rest))
    whole[order[: max(left, 0)]] += 1
    return np.asarray(whole / 100)
