"""Accuracies with their intervals: of coteries, and of annotators."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from coterie.plots.canvas import (
    COLUMN_INCHES,
    POINTS,
    font_size,
    lay_out,
    legend_beside,
    open_frame,
    room,
)
from coterie.plots.colours import LOOKS, PLAIN, REST, Look, look_of
from coterie.plots.text import LEAST_POINTS, LETTER, LINE, LONGEST, literal, literals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVAL = "accuracy (95 % interval)"
MOST_COTERIES = 20
"""Coteries of a figure that fits a page."""
ROLE_WIDTH = 26
"""Characters of a role on one line."""
ROLE_LINES = 2
"""Lines of a role, at most."""
LEADING = 1.2
"""From line to line, as a multiple of the font size."""
POINT = 4.0
"""Size of a point, in points; smaller where many stand side by side."""
THICK = 1.0
"""Width of an interval, in points."""


def draw_coteries(ax: Axes, table: pd.DataFrame) -> None:
    """Draw the accuracy of each coterie, the largest on top, with its role and size."""
    ax.set_xlabel(literal(INTERVAL, LINE))
    lay_out(ax)
    _, height = room(ax, 1, 1)
    most = max(1, min(MOST_COTERIES, int(height / (LEADING * LEAST_POINTS))))
    left_out = len(table) - most
    table = table.head(most)
    for row, coterie in enumerate(table["coterie"]):
        one, look = table.iloc[[row]], look_of(coterie)
        ax.hlines([row], one["accuracy_low"], one["accuracy_high"], color=look.color, lw=THICK)
        ax.plot(one["accuracy"], [row], look.marker, color=look.color, ms=POINT)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    what = _name_coteries(ax, table, height / len(table))
    what += f", {left_out:,} smaller ones not shown" if left_out > 0 else ""
    letters = max(1, int(height / (LETTER * font_size(ax))))
    ax.set_ylabel(textwrap.fill(what, letters, break_long_words=False))
    open_frame(ax)


def _name_coteries(ax: Axes, table: pd.DataFrame, height: float) -> str:
    """Write role and size of each, on one line if rows of these points are low; say what is."""
    ax.set_yticks(range(len(table)))
    size = float(ax.get_yticklabels()[0].get_fontsize())
    what, names = "coterie", [_caption(one) for _, one in table.iterrows()]
    if LEADING * size * (1 + max(name.count("\n") for name in names)) > height:
        what, names = "coterie (annotators)", [_short(one) for _, one in table.iterrows()]
    ax.set_yticks(range(len(table)), names, fontsize=min(size, height / LEADING))
    return what


def _caption(coterie: pd.Series) -> str:
    """Say on a few lines which coterie, what it does, and how many they are."""
    role = f"{coterie['coterie']}: {coterie['role']}"
    lines = textwrap.wrap(role, ROLE_WIDTH, max_lines=ROLE_LINES, placeholder="…")
    many = f"{coterie['size']:,} annotator{'s' * (coterie['size'] != 1)}"
    return "\n".join(literal(line, LINE) for line in (*lines, many))


def _short(coterie: pd.Series) -> str:
    """Say the same on one line."""
    role = literal(f"{coterie['coterie']}: {coterie['role']}", ROLE_WIDTH)
    return f"{role} ({coterie['size']:,})"


def rank(table: pd.DataFrame) -> pd.DataFrame:
    """Give the annotators with labels, the most accurate first."""
    labelled = table[table["n_labels"] > 0]
    return labelled.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)


def height_of_names(table: pd.DataFrame) -> float:
    """Give the inches that the names under a new figure take, none if they do not fit."""
    size = _name_size(POINTS, 0.75 * COLUMN_INCHES * 72 / max(len(table), 1))
    longest = max((min(len(str(name)), LONGEST) for name in table["annotator"]), default=0)
    return size * LETTER * longest / 72


def draw_annotators(ax: Axes, table: pd.DataFrame) -> None:
    """Draw the accuracy of each annotator in the order of the table, one colour a coterie."""
    width, _ = room(ax, len(table), 1)
    sampled = "accuracy_low" in table
    size = min(POINT, max(1.0, width))
    for look, name, some in _looks(table):
        if sampled:
            low, high = some["accuracy_low"], some["accuracy_high"]
            ax.vlines(some.index, low, high, color=look.color, lw=min(THICK, 0.6 * width))
        ax.plot(some.index, some["accuracy"], look.marker, color=look.color, ms=size, label=name)
    ax.set_xlim(-0.5 - 0.01 * len(table), len(table) - 0.5 + 0.01 * len(table))
    ax.set_ylim(0, 1)
    ax.set_ylabel(literal(INTERVAL, LINE) if sampled else "accuracy")
    _name(ax, table, width)
    open_frame(ax)
    if "coterie" in table:
        legend_beside(ax, "coterie", markerscale=POINT / size)


def _looks(table: pd.DataFrame) -> Iterator[tuple[Look, str, pd.DataFrame]]:
    """Give each coterie's look, name and rows; those without a look of their own together."""
    if "coterie" not in table:
        yield PLAIN, "annotators", table
        return
    coterie = table["coterie"].to_numpy(np.int64)
    for m in np.unique(coterie[coterie <= len(LOOKS)]).tolist():
        yield look_of(m), str(m), table[coterie == m]
    if (coterie > len(LOOKS)).any():
        yield REST, "others", table[coterie > len(LOOKS)]


def _name_size(wish: float, width: float) -> float:
    """Give the font size of names this far apart; 0 if they do not fit."""
    size = min(wish, 0.9 * width)  # turned text is as wide as it is high: a tenth between names
    return size if size >= LEAST_POINTS else 0.0


def _name(ax: Axes, table: pd.DataFrame, width: float) -> None:
    """Write the names under the points if they fit."""
    size = _name_size(font_size(ax), width)
    if size:
        names = literals(table["annotator"])
        ax.set_xticks(range(len(table)), names, rotation=90, fontsize=size)
        ax.set_xlabel("annotator")
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(table):,} annotators, by accuracy")
