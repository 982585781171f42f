"""Names made safe to show, and numbers rounded as people say them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

LONGEST = 60
"""Characters of a name that are shown; a page of 10,000-character names is no page."""

WHOLE = 300
"""Characters of a name that can be asked for, and that filters search."""

TAIL = 20
"""Characters at the end of a long name that are shown: there names differ that begin alike."""

UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, halves of surrogate pairs, and signs that turn the direction of writing: no
browser shows them, some break files, and the last show names as what they are not."""

BLANK = re.compile(r"[\s\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0]")
"""Letters and signs that leave an empty place, beside those that only shape what stands by them
(Unicode's format characters, such as the zero-width space); within a name, these are kept."""

NOTHING = "–"
SPACE = "\N{NO-BREAK SPACE}"


class Name(str):
    """A name as it is shown; ``whole`` is more of it, for those who ask."""

    whole: str


def name(value: object, longest: int = LONGEST) -> Name:
    r"""Write a name from the data: on one line, not too long, nothing that cannot be shown.

    Escaping is the template's work, this is not it.

    Examples
    --------
    >>> name(7), name("two\nlines"), name("  ")
    ('7', 'two lines', "'  '")
    >>> name("\u200b\u2060"), name("a\u200bb") == "a\u200bb"
    ('U+200B U+2060', True)
    >>> long = name(f"https://example.org/{'x' * 99}/1.jpg")
    >>> long, len(long.whole)
    ('https://example.org/xxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxx/1.jpg', 125)
    """
    text = _spelled(str(value))
    whole = _visible(shorten(text, WHOLE))
    shown = Name(_visible(shorten(text, longest)))
    shown.whole = whole
    return shown


def shorten(text: str, longest: int) -> str:
    """Take away the middle of what is too long, and keep both ends.

    Examples
    --------
    >>> shorten("abcdefghijklmnopqrstuvwxyz", 10)
    'abcdef…xyz'
    """
    if len(text) <= longest:
        return text
    tail = min(TAIL, longest // 3)
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


def _visible(text: str) -> str:
    text = re.sub(r"[\t\r\n]+", " ", text)
    text = UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if text.strip() else repr(text)


def _spelled(text: str) -> str:
    """Spell out a name that leaves no trace; one of spaces alone is quoted elsewhere."""
    if not text.strip() or UNSEEN.search(text):
        return text
    if not all(BLANK.match(sign) or unicodedata.category(sign) == "Cf" for sign in text):
        return text
    codes = [f"U+{ord(sign):04X}" for sign in text[:6]]
    return " ".join(codes + ["…"] * (len(text) > 6))


def isolated(value: object) -> str:
    """Write a name for the middle of a sentence: its direction of writing stays its own.

    Examples
    --------
    >>> isolated("ann"), isolated("דנה") == "\u2068דנה\u2069"
    ('ann', True)
    """
    text = name(value)
    return text if text.isascii() else f"\u2068{text}\u2069"


def percent(share: float | None) -> str:
    """Write a share in whole percent; what is not quite all or nothing is never called so.

    Examples
    --------
    >>> [percent(x).replace(SPACE, " ") for x in (0.934, 0.9996, 0.001, 1)]
    ['93 %', '>99 %', '<1 %', '100 %']
    """
    return NOTHING if share is None or math.isnan(share) else f"{hundredths(share)}{SPACE}%"


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


def span(low: float | None, high: float | None) -> str:
    """Write an interval of shares in percent: 90–95 %.

    Examples
    --------
    >>> shown = span(0.904, 0.95), span(0.698, 0.7021), span(0.7, 0.7), span(None, None)
    >>> [word.replace(SPACE, " ") for word in shown]
    ['90–95 %', '69.8–70.2 %', '70 %', '–']
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return NOTHING
    for digits in (0, 1):
        ends = f"{100 * low:.{digits}f}", f"{100 * high:.{digits}f}"
        if ends[0] != ends[1]:
            return f"{'–'.join(ends)}{SPACE}%"
    return f"{100 * low:.0f}{SPACE}%"


def around(low: float | None, high: float | None) -> str:
    """Write an interval beside its middle: nothing if it is no wider than what is shown there.

    Examples
    --------
    >>> around(0.9, 0.95).replace(SPACE, " "), around(0.7, 0.7), around(None, None)
    ('90–95 %', '', '')
    """
    text = span(low, high)
    return text if NOTHING in text[1:] else ""


def exact(number: float | None) -> str:
    """Write a number so that none of it is lost, for sorting; nothing if there is none.

    Examples
    --------
    >>> exact(2 / 3), exact(None)
    ('0.6666666666666666', '')
    """
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
        return "∞" if number > 0 else "−∞"
    text = f"{number:,.{digits}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "−")


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


def count(number: int, one: str, many: str | None = None) -> str:
    """Write a number of things.

    Examples
    --------
    >>> count(1, "item"), count(1200, "item"), count(2, "class", "classes")
    ('1 item', '1,200 items', '2 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(words: Sequence[str], most: int = 4) -> str:
    """Write a few words as a list; the rest are counted.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdef"), 3)
    ('a', 'a, b and c', 'a, b, c and 3 more')
    """
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most:,} more"
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
