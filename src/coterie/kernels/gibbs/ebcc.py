"""EBCC: classes have sub-types, and everybody a matrix for each. Sampled: z and the sub-types.

z[i] ~ tau ~ Dir(eps mu);  s[i] ~ pi[z[i]] ~ Dir(a/S, ..., a/S);  Psi[l,s,t] ~ Dir(beta[t] eta[t]);
all but z and s is integrated out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.check import check_cells
from coterie.kernels.cells.items import View, count_items, sweep_cells
from coterie.kernels.cells.rows import rows_of
from coterie.kernels.cells.space import Space, log_choices, nested_space
from coterie.kernels.cells.state import draw_kinds, empty_counts, show_cells, starting_cells
from coterie.kernels.cells.tables import Work, new_work
from coterie.kernels.gibbs.cells import Tables, tables_of
from coterie.kernels.gibbs.confusion import draw_matrix
from coterie.kernels.gibbs.ibcc import log_likelihood
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
from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.record import note_classes
from coterie.kernels.shapes import Shapes, shapes_of
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import kernel, part, piece
from coterie.priors import EBCCPrior

__all__ = ["Prior", "State", "initial_state", "new_scratch", "pack_prior", "run_block"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class State(NamedTuple):
    """Where the chain is. Matrix l S + s is that of annotator l for sub-types s."""

    truth: IntArray  # (items,)                            z, or -1
    cell: IntArray  # (items,)                            s T + z, or -1 without labels
    class_total: LongArray  # (classes,)                          n[t]
    chosen: LongArray  # (classes + cells,)                  n[t], then n[t, s] by cells
    chosen_block: LongArray  # (1 + classes,)
    said: IntArray  # (annotators S, answers, classes)    n[l, s, t, c]
    said_total: IntArray  # (annotators S, classes)             n[l, s, t]


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    space: Space
    shapes: Shapes  # one base: beta, eta
    tables: Tables


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work
    share: FloatArray  # (classes, sub-types)   pi
    one: FloatArray  # (classes, answers)     a matrix


def pack_prior(prior: EBCCPrior) -> Prior:
    """Give a resolved prior, whose class weights are numbers, as the kernel reads it."""
    shapes = shapes_of(np.asarray(prior.mean), np.asarray(prior.strength))
    weight = np.array(prior.class_weights, np.float64)
    space = nested_space(weight, prior.subtypes, prior.subtype_weight)
    return Prior(weight, space, shapes, tables_of(shapes))


def n_subtypes_of(prior: Prior) -> int:
    """Give the number of sub-types of a class."""
    return len(prior.space.class_of) // len(prior.class_weight)


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray | None, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,); sub-types are drawn evenly."""
    n_subtypes, n_annotators = n_subtypes_of(prior), len(data.annotator_start) - 1
    start, cell = starting_cells(truth, draw_kinds(data, n_subtypes, rng), data)
    counts = empty_counts(n_annotators * n_subtypes, prior.space, data)
    state = State(truth=start, cell=cell, **counts)
    count_items(view_of(state, prior), data)
    return state


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the update of cells: a matrix of their own for each sub-type."""
    n_matrices = len(state.said)
    matrix = np.arange(n_matrices, dtype=np.int32).reshape(-1, n_subtypes_of(prior))
    base = np.zeros(n_matrices, np.int32)
    rows = rows_of(state.said, state.said_total, matrix, base, prior.shapes)
    return show_cells(state, prior.space, rows)


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_cells(state, data, prior, view_of)


def layout_of(data: Codes, prior: Any) -> Layout:
    """Record what every kernel records: sub-types permute, so that nothing is kept of them."""
    return PLAIN


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    view = view_of(state, prior)
    share = np.zeros((data.n_classes, n_subtypes_of(prior)))
    one = np.zeros((data.n_classes, data.n_answers))
    return Scratch(view, new_work(view.rows, data), share, one)


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    trace, (view, work, _, _) = record.trace, scratch
    for sweep in range(len(trace.log_joint)):
        sweep_cells(view, data, work, streams.moves, record.tally)
        trace.log_likelihood[sweep] = log_likelihood(state, prior)
        log_prior = log_choices(view.chosen, view.space)
        trace.log_joint[sweep] = trace.log_likelihood[sweep] + log_prior
        note_classes(sweep, state.class_total, trace)
        if draw_is_due(record.keep):
            keep_draw(state, data, prior, streams, record.keep, scratch)


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Keep the present state as a draw: an annotator's matrix is over the sub-types."""
    keep_state(0, state.truth, keep)
    share = scratch.share
    n_classes, n_subtypes = share.shape
    for t in range(n_classes):
        total = 0.0
        for s in range(n_subtypes):
            j = n_classes + s * n_classes + t
            share[t, s] = state.chosen[j] + prior.space.weight[j]
            total += share[t, s]
        for s in range(n_subtypes):
            add_row_mean(s, t, share[t, s] / total, state, prior, keep)
        if matrices_are_due(keep):
            draw_dirichlet(share[t], streams.draws)
    if matrices_are_due(keep):
        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)
        draw_matrices(state, data, prior, streams, keep, scratch)
    finish_draw(keep)


@part
def add_row_mean(s: int, t: int, share: float, state: State, prior: Prior, keep: Keep) -> None:
    """Add everybody's mean row for sub-type s of class t, by its share."""
    n_annotators, _, n_answers = keep.confusion_sum.shape
    n_subtypes = len(state.said) // max(n_annotators, 1)
    for l in range(n_annotators):
        m = l * n_subtypes + s
        total = state.said_total[m, t] + prior.shapes.strength[0, t]
        for c in range(n_answers):
            above = state.said[m, c, t] + prior.shapes.weight[0, c, t]
            keep.confusion_sum[l, t, c] += share * above / total


@part
def draw_matrices(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Draw everybody's matrices, and mix those of the sub-types by their drawn shares."""
    out, share, one = keep.confusion[keep.used[2]], scratch.share, scratch.one
    n_classes, n_subtypes = share.shape
    for l in range(len(out)):
        idle = data.annotator_start[l] == data.annotator_start[l + 1]
        for s in range(n_subtypes):
            said = state.said[l * n_subtypes + s]
            if idle:  # those without labels move nobody else's draws
                draw_matrix(said, prior.shapes, 0, streams.spare, keep.row, one)
            else:
                draw_matrix(said, prior.shapes, 0, streams.draws, keep.row, one)
            for t in range(n_classes):
                for c in range(one.shape[1]):
                    kept = out[l, t, c] if s > 0 else 0.0
                    out[l, t, c] = kept + share[t, s] * one[t, c]
