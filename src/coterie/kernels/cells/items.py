"""One item is taken out of its cell, weighed, and put back; all of them, one after the other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.present import find_labels, is_quick, weigh_present
from coterie.kernels.cells.rows import (
    TINY_PRODUCT,
    Rows,
    Work,
    add_shapes,
    count_labels,
    log_labels,
    note_labels,
    weigh_apart,
    weigh_together,
)
from coterie.kernels.cells.space import Chosen, Space, cell_prior, choose, log_cell_prior
from coterie.kernels.cells.tally import tally_cells
from coterie.kernels.record import Tally
from coterie.numeric.choice import normalise, pick, scale_to_one
from coterie.numeric.jit import kernel, part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class View(NamedTuple):
    """A model's items and counts, as the update of cells sees them."""

    truth: IntArray  # (items,)     the class of the cell; gold, or -1, where there is none
    cell: IntArray  # (items,)     -1 for items without labels
    known: IntArray  # (items,)     the kind where it is known, else -1; empty if nowhere
    class_total: NDArray[np.int64]  # (classes,)   items of each class, gold without labels too
    chosen: Chosen
    space: Space
    rows: Rows


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


@kernel
def count_items(view: View, data: Codes) -> None:
    """Count everything afresh from truth and cell; the view's counts must be zero."""
    for i in range(len(view.truth)):
        if view.cell[i] >= 0:
            put_in(i, view.cell[i], view, data)
        elif view.truth[i] >= 0:
            f = first_allowed(i, view, data)
            choose(f, 1, True, view.chosen, view.space)
            view.class_total[view.truth[i]] += 1


@piece
def first_allowed(i: int, view: View, data: Codes) -> int:
    """Give the first cell that item i may sit in."""
    f = 0
    while not is_allowed(i, f, view, data):
        f += 1
    return f


@piece
def is_allowed(i: int, f: int, view: View, data: Codes) -> bool:
    """Say whether item i may sit in cell f, by what is known of its class and its kind."""
    if data.gold[i] >= 0 and data.gold[i] != view.space.class_of[f]:
        return False
    kind = view.known[i] if len(view.known) > 0 else -1
    return bool(kind < 0 or kind == view.space.kind_of[f])


@piece
def is_settled(i: int, view: View, data: Codes) -> bool:
    """Say whether only one cell is allowed: the item then needs no random number."""
    n_cells, n_allowed = len(view.space.class_of), 0
    if data.gold[i] < 0 and len(view.known) == 0:
        return bool(n_cells == 1)
    for f in range(n_cells):
        n_allowed += is_allowed(i, f, view, data)
    return n_allowed == 1


@piece
def take_out(i: int, view: View, data: Codes) -> None:
    """Take item i out of all counts."""
    count_item(view.cell[i], -1, view)
    count_labels(i, view.cell[i], -1, view.rows, data)


@piece
def count_item(f: int, sign: int, view: View) -> None:
    """Count an item, without its labels, in cell f, or take it out."""
    view.class_total[view.space.class_of[f]] += sign
    choose(f, sign, False, view.chosen, view.space)


@piece
def put_in(i: int, f: int, view: View, data: Codes) -> None:
    """Count item i in cell f."""
    sit_down(i, f, view)
    count_labels(i, f, 1, view.rows, data)


@piece
def sit_down(i: int, f: int, view: View) -> None:
    """Count item i in cell f, without its labels."""
    t = view.space.class_of[f]
    view.cell[i] = f
    view.truth[i] = t
    count_item(f, 1, view)


@piece
def weigh_cells(i: int, view: View, data: Codes, work: Work) -> bool:
    """Write the weights of the cells of item i, which is taken out; False: logs are needed.

    ``work`` is up to date with the counts.
    """
    in_range = True
    for f in range(len(work.weights)):
        work.weights[f] = 0.0
        if is_allowed(i, f, view, data):
            if work.apart[f] and not work.repeated[i]:
                weight = weigh_apart(i, f, view.rows, data, work)
            else:
                weight = weigh_together(i, f, view.rows, data)
            prior = cell_prior(f, view.chosen, view.space)
            in_range = in_range and weight > 0 and prior > TINY_PRODUCT
            work.weights[f] = prior * weight
    return in_range


