"""Matrices of shares as heat maps: confusion, and who sits with whom."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from coterie.errors import CoterieError, DataError
from coterie.numeric import FloatArray, IntArray
from coterie.plots.colours import (
    COLUMN_INCHES,
    DARK,
    LEAST_POINTS,
    LETTER,
    LONGEST,
    POINTS,
    SHADES,
    font_size,
    lay_out,
    literal,
    literals,
    room,
)  # fmt: skip
from coterie.posterior.people import codes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from coterie.posterior import Posterior

MOST_ANNOTATORS = 5_000
"""More rows than a page has dots."""
LEAST_APART = 4.0
"""Points between two lines that the eye still tells apart."""
CELL_INCHES = 0.55
"""Side of a cell where there is room."""
SHORTEST = 8
"""Characters of a name that are shown in a title, whatever the room."""


def matrix_of(
    posterior: Posterior, annotator: Hashable | None, coterie: int | None, k: int | None
) -> tuple[tuple[str, object], pd.DataFrame]:
    """Give a title in two parts and the matrix of an annotator, a coterie, or the crowd."""
    if annotator is not None or coterie is not None:
        title = ("annotator", annotator) if coterie is None else ("coterie", coterie)
        return title, posterior.confusion(annotator, coterie=coterie, k=k)
    a = posterior.annotations
    labelled = a.labels_per_annotator > 0
    mean = posterior.confusion_mean[labelled if labelled.any() else slice(None)].mean(axis=0)
    return ("mean of all", "annotators"), pd.DataFrame(mean, index=a.classes, columns=a.answers)


def size_of_matrix(matrix: pd.DataFrame) -> tuple[float, float]:
    """Give the height and width, in inches, of a figure with room for names and numbers."""
    left, below = (
        min(max(len(str(name)) for name in names), LONGEST) * LETTER * POINTS / 72
        for names in (matrix.index, matrix)
    )
    width = min(max(0.5 + left + CELL_INCHES * matrix.shape[1], 2.0), COLUMN_INCHES)
    cell = min(CELL_INCHES, (width - 0.5 - left) / matrix.shape[1])
    turned = below > cell
    return 0.5 + (below if turned else 0.2) + cell * len(matrix), width


def draw_confusion(ax: Axes, title: tuple[str, object], matrix: pd.DataFrame) -> None:
    """Draw true classes (rows) by given answers (columns), with the numbers if they fit."""
    shares = matrix.to_numpy(np.float64)
    image = _heat(ax, shares)
    _name_cells(ax, literals(matrix.index), literals(matrix.columns))
    ax.set_xlabel("given answer")
    ax.set_ylabel("true class")
    _entitle(ax, *title)
    if not _write_numbers(ax, shares):
        _bar(ax, image, "probability of the answer")


def _entitle(ax: Axes, what: str, name: object) -> None:
    """Write the title on one line, or two, with as much of the name as there is room for."""
    title = ax.set_title(f"{what} {literal(name)}", fontsize=font_size(ax))
    lay_out(ax)
    shorter = (f"{what}\n{literal(name, longest)}" for longest in range(LONGEST, SHORTEST - 1, -1))
    while title.get_window_extent().width > _title_room(ax):
        text = next(shorter, None)
        if text is None:
            return
        title.set_text(text)


def _title_room(ax: Axes) -> float:
    """Give the width, in dots, beyond which a title leaves the figure or touches other axes."""
    if len(ax.figure.axes) > 1:
        return float(ax.bbox.width)
    centre = (ax.bbox.x0 + ax.bbox.x1) / 2
    # Twice the nearer side, because a title is centred, and a little less than touching it.
    return float(1.95 * min(centre - ax.figure.bbox.x0, ax.figure.bbox.x1 - centre))


def _name_cells(ax: Axes, rows: list[str], columns: list[str]) -> None:
    """Name rows and columns: smaller, turned, and not each of them, where there is no room."""
    cell = _cell(ax, len(rows), len(columns))
    size = max(min(font_size(ax), 0.9 * cell), LEAST_POINTS)
    step = math.ceil(size / cell)
    turn = 0 if max(map(len, columns)) * LETTER * size <= cell else 90
    ax.set_xticks(range(0, len(columns), step), columns[::step], rotation=turn, fontsize=size)
    ax.set_yticks(range(0, len(rows), step), rows[::step], fontsize=size)


def draw_cooccurrence(ax: Axes, table: pd.DataFrame, group: IntArray) -> None:
    """Draw who sits with whom, in the order of the table; ``group`` is everybody's coterie."""
    image = _heat(ax, table.to_numpy(np.float64))
    n = len(table)
    ax.set_xlabel("coterie")
    _bar(ax, image, "probability of sharing a coterie")
    size = min(font_size(ax), 0.9 * _cell(ax, n, n))
    if size >= LEAST_POINTS:
        ax.set_yticks(range(n), literals(table.index), fontsize=size)
        ax.set_ylabel("annotator")
        lay_out(ax)  # long names leave less room, for themselves too
        size = min(size, 0.9 * _cell(ax, n, n))
        ax.tick_params(axis="y", labelsize=max(size, LEAST_POINTS))
    if size < LEAST_POINTS:
        ax.set_yticks([])
        ax.set_ylabel(f"{n:,} annotators, by coterie")
        lay_out(ax)
    _part(ax, group)


