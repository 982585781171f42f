"""What the states of models with cells have in common: how they start, how they are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.items import View
from coterie.kernels.cells.rows import Rows
from coterie.kernels.cells.space import Chosen, Space

IntArray = NDArray[np.int32]

NOWHERE = np.zeros(0, np.int32)
"""Where the kind of an item is known, if it is for none."""


def draw_kinds(data: Codes, n_kinds: int, rng: np.random.Generator) -> IntArray:
    """Draw a kind for every item, shape (N,), evenly.

    Items without labels have the first, and draw nothing: they change nobody's bits.
    """
    labelled = np.diff(data.item_start) > 0
    kind = np.zeros(len(labelled), np.int32)
    if n_kinds > 1:
        kind[labelled] = rng.integers(0, n_kinds, np.count_nonzero(labelled))
    return kind


def starting_cells(truth: IntArray, kind: IntArray, data: Codes) -> tuple[IntArray, IntArray]:
    """Give class and cell of every item: gold clamped, no cell without labels.

    Parameters
    ----------
    truth, kind
        A class and a kind of every item, shape (N,) each; cells are f = k T + t.
    data
        The labels.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> data = encode([0, 1], [0, 0], [0, 1], sizes=(4, 1, 2, 2), gold=[-1, 0, 1, -1])
    >>> starting_cells(np.array([1, 1, 1, 1]), np.array([2, 2, 2, 2]), data)
    (array([ 1,  0,  1, -1], dtype=int32), array([ 5,  4, -1, -1], dtype=int32))
    """
    labelled = np.diff(data.item_start) > 0
    start = np.where(data.gold >= 0, data.gold, np.where(labelled, truth, -1)).astype(np.int32)
    cell = np.where(labelled, kind * data.n_classes + start, -1).astype(np.int32)
    return start, cell


def empty_counts(n_matrices: int, space: Space, data: Codes) -> dict[str, NDArray[Any]]:
    """Give counts of no item, by the names that all these states have for them.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> from coterie.kernels.cells.space import known_space
    >>> counts = empty_counts(5, known_space(np.ones(2), 3), encode([], [], [], sizes=(0, 5, 2, 4)))
    >>> {name: array.shape for name, array in counts.items()}
    {'class_total': (2,), 'chosen': (6,), 'chosen_block': (3,), 'said': (5, 4, 2),
    'said_total': (5, 2)}
    """
    return {
        "class_total": np.zeros(data.n_classes, np.int64),
        "chosen": np.zeros(len(space.weight), np.int64),
        "chosen_block": np.zeros(len(space.block_weight), np.int64),
        "said": np.zeros((n_matrices, data.n_answers, data.n_classes), np.int32),
        "said_total": np.zeros((n_matrices, data.n_classes), np.int32),
    }


def show_cells(state: Any, space: Space, rows: Rows, known: IntArray = NOWHERE) -> View:
    """Show a state, whose arrays are called as in :func:`empty_counts`, to the update of cells."""
    return View(
        truth=state.truth,
        cell=state.cell,
        known=known,
        class_total=state.class_total,
        chosen=Chosen(state.chosen, state.chosen_block),
        space=space,
        rows=rows,
    )
