"""Names in a picture: as the user wrote them, whatever matplotlib would make of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from coterie.words.names import UNSEEN
from coterie.words.visible import shorten

LEAST_POINTS = 4.5
"""Text smaller than this is left out."""
LETTER = 0.65
"""Width of a letter, as a share of the font size; roughly, and rather too much."""
LONGEST = 16
"""Characters of a name that are shown."""
LINE = 40
"""Characters of a title or a label that are shown."""

TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "$%#&_"},
}
"""How TeX writes what it would otherwise obey."""


def literal(name: object, longest: int = LONGEST) -> str:
    r"""Give a name on one line, shortened, with signs that start mathematics made harmless.

    Examples
    --------
    >>> print(literal("$5 or $6"))
    \$5 or \$6
    >>> literal("far too long a name")
    'far too lo… name'
    >>> literal("\u200b")
    'U+200B'
    """
    from matplotlib import rcParams

    text = " ".join(str(name).split())
    if not text:
        text = ascii(str(name))
    elif not any(unicodedata.category(sign)[0] in "LNPS" for sign in text):
        text = " ".join(f"U+{ord(sign):04X}" for sign in text)  # nothing of it can be seen
    text = UNSEEN.sub("\N{REPLACEMENT CHARACTER}", shorten(text, longest))
    if rcParams["text.usetex"]:
        return "".join(TEX.get(sign, sign) for sign in text)
    return text.replace("$", r"\$")


def literals(names: Iterable[object]) -> list[str]:
    """Give :func:`literal` of each name."""
    return [literal(name) for name in names]
