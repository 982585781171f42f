"""A column of times -> numbers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.encoding import Coded
from coterie.data.table import Table
from coterie.errors import DataError
from coterie.words.visible import quoted, text_of

FloatArray = NDArray[np.float64]


def read_times(table: Table, place: int) -> FloatArray:
    """Read a column of times: numbers, or dates as ISO 8601 writes them, in UTC unless they say."""
    (coded,) = table.read([place])
    (blank,) = np.nonzero(coded.codes < 0)
    if len(blank):
        raise DataError(f"{table.rows(blank[:1])} has no time; fill it in, or remove the row")
    values = np.array([_moment(value, table, coded, k) for k, value in enumerate(coded.values)])
    return values.astype(np.float64)[coded.codes]


def _moment(value: Any, table: Table, coded: Coded, k: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        try:
            found = value if isinstance(value, datetime) else datetime.fromisoformat(text_of(value))
        except ValueError:
            (rows,) = np.nonzero(coded.codes == k)
            raise DataError(
                f"the time {quoted(text_of(value))} in {table.rows(rows[:1])} is neither a "
                "number nor a date; write 2026-01-31T12:30:00"
            ) from None
        number = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    if not np.isfinite(number):
        raise DataError(f"the time {quoted(value)} in {table.name} is no finite number")
    return number
