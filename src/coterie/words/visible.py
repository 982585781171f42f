r"""Text from outside made harmless wherever it is printed: nothing in it acts, all of it shows.

A name may hold what a terminal obeys (escape sequences), what ends a line and so forges the next,
and what turns the direction of writing. All of that is written as ``repr`` writes it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable

TAIL = 20
"""Characters at the end of a long name that are shown: there names differ that begin alike."""

QUOTED = 100
"""Characters of a value in the middle of a sentence."""


def text_of(value: object) -> str:
    """Give a value as text, also where Python refuses to write it: a number of many digits.

    Examples
    --------
    >>> text_of(7), text_of(-(10**5000))
    ('7', '<a number of about 5,000 digits>')
    """
    return _safely(str, value)


def quoted(value: object, longest: int = QUOTED) -> str:
    """Write a value as in Python for the middle of a sentence: not too long, whatever it is.

    Examples
    --------
    >>> quoted("ann"), quoted(10**5000), quoted([10**5000]), quoted("a" * 99, 20)
    ("'ann'", '<a number of about 5,000 digits>', '<list>', "'aaaaaaaaaaaa…aaaaa'")
    """
    return shorten(_safely(repr, value), longest)


def _safely(write: Callable[[object], str], value: object) -> str:
    try:
        return write(value)
    except Exception:  # what a class of the user's raises when it is to be written
        if isinstance(value, int):
            return f"<a number of about {round(math.log10(abs(value))):,} digits>"
        return f"<{type(value).__name__}>"


def visible(value: object) -> str:
    r"""Write a value on one line, with all that cannot be seen spelled out, as ``repr`` does.

    Spaces of any width stay as they are.

    Examples
    --------
    >>> print(visible("a\nError: b\x1b[2J"), visible(7))
    a\nError: b\x1b[2J 7
    >>> visible("Łódź 東京") == "Łódź 東京"
    True
    """
    text = text_of(value)
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(sign: str) -> str:
    if sign.isprintable() or unicodedata.category(sign) == "Zs":
        return sign
    return repr(sign)[1:-1]


def shorten(text: str, longest: int, tail: int = TAIL) -> str:
    """Take away the middle of what is too long, and keep both ends."""
    if len(text) <= longest:
        return text
    tail = min(tail, longest // 3)
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"
