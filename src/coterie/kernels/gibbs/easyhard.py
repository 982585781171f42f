"""EasyHardBCC: easy items are answered from one matrix, hard ones from everybody's own.

k[i] ~ Dirichlet-multinomial(w): easy or hard;  Psi0[t] ~ Dir(beta0 eta0[t]) for easy items,
Psi[l, t] ~ Dir(beta[t] eta[t]) for hard ones;  tau ~ Dir(eps mu). Sampled: z and k; the rest is
integrated out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.check import check_cells
from coterie.kernels.cells.items import View, count_items, sweep_cells
from coterie.kernels.cells.rows import rows_of
from coterie.kernels.cells.space import Space, independent_space, log_choices
from coterie.kernels.cells.state import draw_kinds, empty_counts, show_cells, starting_cells
from coterie.kernels.cells.tables import Work, new_work
from coterie.kernels.gibbs.cells import Tables, log_marginal, tables_of
from coterie.kernels.gibbs.confusion import add_mean, draw_matrix
from coterie.kernels.keep import (
    Keep,
    Record,
    Streams,
    draw_is_due,
    finish_draw,
    keep_class_balance,
    keep_state,
    matrices_are_due,
)
from coterie.kernels.layout import Layout, PerDraw, PerItem, PerSweep
from coterie.kernels.record import note_classes
from coterie.kernels.shapes import Shapes, shapes_of
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import kernel, part, piece
from coterie.priors import EasyHardPrior

__all__ = ["Prior", "State", "initial_state", "new_scratch", "pack_prior", "run_block"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]

EASY, HARD = 0, 1


class State(NamedTuple):
    """Where the chain is. Matrix 0 is that of easy items; l + 1 that of annotator l."""

    truth: IntArray  # (items,)                             z, or -1
    cell: IntArray  # (items,)                             k T + z, or -1 without labels
    class_total: LongArray  # (classes,)                           n[t]
    chosen: LongArray  # (classes + 2,)                       n[t], then n[k]
    chosen_block: LongArray  # (2,)
    said: IntArray  # (annotators + 1, answers, classes)   n[m, t, c]
    said_total: IntArray  # (annotators + 1, classes)            n[m, t]


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    space: Space
    both: Shapes  # two bases: easy, hard
    easy: Shapes
    easy_tables: Tables
    hard: Shapes
    hard_tables: Tables


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work
    share: FloatArray  # (2,)   of easy and hard items
    easy: FloatArray  # (classes, answers)   the matrix of easy items, drawn
    own: FloatArray  # (classes, answers)   somebody's own


def pack_prior(prior: EasyHardPrior) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    easy = shapes_of(np.asarray(prior.easy_mean), np.asarray(prior.easy_strength))
    hard = shapes_of(np.asarray(prior.mean), np.asarray(prior.strength))
    both = Shapes._make(np.concatenate(pair) for pair in zip(easy, hard, strict=True))
    class_weight = np.array(prior.class_weights)
    space = independent_space(class_weight, np.array(prior.kind_weights))
    space = space._replace(column=space.kind_of - np.int32(1))  # only hardness is tallied
    return Prior(class_weight, space, both, easy, tables_of(easy), hard, tables_of(hard))


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray | None, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,); which items are hard is drawn evenly."""
    start, cell = starting_cells(truth, draw_kinds(data, 2, rng), data)
    n_matrices = len(data.annotator_start)
    state = State(truth=start, cell=cell, **empty_counts(n_matrices, prior.space, data))
    count_items(view_of(state, prior), data)
    return state


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the update of cells: easy items share matrix 0, hard ones have l + 1."""
    n_matrices = len(state.said)
    matrix = np.zeros((n_matrices - 1, 2), np.int32)
    matrix[:, HARD] = np.arange(1, n_matrices)
    base = np.ones(n_matrices, np.int32)
    base[0] = EASY
    rows = rows_of(state.said, state.said_total, matrix, base, prior.both)
    return show_cells(state, prior.space, rows)


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_cells(state, data, prior, view_of)


def layout_of(data: Codes, prior: Any) -> Layout:
    """Say what is recorded beside what every kernel records."""
    n_annotators = len(data.annotator_start) - 1
    return Layout(
        per_sweep=(PerSweep("n_hard"),),
        per_item=(PerItem("hardness", ("hardness",)),),
        per_draw=(
            PerDraw("hard_share"),
            PerDraw("easy_confusion", (data.n_classes, data.n_answers), ("true", "answer")),
            PerDraw("hard_accuracy", (n_annotators,), ("annotator",)),
        ),
    )


@piece
def log_likelihood(state: State, prior: Prior) -> float:
    """Give log p(Y | z, k), the confusion matrices integrated out."""
    said, total = state.said, state.said_total
    result = log_marginal(0, said, total, prior.easy, prior.easy_tables)
    for m in range(1, len(said)):
        result += log_marginal(m, said, total, prior.hard, prior.hard_tables)
    return result


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    matrix = (data.n_classes, data.n_answers)
    view = view_of(state, prior)
    work = new_work(view.rows, data)
    return Scratch(view, work, np.zeros(2), np.zeros(matrix), np.zeros(matrix))


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    trace, (view, work, _, _, _) = record.trace, scratch
    for sweep in range(len(trace.log_joint)):
        sweep_cells(view, data, work, streams.moves, record.tally)
        trace.log_likelihood[sweep] = log_likelihood(state, prior)
        log_prior = log_choices(view.chosen, view.space)
        trace.log_joint[sweep] = trace.log_likelihood[sweep] + log_prior
        trace.per_sweep[sweep, 0] = state.chosen[data.n_classes + HARD]
        note_classes(sweep, state.class_total, trace)
        if draw_is_due(record.keep):
            keep_draw(state, data, prior, streams, record.keep, scratch)


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Keep the present state as a draw: an annotator's matrix is over easy and hard items."""
    keep_state(0, state.truth, keep)
    share, space = scratch.share, prior.space
    for k in range(2):
        share[k] = state.chosen[data.n_classes + k] + space.weight[data.n_classes + k]
    total = share[EASY] + share[HARD]
    for l in range(len(state.said) - 1):
        add_mean(state.said[0], prior.both, EASY, share[EASY] / total, keep.confusion_sum[l])
        add_mean(state.said[l + 1], prior.both, HARD, share[HARD] / total, keep.confusion_sum[l])
    if matrices_are_due(keep):
        draw_dirichlet(share, streams.draws)
        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)
        draw_matrices(state, data, prior, streams, keep, scratch)
    finish_draw(keep)


@part
def draw_matrices(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Draw the matrix of easy items and everybody's own, and mix them by their shares."""
    out, extra = keep.confusion[keep.used[2]], keep.per_draw[keep.used[2]]
    balance, share, own = keep.class_balance[keep.used[2]], scratch.share, scratch.own
    n_classes, n_answers = own.shape
    draw_matrix(state.said[0], prior.both, EASY, streams.draws, keep.row, scratch.easy)
    extra[0] = share[HARD]
    for t in range(n_classes):
        for c in range(n_answers):
            extra[1 + t * n_answers + c] = scratch.easy[t, c]
    for l in range(len(state.said) - 1):
        said = state.said[l + 1]
        if data.annotator_start[l] < data.annotator_start[l + 1]:
            draw_matrix(said, prior.both, HARD, streams.draws, keep.row, own)
        else:  # those without labels move nobody else's draws
            draw_matrix(said, prior.both, HARD, streams.spare, keep.row, own)
        accuracy = 0.0
        for t in range(n_classes):
            accuracy += balance[t] * own[t, t]
            for c in range(n_answers):
                out[l, t, c] = share[EASY] * scratch.easy[t, c] + share[HARD] * own[t, c]
        extra[1 + n_classes * n_answers + l] = accuracy
