"""When something was said, as people and platforms write it -> seconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.encoding import Coded
from coterie.data.table import Table
from coterie.errors import DataError
from coterie.words.visible import quoted, text_of

FloatArray = NDArray[np.float64]

_ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6}
_ZONES |= {"CDT": -5, "EST": -5, "EDT": -4, "BST": 1, "CET": 1, "CEST": 2}
_MTURK = re.compile(r"\w{3} (\w{3} \d\d? \d\d:\d\d:\d\d) ([A-Z]{3,4}) (\d{4})")  # Jan 09 .. PST
_MILLISECONDS = 1e11  # seconds beyond the year 5000 are milliseconds


def moment(written: Any) -> float | None:
    """Give seconds since 1970, in UTC unless a zone is named; None if it is no time.

    Examples
    --------
    >>> moment("2017-01-06 20:36:55 UTC") == moment("2017-01-06T20:36:55.000Z")
    True
    >>> moment("Mon Jan 09 14:06:01 PST 2017"), moment(1652787105), moment("1652787105")
    (1483999561.0, 1652787105.0, 1652787105.0)
    >>> moment("3/24/2016 17:57"), moment("3/24/2016 5:57:00 PM"), moment("soon")
    (1458842220.0, 1458842220.0, None)
    """
    if isinstance(written, bool) or written is None:
        return None
    if isinstance(written, (int, float)):
        number = float(written)
        return number / 1000 if abs(number) > _MILLISECONDS else number
    try:
        found = _parsed(str(written).strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _parsed(text: str) -> datetime:
    told = _MTURK.fullmatch(text)
    if told:
        day, zone, year = told.groups()
        if zone not in _ZONES:  # better no time than a wrong one
            raise ValueError(zone)
        place = timezone(timedelta(hours=_ZONES[zone]))
        return datetime.strptime(f"{day} {year}", "%b %d %H:%M:%S %Y").replace(tzinfo=place)
    if re.match(r"\d\d?/\d\d?/\d{4} ", text):  # CrowdFlower: month first
        clock = "%H:%M:%S" if text.count(":") == 2 else "%H:%M"
        clock = clock.replace("%H", "%I") + " %p" if text[-1] in "Mm" else clock
        return datetime.strptime(text, f"%m/%d/%Y {clock}")
    if re.fullmatch(r"\d{9,}(\.\d+)?", text):  # seconds since 1970, written in a table
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment(float(text)) or 0.0)
    return datetime.fromisoformat(text.removesuffix(" UTC"))


def elapsed(start: Any, end: Any) -> float | None:
    """Give the seconds from one time to another; None if either is none.

    Examples
    --------
    >>> elapsed("3/24/2016 17:56:23", "3/24/2016 17:57:02")
    39.0
    """
    begin, finish = moment(start), moment(end)
    return None if begin is None or finish is None else finish - begin


def read_times(table: Table, place: int) -> FloatArray:
    """Read a column of times: numbers, which stay as they are, or dates, as seconds since 1970."""
    (coded,) = table.read([place])
    (blank,) = np.nonzero(coded.codes < 0)
    if len(blank):
        raise DataError(
            f"{table.rows(blank[:1])} has no time",
            argument="time",
            remedy="fill it in, or remove the row",
        )
    values = np.array([_read(value, table, coded, k) for k, value in enumerate(coded.values)])
    return values.astype(np.float64)[coded.codes]


def _read(value: Any, table: Table, coded: Coded, k: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        found = moment(value.isoformat() if isinstance(value, datetime) else text_of(value))
        if found is None:
            (rows,) = np.nonzero(coded.codes == k)
            raise DataError(
                f"the time {quoted(text_of(value))} in {table.rows(rows[:1])} is neither a "
                "number nor a date; write 2026-01-31T12:30:00"
            ) from None
        number = found
    if not np.isfinite(number):
        raise DataError(f"the time {quoted(value)} in {table.name} is no finite number")
    return number
