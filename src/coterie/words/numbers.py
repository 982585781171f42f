"""Numbers and times rounded and written as people say them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

NOTHING = "–"
SPACE = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"

LINE_SECONDS = 10.0
"""In a pipe, a line of progress at most this often."""


def percent(share: float | None) -> str:
    """Write a share in whole percent; what is not quite all or nothing is never called so.

    Examples
    --------
    >>> [percent(x).replace(SPACE, " ") for x in (0.934, 0.9996, 0.001, 1)]
    ['93 %', '>99 %', '<1 %', '100 %']
    """
    return NOTHING if share is None or math.isnan(share) else f"{hundredths(share)}{SPACE}%"


def typed_percent(share: float | None) -> str:
    """Write it with a space as one types it: for terminals, and sentences that go there."""
    return percent(share).replace(SPACE, " ")


def hundredths(share: float | None) -> str:
    """Write a share in percent without the sign: 93, >99, <1, 0."""
    if share is None or math.isnan(share):
        return NOTHING
    if 0 < share < 0.005:
        return "<1"
    return ">99" if 0.995 <= share < 1 - 1e-12 else f"{100 * share:.0f}"


def tenths(share: float | None) -> str:
    """Write a share in percent with one decimal: a score that people compare."""
    return NOTHING if share is None or math.isnan(share) else f"{100 * share:.1f}{SPACE}%"


def in_percent(share: float | None, digits: int = 2) -> str:
    """Write a share in percent, without the sign: a cell of a table that says so."""
    return NOTHING if share is None else f"{100 * share:.{digits}f}"


def span(low: float | None, high: float | None) -> str:
    """Write an interval of shares in percent, 90–95 %, with a decimal where the ends need one."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return NOTHING
    for digits in (0, 1):
        ends = f"{100 * low:.{digits}f}", f"{100 * high:.{digits}f}"
        if ends[0] != ends[1]:
            return f"{'–'.join(ends)}{SPACE}%"
    return f"{100 * low:.0f}{SPACE}%"


def around(low: float | None, high: float | None) -> str:
    """Write an interval beside its middle: nothing if it is no wider than what is shown there."""
    text = span(low, high)
    return text if NOTHING in text[1:] else ""


def exact(number: float | None) -> str:
    """Write a number so that none of it is lost, for sorting; nothing if there is none."""
    return "" if number is None else repr(float(number))


def decimal(number: float | None, digits: int = 2) -> str:
    """Write a number with a true minus sign and separated thousands.

    Examples
    --------
    >>> decimal(-1234.567, 1), decimal(float("inf")), decimal(float("nan"))
    ('−1,234.6', '∞', '–')
    """
    if number is None or math.isnan(number):
        return NOTHING
    if math.isinf(number):
        return "∞" if number > 0 else f"{MINUS}∞"
    text = f"{number:,.{digits}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", MINUS)


def rough(number: float | None) -> str:
    """Write a number to three digits, as one says it.

    Examples
    --------
    >>> rough(6.0), rough(12345.6), rough(0.04567), rough(-1203.4)
    ('6', '12,300', '0.0457', '−1,200')
    """
    if number is None or not math.isfinite(number) or number == 0:
        return "0" if number == 0 else decimal(number)
    digits = 2 - math.floor(math.log10(abs(number)))
    text = decimal(round(number, digits), max(digits, 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(number: float | None, digits: int = 2) -> str:
    """Write a difference with its sign, a true minus sign; what rounds to zero has none."""
    if number is None:
        return NOTHING
    if round(number, digits) == 0:
        return f"{0:.{digits}f}"
    return f"{number:+.{digits}f}".replace("-", MINUS)


def reach(low: float | None, high: float | None, digits: int = 2) -> str:
    """Write an interval of differences."""
    if low is None or high is None:
        return NOTHING
    return f"{signed(low, digits)} to {signed(high, digits)}"


def plus_minus(mean: float, spread: float | None, digits: int = 2) -> str:
    """Write a number with its spread."""
    text = f"{mean:.{digits}f}"
    return text if spread is None else f"{text} ± {spread:.{digits}f}"


def count(number: int, one: str, many: str | None = None) -> str:
    """Write a number of things: 1 item, 1,200 items, 2 classes."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def be(number: float) -> str:
    """Give the verb that goes with a number of things."""
    return "is" if number == 1 else "are"


def listed(words: Sequence[str], most: int = 4) -> str:
    """Write a few words as a list; the rest are counted."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most:,} more"
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def seconds(number: float | None) -> str:
    """Write seconds with as many digits as matter."""
    if number is None:
        return NOTHING
    if number < 0.0005:
        return "<0.001"
    return f"{number:.3f}" if number < 1 else f"{number:.1f}" if number < 100 else f"{number:,.0f}"


def duration(seconds: float) -> str:
    """Write how long something takes."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class Pulse:
    """Says every ten seconds that ten seconds are over: for lines of progress."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """Count from now on: what came before was not the work."""
        self.start = self.last = self._clock()

    def due(self) -> bool:
        """Tell whether the last line was long enough ago; if so, this is one."""
        now = self._clock()
        if now - self.last < LINE_SECONDS:
            return False
        self.last = now
        return True
