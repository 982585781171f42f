"""Tables by which an item is weighed, up to date with the counts; where its labels are in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.rows import TINY_FACTOR, Rows, first_place
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Places = NDArray[np.uintp]
Flags = NDArray[np.bool_]

MOST_PRIORS = 256
"""Cells whose priors are tabulated at most: the table has as many rows as columns."""


class Ratios(NamedTuple):
    """Ratios in cells in which no two annotators share a row: a look-up a label.

    Label k has in cell ``cell[j]`` the ratio at ``label[k] + offset[j]``; half a table later, with
    one label less, such as the one that is weighed.
    """

    ratio: FloatArray  # (2 * rows * answers,)   (n[r, c] + a[r, c]) / (n[r] + a[r]); or empty
    cell: IntArray  # (cells apart,)
    offset: Places  # (cells apart,)
    label: Places  # (labels,)


class Layers(NamedTuple):
    """Runs of other cells whose rows lie side by side, and where labels are counted in each.

    In cell f of layer j label k is counted ``f - first[j]`` places after ``place[j, k]``.
    """

    first: IntArray  # (layers,)
    end: IntArray  # (layers,)
    place: IntArray  # (layers, labels)   of the answer
    row: IntArray  # (layers, labels)   of the total
    before: FloatArray  # (layers, labels)   the item's labels before this one with row and answer
    before_row: FloatArray  # (layers, labels)   with its row
    seen: IntArray  # (rows * answers,)   zero between items
    seen_row: IntArray  # (rows,)             zero between items
    noted: Flags  # (1,)   all this is written


class Priors(NamedTuple):
    """Probabilities of cells, whatever the labels say."""

    without: FloatArray  # (cells, cells)   of cell f, after all items but one of the row's cell
    fresh: Flags  # (cells,)         the row is up to date


class Work(NamedTuple):
    """Room to weigh one item, and tables."""

    weights: FloatArray  # (cells,)   weights or their logs, then probabilities
    above: FloatArray  # (rows * answers,)   n[r, c] + a[r, c]; zero if it is too small
    below: FloatArray  # (rows,)             n[r] + a[r]
    stays: Flags  # (items,)   it is weighed while it is counted
    fixed: bool  # the row map stays as it is from sweep to sweep
    only_four: bool  # cells: all apart, or the last two and the first two in a layer
    ratios: Ratios
    layers: Layers
    priors: Priors


def new_work(rows: Rows, data: Codes, *, fixed: bool = True) -> Work:
    """Give room to weigh any one item; the row map is ``fixed``, or may change between sweeps.

    An item stays where it is while it is weighed if no two cells share a row, and nobody has
    labelled it twice; any other is taken out.
    """
    spoke = np.diff(data.annotator_start) > 0
    n_cells = rows.row.shape[1]
    by_cell = [np.unique(column) for column in rows.row[spoke].T]
    separate = fixed and len(np.unique(np.concatenate(by_cell))) == sum(map(len, by_cell))
    apart = np.array([separate and len(each) == spoke.sum() for each in by_cell])
    ratios = new_ratios(rows, data, spoke, apart)
    apart[:] = np.isin(np.arange(n_cells), ratios.cell)
    n_priors = n_cells if n_cells <= MOST_PRIORS else 1
    layers = new_layers(rows, data, apart)
    in_pairs = apart.tolist() == [False, False, True, True] and len(layers.first) == 1
    return Work(
        weights=np.zeros(n_cells),
        above=np.zeros(len(rows.said)),
        below=np.zeros(len(rows.said_total)),
        stays=~repeated_items(data) if separate else np.zeros(len(data.gold), bool),
        fixed=fixed,
        only_four=n_cells == 4 and (bool(apart.all()) or in_pairs),
        ratios=ratios,
        layers=layers,
        priors=Priors(np.zeros((n_priors, n_cells)), np.zeros(n_cells, bool)),
    )


def repeated_items(data: Codes) -> Flags:
    """Say which items somebody has labelled more than once, shape (N,)."""
    again = np.diff(data.item_annotator) == 0  # an annotator's labels are neighbours
    item = np.repeat(np.arange(len(data.gold)), np.diff(data.item_start))
    repeated = np.zeros(len(data.gold), bool)
    repeated[item[1:][again & (np.diff(item) == 0)]] = True
    return repeated


def new_ratios(rows: Rows, data: Codes, spoke: Flags, apart: Flags) -> Ratios:
    """Give room for ratios in cells that are ``apart``, unless they lie differently for people."""
    nothing = Ratios(
        np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.uintp), np.zeros(0, np.uintp)
    )
    if not apart.any() or not spoke.any():
        return nothing
    place = rows.place[:, apart].astype(np.int64)
    first = place.min(axis=1)
    steps = (place - first[:, None])[spoke]
    if (steps != steps[0]).any():
        return nothing
    label = first[data.item_annotator] + data.item_answer * np.int64(rows.stride)
    return Ratios(
        ratio=np.zeros(2 * len(rows.said)),
        cell=np.flatnonzero(apart).astype(np.int32),
        offset=steps[0].astype(np.uintp),
        label=label.astype(np.uintp),
    )


def new_layers(rows: Rows, data: Codes, apart: Flags) -> Layers:
    """Give room for the layers of all cells that are not ``apart``."""
    cells = np.flatnonzero(~apart)
    goes_on = [
        f > 0
        and not apart[f - 1]
        and all((np.diff(each[:, f - 1 : f + 1]) == 1).all() for each in (rows.row, rows.place))
        for f in cells
    ]
    first = cells[~np.array(goes_on, bool)]
    end = [
        next((g for g in range(f + 1, len(apart)) if g in first or apart[g]), len(apart))
        for f in first
    ]
    sizes = (len(first), len(data.item_answer))
    return Layers(
        first.astype(np.int32),
        np.array(end, np.int32),
        np.zeros(sizes, np.int32),
        np.zeros(sizes, np.int32),
        np.zeros(sizes),
        np.zeros(sizes),
        np.zeros(len(rows.said), np.int32),
        np.zeros(len(rows.said_total), np.int32),
        np.zeros(1, bool),
    )


@part
def write_tables(rows: Rows, data: Codes, work: Work) -> None:
    """Bring all tables up to date with the counts, before a sweep."""
    for r in range(len(rows.said_total)):
        if rows.shape_row[r] >= 0:
            row, place = np.uintp(r), np.uintp(first_place(r, rows.stride, data.n_answers))
            for c in range(np.uintp(data.n_answers)):
                note_count(row, place, c * np.uintp(rows.stride), rows, work)
            note_ratios(row, place, data.n_answers, rows, work)
    forget_priors(work)
    if not (work.fixed and work.layers.noted[0]):
        work.layers.noted[0] = True
        for j in range(len(work.layers.first)):
            for i in range(len(work.stays)):
                find_labels(i, j, rows, data, work.layers)


@piece
def forget_priors(work: Work) -> None:
    """Say that the priors of cells have changed."""
    for f in range(len(work.priors.fresh)):
        work.priors.fresh[f] = False


@piece
def find_labels(i: int, j: int, rows: Rows, data: Codes, layers: Layers) -> None:
    """Write where item i's labels are counted in layer j, and which before them are there too."""
    f, stride = np.uintp(layers.first[j]), np.uintp(rows.stride)
    place_of, row_of = layers.place[j], layers.row[j]
    before, before_row = layers.before[j], layers.before_row[j]
    for k in range(np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])):
        l, c = np.uintp(data.item_annotator[k]), np.uintp(data.item_answer[k])
        row, place = np.uintp(rows.row[l, f]), np.uintp(rows.place[l, f]) + c * stride
        seen, seen_row = layers.seen[place], layers.seen_row[row]
        layers.seen[place] = seen + 1
        layers.seen_row[row] = seen_row + 1
        row_of[k] = row
        place_of[k] = place
        before[k] = seen
        before_row[k] = seen_row
    for k in range(np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])):
        layers.seen[np.uintp(place_of[k])] = 0
        layers.seen_row[np.uintp(row_of[k])] = 0


