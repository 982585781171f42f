"""How pictures look: colours and shapes, names as the user wrote them, where they are drawn.

People with any colour vision, and black-and-white print, can tell groups apart.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from coterie.errors import DataError, MissingExtraError
from coterie.words.names import UNSEEN
from coterie.words.visible import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

COLUMN_INCHES = 3.3
"""Width of a new figure, at most: one column of a two-column paper."""
POINTS = 8.0
"""Font size in a new figure."""
DOTS = 200
"""Dots an inch of a new figure, on the screen and in bitmaps."""
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


class Look(NamedTuple):
    """How the points of one group look."""

    color: str
    marker: str


SHADES = "Blues"
"""One hue from light to dark, for shares between 0 and 1."""
DARK = "#333333"
"""Lines and points that need no colour."""
PLAIN = Look("#0072B2", "o")
"""Points of a model that finds no groups."""
REST = Look("#999999", "o")
"""Groups beyond those that have a look of their own."""

LOOKS = (
    Look("#0072B2", "o"),
    Look("#D55E00", "s"),
    Look("#009E73", "^"),
    Look("#CC79A7", "D"),
    Look("#E69F00", "v"),
    Look("#56B4E9", "P"),
    Look("#000000", "X"),
)
"""The palette of Okabe and Ito without yellow, which white paper swallows; each with a shape."""


def look_of(coterie: int) -> Look:
    """Give the look of a coterie, counted from one; REST from the eighth on."""
    return LOOKS[coterie - 1] if coterie <= len(LOOKS) else REST


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


@contextmanager
def canvas(ax: Axes | None, height: float, width: float = COLUMN_INCHES) -> Iterator[Axes]:
    """Give the caller's axes, or those of a new figure of this size in inches.

    The new figure's font size holds only while it is drawn: the user's settings are as before.
    """
    try:
        from matplotlib import pyplot, rc_context
        from matplotlib.axes import Axes
    except ImportError:
        raise MissingExtraError("plot", "matplotlib", "plots") from None
    if ax is not None:
        if not isinstance(ax, Axes):
            raise DataError(
                f"ax must be one Axes of matplotlib, got {type(ax).__name__}; "
                "of an array pass axes[0], of a figure figure.add_subplot()"
            )
        yield ax
        return
    # Compressed: images keep their shape, and the plain constrained layout then cuts labels off.
    with rc_context({"font.size": POINTS}):
        figure, ax = pyplot.subplots(figsize=(width, height), dpi=DOTS, layout="compressed")
        try:
            yield ax
        except BaseException:  # Ctrl-C too
            pyplot.close(figure)  # nobody else knows of it
            raise


def room(ax: Axes, columns: int, rows: int) -> tuple[float, float]:
    """Give the width and height, in points, of a cell if the axes are cut into so many.

    Labels and colour bars that are yet to come take some of it, so that this is a little too much.
    """
    inch = ax.figure.dpi
    width, height = 72 * ax.bbox.width / inch, 72 * ax.bbox.height / inch
    return width / max(columns, 1), height / max(rows, 1)


def lay_out(ax: Axes) -> None:
    """Let the figure find room for its labels, so that :func:`room` is what is left."""
    figure = ax.figure.figure  # of a subfigure, the whole
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()


def open_frame(ax: Axes) -> None:
    """Take away the lines above and to the right, which mark nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def font_size(ax: Axes) -> float:
    """Give the size of the axes' labels in points."""
    return float(ax.xaxis.label.get_fontsize())


def legend_beside(ax: Axes, title: str, markerscale: float = 1.0) -> Legend:
    """Put the legend to the right of the axes, where it hides nothing."""
    return ax.legend(
        title=title,
        markerscale=markerscale,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1, 1),
    )
