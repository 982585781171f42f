"""Where a plot is drawn: the caller's axes as they are, or a new figure one column wide."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coterie.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

COLUMN_INCHES = 3.3
"""Width of a new figure, at most: one column of a two-column paper."""
POINTS = 8.0
"""Font size in a new figure."""
DOTS = 200
"""Dots an inch of a new figure, on the screen and in bitmaps."""


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