@part
def weigh_in_logs(i: int, view: View, data: Codes, work: Work) -> None:
    """Write their log weights: never wrong, and slow."""
    for f in range(len(work.weights)):
        work.weights[f] = -math.inf
        if is_allowed(i, f, view, data):
            prior = log_cell_prior(f, view.chosen, view.space)
            work.weights[f] = prior + log_labels(i, f, view.rows, data)


@piece
def weigh_cells_present(i: int, view: View, data: Codes, work: Work) -> bool:
    """Do so while the labels of item i are counted, but not the item itself."""
    find_labels(i, view.rows, data, work)
    free, in_range = data.gold[i] < 0 and len(view.known) == 0, True
    for f in range(len(work.weights)):
        work.weights[f] = 0.0
        if free or is_allowed(i, f, view, data):
            weight = weigh_present(i, f, view.cell[i], view.rows, data, work)
            prior = cell_prior(f, view.chosen, view.space)
            in_range = in_range and weight > 0 and prior > TINY_PRODUCT
            work.weights[f] = prior * weight
    return in_range


@piece
def update_item(i: int, view: View, data: Codes, work: Work, u: float) -> None:
    """Give item i a new cell; the probabilities it was picked from stay in ``work.weights``."""
    if is_quick(i, work):
        old = view.cell[i]
        count_item(old, -1, view)
        done = weigh_cells_present(i, view, data, work)
        new = old
        if done:
            scale_to_one(work.weights)
            new = pick(work.weights, u)
        sit_down(i, new, view)
        if new != old:
            move_labels(i, old, new, view, data, work)
        if done:
            return
    update_taken_out(i, view, data, work, u)


@part
def move_labels(i: int, old: int, new: int, view: View, data: Codes, work: Work) -> None:
    """Count the labels of item i in cell ``new``."""
    count_labels(i, old, -1, view.rows, data)
    count_labels(i, new, 1, view.rows, data)
    note_labels(i, old, view.rows, data, work)
    note_labels(i, new, view.rows, data, work)


@part
def update_taken_out(i: int, view: View, data: Codes, work: Work, u: float) -> None:
    """Do so whatever rows cells share and whoever repeats a label: the item is taken out first."""
    old = view.cell[i]
    take_out(i, view, data)
    note_labels(i, old, view.rows, data, work)
    if weigh_cells(i, view, data, work):
        scale_to_one(work.weights)
    else:
        weigh_in_logs(i, view, data, work)
        normalise(work.weights)
    new = pick(work.weights, u)
    put_in(i, new, view, data)
    note_labels(i, new, view.rows, data, work)


@piece
def weigh_by_prior(i: int, view: View, data: Codes, weights: FloatArray) -> None:
    """Write the probabilities of the cells of item i, whatever its labels say."""
    for f in range(len(weights)):
        weights[f] = -math.inf
        if is_allowed(i, f, view, data):
            weights[f] = log_cell_prior(f, view.chosen, view.space)
    normalise(weights)


@part
def sweep_cells(
    view: View, data: Codes, work: Work, rng: np.random.Generator, tally: Tally
) -> None:
    """Update every item with labels; tally every item's probabilities."""
    tally.sweeps[0] += tally.weight
    add_shapes(view.rows, data, work)
    for i in range(len(view.cell)):
        if view.cell[i] < 0 or is_settled(i, view, data):
            weigh_by_prior(i, view, data, work.weights)
        else:
            update_item(i, view, data, work, rng.random())
        tally_cells(i, work.weights, data.gold[i], view.space, tally)
