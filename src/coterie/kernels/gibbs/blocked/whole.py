"""All items in one place: what a kernel's ``run_block`` sweeps between its begin and its finish."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.blocked.given import clear_totals
from coterie.kernels.gibbs.blocked.items import (
    Given,
    Items,
    Marks,
    Totals,
    flat_given,
    flat_totals,
    new_given,
    new_totals,
    sweep_part,
)
from coterie.kernels.record import Tally
from coterie.kernels.truth.counts import View
from coterie.kernels.truth.sweep import tally_the_rest
from coterie.numeric.jit import part, piece
from coterie.numeric.keyed import Stream

IntArray = NDArray[np.int32]
WORDS = 2**32


class Whole(NamedTuple):
    """All items, what they are given and counted in."""

    items: Items
    given: Given
    totals: Totals
    marks: Marks
    read: Given  # the same matrices and counts, flat, for the items
    counted: Totals


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    plain: Any  # the collapsed sampler's
    whole: Whole


def new_whole(truth: IntArray, data: Codes) -> Whole:
    """Show the data as items, keyed by their numbers; their truths go to the state's."""
    n_items, sizes = len(data.gold), (len(data.annotator_start) - 1, data.n_classes, data.n_answers)
    cell = np.zeros(len(data.item_answer), np.int32)
    labels = (data.item_start, cell, data.gold, np.full(n_items, -1, np.int32))
    items = Items(np.arange(n_items, dtype=np.uint64), *labels)
    number_cells(items, data)
    marks = Marks(np.zeros(data.n_classes), truth, np.zeros((n_items, data.n_classes)))
    given, totals = new_given(*sizes), new_totals(*sizes)
    return Whole(items, given, totals, marks, flat_given(given), flat_totals(totals))


@part
def number_cells(items: Items, data: Codes) -> None:
    """Give every label its number, of annotator and answer."""
    for k in range(len(data.item_answer)):
        items.item_cell[k] = data.item_annotator[k] * data.n_answers + data.item_answer[k]


@piece
def new_stream(rng: np.random.Generator) -> Stream:
    """Give numbers of one sweep alone."""
    return Stream(int(rng.random() * WORDS), int(rng.random() * WORDS), 0)


@part
def sweep_whole(
    whole: Whole, view: View, data: Codes, rng: np.random.Generator, tally: Tally
) -> None:
    """Draw the truth of every item, count and tally them; the numbers are of this sweep alone."""
    stream = new_stream(rng)
    clear_totals(whole.totals)
    whole.marks.sums[:] = 0.0
    number_cells(whole.items, data)  # tests write other answers to the data
    sweep_part(whole.items, whole.read, stream, whole.counted, whole.marks)
    for i in range(len(data.gold)):
        for t in range(data.n_classes):
            tally.probability[i, t] += tally.weight * whole.marks.sums[i, t]


@part
def tally_others(view: View, data: Codes, tally: Tally) -> None:
    """Tally items whose truth was not drawn, once the state has the counts."""
    tally_the_rest(-1, view, data, tally)