@piece
def note_count(r: np.uintp, place: np.uintp, shift: np.uintp, rows: Rows, work: Work) -> None:
    """Bring the tables of layers up to date where the answer ``shift`` of row r is counted."""
    if len(work.layers.first) > 0:
        # Afresh from the integers: a float that is added to and taken from drifts.
        shape = np.uintp(rows.shape_place[r]) + shift
        above = rows.said[place + shift] + rows.shapes.weight[shape]
        work.above[place + shift] = above if above > TINY_FACTOR else 0.0
        work.below[r] = rows.said_total[r] + rows.shapes.strength[np.uintp(rows.shape_row[r])]


@piece
def note_ratios(r: np.uintp, place: np.uintp, n_answers: int, rows: Rows, work: Work) -> None:
    """Bring the ratios of row r, at ``place``, up to date, and those with one label less."""
    ratio, half, stride = work.ratios.ratio, np.uintp(len(rows.said)), np.uintp(rows.stride)
    if len(ratio) == 0:
        return
    total, strength = rows.said_total[r], rows.shapes.strength[np.uintp(rows.shape_row[r])]
    over, over_less = 1 / (total + strength), 1 / (total - 1 + strength) if total > 0 else 0.0
    here, shape = place, np.uintp(rows.shape_place[r])
    for _ in range(n_answers):
        count, weight = rows.said[here], rows.shapes.weight[shape]
        # From the integers: one would not come off where the shape is far below it. Zero is what
        # has no label to take off, and what is too small: it is left to logarithms.
        above, less = count + weight, (count - 1) + weight
        ratio[here] = above * over if above > TINY_FACTOR else 0.0
        ratio[half + here] = less * over_less if less > TINY_FACTOR else 0.0
        here += stride
        shape += stride


@piece
def count_and_note(i: int, f: int, sign: int, rows: Rows, data: Codes, work: Work) -> None:
    """Count all labels of item i under cell f, or take them out, in counts and tables."""
    cell, stride = np.uintp(f), np.uintp(rows.stride)
    for k in range(np.uintp(data.item_start[i]), np.uintp(data.item_start[i + 1])):
        l, shift = np.uintp(data.item_annotator[k]), np.uintp(data.item_answer[k]) * stride
        r, place = np.uintp(rows.row[l, cell]), np.uintp(rows.place[l, cell])
        rows.said[place + shift] += sign
        rows.said_total[r] += sign
        note_count(r, place, shift, rows, work)
        note_ratios(r, place, data.n_answers, rows, work)
