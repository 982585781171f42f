"""One item is weighed and moved to another cell; all of them, one after the other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.products import multiply_all, multiply_only_four
from coterie.kernels.cells.rows import (
    TINY_PRODUCT,
    Rows,
    count_labels,
    log_labels,
    weigh_together,
)
from coterie.kernels.cells.space import Chosen, Space, cell_prior, choose, log_cell_prior
from coterie.kernels.cells.tables import Work, count_and_note, forget_priors, write_tables
from coterie.kernels.cells.tally import tally_cell, tally_cells
from coterie.kernels.record import Tally
from coterie.numeric.choice import normalise, pick_scaled
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
def weigh_cells(i: int, own: int, view: View, data: Codes, work: Work) -> float:
    """Write the weights of the cells of item i by the tables; give their sum, or 0: logs needed.

    The item is counted in cell ``view.cell[i]``; its labels in cell ``own``, or nowhere: -1.
    """
    prior = work.priors.without[prior_row(view.cell[i], view, work)]
    multiply_all(i, own, prior, view.rows, data, work)
    return add_weights(i, view, data, work)


@piece
def add_weights(i: int, view: View, data: Codes, work: Work) -> float:
    """Give the sum of the weights of cells that item i may sit in, or 0 if one is too small."""
    total, least = 0.0, 1.0
    free = data.gold[i] < 0 and len(view.known) == 0
    for f in range(len(work.weights)):
        if free or is_allowed(i, f, view, data):
            total += work.weights[f]
            least = min(least, work.weights[f])
        else:
            work.weights[f] = 0.0
    return total if least > TINY_PRODUCT else 0.0


@piece
def prior_row(f: int, view: View, work: Work) -> int:
    """Give the row of the table of priors that leaves out an item of cell f, up to date."""
    row = f if len(work.priors.without) > 1 else 0
    if not work.priors.fresh[f]:
        write_priors(f, row, view, work)
    return row


@part
def write_priors(f: int, row: int, view: View, work: Work) -> None:
    """Write the row."""
    count_item(f, -1, view)
    for g in range(len(work.weights)):
        work.priors.without[row, g] = cell_prior(g, view.chosen, view.space)
    count_item(f, 1, view)
    work.priors.fresh[f] = len(work.priors.without) == len(work.weights)


@part
def weigh_together_all(i: int, view: View, data: Codes, work: Work) -> float:
    """Do as :func:`weigh_cells` for an item whose labels are taken out, without tables."""
    prior = work.priors.without[prior_row(view.cell[i], view, work)]
    for f in range(len(work.weights)):
        if is_allowed(i, f, view, data):
            work.weights[f] = prior[f] * weigh_together(i, f, view.rows, data)
    return add_weights(i, view, data, work)


@part
def weigh_in_logs(i: int, view: View, data: Codes, work: Work) -> None:
    """Write log weights, the labels of item i taken out: never wrong, and slow."""
    count_item(view.cell[i], -1, view)
    for f in range(len(work.weights)):
        work.weights[f] = -math.inf
        if is_allowed(i, f, view, data):
            prior = log_cell_prior(f, view.chosen, view.space)
            work.weights[f] = prior + log_labels(i, f, view.rows, data)
    count_item(view.cell[i], 1, view)


@piece
def update_item_of_four(
    i: int, view: View, data: Codes, work: Work, u: float, tally: Tally
) -> None:
    """Update item i and tally it where there are four cells, any allowed: two classes, two kinds.

    The same arithmetic as in :func:`update_item`, but what an item weighs is not written.
    """
    own, space = view.cell[i], view.space
    prior = work.priors.without[prior_row(own, view, work)]
    first, second, third, fourth = multiply_only_four(i, own, prior, view.rows, data, work)
    if not min(first, second, third, fourth) > TINY_PRODUCT:
        update_taken_out(i, view, data, work, u)
        tally_cells(i, work.weights, -1, space, tally)
        return
    scale = 1 / (first + second + third + fourth)
    first, second, third, fourth = first * scale, second * scale, third * scale, fourth * scale
    tally_cell(i, 0, tally.weight * first, True, space, tally)
    tally_cell(i, 1, tally.weight * second, True, space, tally)
    tally_cell(i, 2, tally.weight * third, True, space, tally)
    tally_cell(i, 3, tally.weight * fourth, True, space, tally)
    u -= first
    new = int(u >= 0)
    u -= second
    new += u >= 0
    new += u - third >= 0
    if new != own:
        count_and_note(i, own, -1, view.rows, data, work)
        count_and_note(i, new, 1, view.rows, data, work)
        move_item(i, new, view, work)


@piece
def update_item(i: int, view: View, data: Codes, work: Work, u: float) -> None:
    """Give item i a new cell; the probabilities it was picked from stay in ``work.weights``.

    Most items keep their cell: where that can be, nothing is written until one moves.
    """
    total = weigh_cells(i, view.cell[i], view, data, work) if work.stays[i] else 0.0
    if total > 0:
        new = pick_scaled(work.weights, 1 / total, u)
        if new != view.cell[i]:
            count_and_note(i, view.cell[i], -1, view.rows, data, work)
            count_and_note(i, new, 1, view.rows, data, work)
            move_item(i, new, view, work)
    else:
        update_taken_out(i, view, data, work, u)


@part
def update_taken_out(i: int, view: View, data: Codes, work: Work, u: float) -> None:
    """Do so whatever rows cells share and whoever repeats a label: they are taken out first."""
    count_and_note(i, view.cell[i], -1, view.rows, data, work)
    if len(work.ratios.cell) > 0:
        total = weigh_together_all(i, view, data, work)
    else:
        total = weigh_cells(i, -1, view, data, work)
    if not total > 0:
        weigh_in_logs(i, view, data, work)
        normalise(work.weights)
        total = 1.0
    new = pick_scaled(work.weights, 1 / total, u)
    count_and_note(i, new, 1, view.rows, data, work)
    if new != view.cell[i]:
        move_item(i, new, view, work)


@piece
def move_item(i: int, new: int, view: View, work: Work) -> None:
    """Count item i, without its labels, in cell ``new``."""
    count_item(view.cell[i], -1, view)
    sit_down(i, new, view)
    forget_priors(work)


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
    write_tables(view.rows, data, work)
    only_four = work.only_four and len(view.known) == 0
    for i in range(len(view.cell)):
        if only_four and work.stays[i] and data.gold[i] < 0 and view.cell[i] >= 0:
            update_item_of_four(i, view, data, work, rng.random(), tally)
            continue
        if view.cell[i] < 0 or is_settled(i, view, data):
            weigh_by_prior(i, view, data, work.weights)
        else:
            update_item(i, view, data, work, rng.random())
        tally_cells(i, work.weights, data.gold[i], view.space, tally)
