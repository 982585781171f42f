"""Names from the data made safe to show: on one line, not too long, nothing that hides."""

from __future__ import annotations

import re
import unicodedata

from coterie.words.visible import shorten, text_of

LONGEST = 60
"""Characters of a name that are shown; a page of 10,000-character names is no page."""

WHOLE = 300
"""Characters of a name that can be asked for, and that filters search."""

UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff\ufeff"
    r"\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
"""Control characters, halves of surrogate pairs, signs that turn the direction of writing, marks of
byte order and of annotation, and tags: no browser shows them, some break files, and some show
names as what they are not."""

BLANK = re.compile(r"[\s\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0]")
"""Letters and signs that leave an empty place, beside those that only shape what stands by them
(Unicode's format characters, such as the zero-width space); within a name, these are kept."""


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
    text = _spelled(text_of(value))
    whole = _visible(shorten(text, WHOLE))
    shown = Name(_visible(shorten(text, longest)))
    shown.whole = whole
    return shown


def _visible(text: str) -> str:
    text = re.sub(r"[\t\r\n]+", " ", text)
    text = UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if text.strip() else repr(text)


def _spelled(text: str) -> str:
    """Spell out a name that leaves no trace; one of spaces alone is quoted elsewhere."""
    if not text.strip():
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
