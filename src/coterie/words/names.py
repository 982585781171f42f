"""Names from the data made safe to show, once: on one line, not too long, nothing that hides."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from coterie.words.visible import shorten, text_of, visible

if TYPE_CHECKING:
    import pandas as pd

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
    return _name(text_of(value), longest)


@functools.lru_cache(2**16)  # a page names the same people and items again and again
def _name(text: str, longest: int) -> Name:
    codes = [f"U+{ord(sign):04X}" for sign in text[:6]]
    blank = (BLANK.match(sign) or unicodedata.category(sign) == "Cf" for sign in text)
    if text.strip() and all(blank):  # a name that leaves no trace; spaces alone are quoted below
        text = " ".join(codes + ["…"] * (len(text) > 6))
    whole, shown = (_one_line(shorten(text, most)) for most in (WHOLE, longest))
    found = Name(shown)
    found.whole = whole
    return found


def _one_line(text: str) -> str:
    text = re.sub(r"[\t\r\n]+", " ", text)
    text = UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if text.strip() else repr(text)


def isolated(value: object) -> str:
    """Write a name for the middle of a sentence: its direction of writing stays its own."""
    text = name(value)
    return text if text.isascii() else f"\u2068{text}\u2069"


ROWS = 5
"""Of each table that a notebook shows."""


def as_html(headline: str, tables: Iterable[pd.DataFrame] = (), lines: Iterable[str] = ()) -> str:
    """Write a headline, sentences and the head of tables as HTML; everything is escaped.

    Examples
    --------
    >>> as_html("<Posterior of IBCC>", lines=["labels settled"])
    '<div><p><b>&lt;Posterior of IBCC&gt;</b></p><p>labels settled</p></div>'
    """
    parts = [f"<p><b>{escape(visible(headline))}</b></p>"]
    parts += [f"<p>{escape(visible(line))}</p>" for line in lines]
    for table in tables:
        parts.append(table.head(ROWS).to_html(index=False, border=0, float_format="{:.3f}".format))
        if len(table) > ROWS:
            parts.append(f"<p>and {len(table) - ROWS:,} more rows</p>")
    return f"<div>{''.join(parts)}</div>"
