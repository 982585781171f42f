"""Which rows and columns of a confusion matrix a page can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from coterie.posterior import Posterior
from coterie.words.names import Name, name

FloatArray = NDArray[np.float64]

MOST_CLASSES = 12
"""Classes of a matrix that is read at a glance; more are cut to the commonest."""

MOST_EXTRA = 3
"""Extra answers shown where there are too many answers."""

REST = name("other")

CELL, LETTER = 36, 8
"""Pixels that a cell takes at least, and that a letter takes; a Chinese one takes nearly two."""

LEAST_HEAD, MOST_HEAD = 80, 140
"""Pixels of the rows' names, and of the corner above; the style breaks names between these."""

THIRD, HALF = 290, 460
"""Pixels inside of a card of three per line, and of two per line."""


class Axes(NamedTuple):
    """The classes and answers that matrices show."""

    true: NDArray[np.int64]  # (rows,)
    answer: NDArray[np.int64]  # (columns,) the classes shown come first, as in the rows
    rest: bool  # whether a last column holds all other answers
    n_classes: int
    rows: list[Name]
    columns: list[Name]


def axes_of(posterior: Posterior) -> Axes:
    """Choose what matrices show: everything, or the commonest classes of many."""
    a = posterior.annotations
    true = np.arange(a.n_classes)
    if a.n_classes > MOST_CLASSES:
        commonest = np.argsort(-posterior.class_balance, kind="stable")[:MOST_CLASSES]
        true = np.sort(commonest)
    extra = np.arange(a.n_classes, a.n_answers)
    if len(extra) > MOST_EXTRA:
        said = np.bincount(a.codes.item_answer, minlength=a.n_answers)[extra]
        extra = np.sort(extra[np.argsort(-said, kind="stable")[:MOST_EXTRA]])
    answer = np.concatenate([true, extra])
    rest = len(answer) < a.n_answers
    rows = [name(word) for word in a.classes[true].tolist()]
    columns = [name(word) for word in a.answers[answer].tolist()]
    return Axes(true, answer, rest, a.n_classes, rows, [*columns, *[REST] * rest])


def cut(matrices: NDArray[Any], axes: Axes) -> FloatArray:
    """Give the shown part of matrices, (..., classes, answers) to (..., rows, columns)."""
    rows = np.asarray(matrices, np.float64)[..., axes.true, :]
    shown = rows[..., axes.answer]
    if not axes.rest:
        return shown
    others = rows.sum(axis=-1) - shown.sum(axis=-1)
    return np.concatenate([shown, np.clip(others, 0, None)[..., None]], axis=-1)


class Room(NamedTuple):
    """How a matrix is laid out so that all of it is seen."""

    upright: bool  # whether names of columns are written upwards
    card: str  # of a line: third, half or full


def room_of(rows: Sequence[str], columns: Sequence[str], longest_cell: str = "100") -> Room:
    """Choose the layout of a matrix by the space that its names and numbers need.

    Examples
    --------
    >>> room_of(["cat", "dog"], ["cat", "dog"])
    Room(upright=False, card='third')
    >>> long = ["Entertainment & lifestyle", "Politics & government"] * 3
    >>> room_of(long[:5], long[:5]).card, room_of(long, long)
    ('third', Room(upright=True, card='half'))
    """
    head = min(max([LEAST_HEAD, *(_width(word) + 16 for word in rows)]), MOST_HEAD)
    cell = max(CELL, _width(longest_cell) + 12)
    flat = head + sum(max(cell, _width(word) + 18) for word in columns)
    upright = LEAST_HEAD + cell * len(columns)
    turned = flat > THIRD and upright < flat
    needed = upright if turned else flat
    return Room(turned, "third" if needed <= THIRD else "half" if needed <= HALF else "full")


def _width(text: str) -> int:
    return sum(2 * LETTER if east_asian_width(sign) in "WF" else LETTER for sign in text)