def _part(ax: Axes, group: IntArray) -> None:
    """Draw lines after the coteries that are large enough for them, and number what fits."""
    cell = _cell(ax, len(group), len(group))
    edges = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]])
    large = int(np.argmin([*(np.diff(edges) * cell >= LEAST_APART), False]))  # up to the first not
    for end in edges[1 : large + 1]:
        if end < len(group):
            ax.axhline(end - 0.5, color=DARK, linewidth=0.6)
            ax.axvline(end - 0.5, color=DARK, linewidth=0.6)
    centres: list[float] = []
    for centre in ((edges[:-1] + edges[1:] - 1)[:large] / 2).tolist():
        if not centres or centre - centres[-1] >= 1.5 * font_size(ax) / cell:
            centres.append(centre)
    ax.set_xticks(centres, [str(group[int(centre)] + 1) for centre in centres])
    n = len(edges) - 1
    if large < n:
        ax.set_xlabel(f"coterie (lines for the first {large:,} of {n:,})")


def order_by_coterie(
    posterior: Posterior, annotators: Sequence[Hashable] | None, k: int | None
) -> tuple[list[Hashable], IntArray]:
    """Give labelled annotators, coterie by coterie, the surest first, and who is in which."""
    point = posterior.partition(k=k)
    everybody = posterior.annotations.annotators
    if annotators is None:
        (codes,) = np.nonzero(point.group >= 0)
    else:
        names = list(annotators)
        if not names:
            raise DataError("no annotators were asked for: annotators is an empty list")
        codes = codes_of(names, everybody)
        codes = codes[point.group[codes] >= 0]
    if len(codes) == 0:
        raise CoterieError("none of these annotators has labels, so that none is in a coterie")
    if len(codes) > MOST_ANNOTATORS:
        raise CoterieError(
            f"{len(codes):,} annotators are more than a picture can show ({MOST_ANNOTATORS:,}); "
            "choose some of them: annotators=[...]"
        )
    order = np.lexsort((-point.membership[codes], point.group[codes]))
    codes = codes[order]
    return list(everybody[codes]), point.group[codes]


def _heat(ax: Axes, shares: FloatArray) -> AxesImage:
    """Draw shares between 0 and 1, the same shade for the same share in every picture."""
    ax.tick_params(length=0)
    return ax.imshow(shares, cmap=SHADES, vmin=0, vmax=1)


def _bar(ax: Axes, image: AxesImage, label: str) -> None:
    # Inside the axes' own space, so that it is as tall as the image whatever the layout.
    place = ax.inset_axes((1.03, 0, 0.05, 1))
    bar = ax.figure.colorbar(image, cax=place, label=label, ticks=[0, 0.5, 1])
    bar.outline.set_visible(False)


def _cell(ax: Axes, rows: int, columns: int) -> float:
    """Give the side of a square cell in points."""
    return min(room(ax, columns, rows))


def _write_numbers(ax: Axes, shares: FloatArray) -> bool:
    """Write each share into its cell; say whether there is room for them."""
    lay_out(ax)
    size = min(font_size(ax), _cell(ax, *shares.shape) / (4.5 * LETTER))
    if size < LEAST_POINTS:
        return False
    for (row, column), share in np.ndenumerate(shares):
        color = "white" if share > 0.7 else "black"
        ax.text(column, row, f"{share:.2f}", ha="center", va="center", color=color, fontsize=size)
    return True
