"""iBCC with kinds: every annotator has a matrix for every kind. Sampled: z and latent kinds.

k[i] ~ Dirichlet-multinomial(w / K) or known;  Psi[(l, k), t] ~ Dir(beta[t] eta[t]);  Psi and tau,
one for every known kind, are integrated out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.check import check_cells
from coterie.kernels.cells.items import View, count_items, sweep_cells
from coterie.kernels.cells.rows import rows_of
from coterie.kernels.cells.space import Space, log_choices
from coterie.kernels.cells.state import empty_counts, show_cells, starting_cells
from coterie.kernels.cells.tables import Work, new_work
from coterie.kernels.gibbs import ibcc as plain
from coterie.kernels.gibbs.cells import Tables
from coterie.kernels.gibbs.confusion import add_mean, draw_matrix
from coterie.kernels.gibbs.ibcc import log_likelihood
from coterie.kernels.gibbs.kinds.shared import (
    NO_KINDS,
    Kinds,
    Mixing,
    keep_mixture,
    layout_of,
    new_mixing,
    note_kinds,
    pair_share,
    starting_kinds,
    with_kinds,
)
from coterie.kernels.keep import (
    Keep,
    Record,
    Streams,
    draw_is_due,
    finish_draw,
    keep_state,
    matrices_are_due,
)
from coterie.kernels.record import note_classes
from coterie.kernels.shapes import Shapes
from coterie.numeric.jit import kernel, part, piece
from coterie.priors import IBCCPrior

__all__ = [
    "Prior",
    "State",
    "initial_state",
    "layout_of",
    "new_scratch",
    "pack_prior",
    "run_block",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class State(NamedTuple):
    """Where the chain is."""

    truth: IntArray  # (items,)                    z, or -1
    cell: IntArray  # (items,)                    k T + z, or -1 without labels
    class_total: LongArray  # (classes,)                  n[t]
    chosen: LongArray  # (options,)
    chosen_block: LongArray  # (blocks,)
    said: IntArray  # (pairs, answers, classes)   n[(l, k), t, c]
    said_total: IntArray  # (pairs, classes)


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    kinds: Kinds
    space: Space
    shapes: Shapes  # one base: beta, eta
    tables: Tables


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work
    mixing: Mixing


def pack_prior(prior: IBCCPrior, kinds: Kinds = NO_KINDS) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    return Prior(**with_kinds(plain.pack_prior(prior), kinds))


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray | None, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,); latent kinds are drawn evenly."""
    start, cell = starting_cells(truth, starting_kinds(data, prior.kinds, rng), data)
    n_pairs = (len(data.annotator_start) - 1) * prior.kinds.n_kinds
    state = State(truth=start, cell=cell, **empty_counts(n_pairs, prior.space, data))
    count_items(view_of(state, prior), data)
    return state


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the update of cells: a matrix per pair, one base for all."""
    n_pairs = len(state.said)
    pairs = np.arange(n_pairs, dtype=np.int32).reshape(-1, prior.kinds.n_kinds)
    base = np.zeros(n_pairs, np.int32)
    rows = rows_of(state.said, state.said_total, pairs, base, prior.shapes)
    return show_cells(state, prior.space, rows, prior.kinds.known)


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_cells(state, data, prior, view_of)


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    view = view_of(state, prior)
    return Scratch(view, new_work(view.rows, data), new_mixing(data, prior.kinds.n_kinds))


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    trace, (view, work, mixing) = record.trace, scratch
    for sweep in range(len(trace.log_joint)):
        sweep_cells(view, data, work, streams.moves, record.tally)
        trace.log_likelihood[sweep] = log_likelihood(state, prior)
        log_prior = log_choices(view.chosen, view.space)
        trace.log_joint[sweep] = trace.log_likelihood[sweep] + log_prior
        note_classes(sweep, state.class_total, trace)
        note_kinds(sweep, state.chosen, prior.kinds, mixing.totals, trace)
        if draw_is_due(record.keep):
            keep_draw(state, data, prior, streams, record.keep, scratch)


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Keep the present state as a draw: an annotator's matrix is over kinds, by their labels."""
    keep_state(0, state.truth, keep)
    n_kinds = prior.kinds.n_kinds
    for p in range(len(state.said)):
        share = pair_share(p, state.said, n_kinds)
        add_mean(state.said[p], prior.shapes, 0, share, keep.confusion_sum[p // n_kinds])
    if matrices_are_due(keep):
        draw_pairs(state, data, prior, streams, keep.row, scratch.mixing)
        keep_mixture(state.said, state, prior, streams, scratch.mixing, keep)
    finish_draw(keep)


@part
def draw_pairs(
    state: State, data: Codes, prior: Prior, streams: Streams, row: FloatArray, mixing: Mixing
) -> None:
    """Draw the matrix of every pair; those without labels move nobody else's draws."""
    for p in range(len(state.said)):
        l = p // prior.kinds.n_kinds
        said, out = state.said[p], mixing.matrices[p]
        if data.annotator_start[l] < data.annotator_start[l + 1]:
            draw_matrix(said, prior.shapes, 0, streams.draws, row, out)
        else:
            draw_matrix(said, prior.shapes, 0, streams.spare, row, out)
