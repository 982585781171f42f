"""cBCC with kinds: pairs of annotator and kind share matrices. Sampled: z, latent kinds, q, alpha.

q[l, k] ~ CRP(alpha) over all pairs, so that an expert is the same in every kind;
Psi[m, t] ~ Dir(beta[t] eta[t]);  Psi, tau integrated out.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.check import check_cells
from coterie.kernels.cells.items import View, count_items, sweep_cells
from coterie.kernels.cells.rows import Rows, rows_of
from coterie.kernels.cells.space import Space, log_choices
from coterie.kernels.cells.state import empty_counts, show_cells, starting_cells
from coterie.kernels.cells.tables import Work, new_work
from coterie.kernels.gibbs import cbcc as plain
from coterie.kernels.gibbs.cbcc import (
    PROPOSALS,
    Room,
    draw_matrices,
    log_likelihood,
    new_room,
    split_and_merge,
    sweep_groups,
    write_newcomer,
)
from coterie.kernels.gibbs.cbcc import State as Crowd
from coterie.kernels.gibbs.cells import Tables
from coterie.kernels.gibbs.check import check_groups
from coterie.kernels.gibbs.confusion import add_mean
from coterie.kernels.gibbs.groups import (
    Concentration,
    log_partition,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from coterie.kernels.gibbs.kinds.pairs import (
    count_coteries,
    count_own,
    move_own,
    write_people,
)
from coterie.kernels.gibbs.kinds.shared import (
    NO_KINDS,
    Kinds,
    Mixing,
    keep_mixture,
    layout_of,
    new_mixing,
    note_kinds,
    pair_codes,
    pair_share,
    starting_kinds,
    with_kinds,
)
from coterie.kernels.gibbs.piles import Base
from coterie.kernels.gibbs.piles import Room as SplitRoom
from coterie.kernels.gibbs.piles import new_room as new_split_room
from coterie.kernels.gibbs.seats import (
    Seats,
    add_newcomers,
    count_people,
    new_seats,
    seat_everybody,
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
from coterie.priors import CBCCPrior

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
    """Where the chain is. All pairs of annotators with labels are seated, also those without."""

    truth: IntArray  # (items,)                    z, or -1
    cell: IntArray  # (items,)                    k T + z, or -1 without labels
    class_total: LongArray  # (classes,)                  n[t]
    chosen: LongArray  # (options,)
    chosen_block: LongArray  # (blocks,)
    own: IntArray  # (pairs, answers, classes)   n[(l, k), t, c]
    said: IntArray  # (slots, answers, classes)   n[m, t, c]
    said_total: IntArray  # (slots, classes)
    group: IntArray  # (pairs,)                    q, or -1
    size: IntArray  # (slots,)                    pairs in group m
    slot: IntArray  # (slots,)                    the groups, then the free slots
    n_coteries: LongArray  # (1,)                        M
    log_concentration: FloatArray  # (1,)


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    kinds: Kinds
    space: Space
    shapes: Shapes  # one base: beta, eta
    tables: Tables
    split: Base
    concentration: Concentration


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work
    room: Room
    split: SplitRoom
    seats: Seats  # of pairs
    people: Seats  # of annotators
    mixing: Mixing
    was: IntArray  # (items,)   the cells in which ``own`` counts, while a block runs


def pack_prior(prior: CBCCPrior, kinds: Kinds = NO_KINDS) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    return Prior(**with_kinds(plain.pack_prior(prior), kinds))


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping of annotators, shape (L,)."""
    n_kinds = prior.kinds.n_kinds
    start, cell = starting_cells(truth, starting_kinds(data, prior.kinds, rng), data)
    pairs = pair_codes(data, n_kinds)
    seats, size, slot, n_coteries = starting_groups(np.repeat(group, n_kinds), pairs)
    state = State(
        truth=start,
        cell=cell,
        **empty_counts(len(slot), prior.space, data),
        own=np.zeros((len(seats), data.n_answers, data.n_classes), np.int32),
        group=seats,
        size=size,
        slot=slot,
        n_coteries=n_coteries,
        log_concentration=np.array([starting_concentration(prior.concentration, rng)]),
    )
    count_items(view_of(state, prior), data)
    recount_own(state, data, prior)
    return state


@kernel
def recount_own(state: State, data: Codes, prior: Prior) -> None:
    """Count the labels of every pair afresh."""
    count_own(state.cell, prior.kinds.n_kinds, prior.space, data, state.own)


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the update of cells: a matrix per coterie, one base for all."""
    matrix = state.group.reshape(-1, prior.kinds.n_kinds)
    base = np.zeros(len(state.said), np.int32)
    rows = rows_of(state.said, state.said_total, matrix, base, prior.shapes)
    return show_cells(state, prior.space, rows, prior.kinds.known)


@part
def map_groups(state: State, n_kinds: int, rows: Rows) -> None:
    """Write where pairs sit now to the row map."""
    _, n_answers, n_classes = state.said.shape
    for p in range(len(state.group)):
        m, l, first = state.group[p], p // n_kinds, (p % n_kinds) * n_classes
        for t in range(n_classes):
            rows.row[l, first + t] = m * n_classes + t
            rows.place[l, first + t] = m * n_answers * n_classes + t


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_cells(state, data, prior, view_of)
    check_groups(state)
    fresh = state._replace(own=np.zeros_like(state.own))
    recount_own(fresh, data, prior)
    if not np.array_equal(fresh.own, state.own):
        raise ValueError("own does not follow from the state")


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    view, pairs = view_of(state, prior), pair_codes(data, prior.kinds.n_kinds)
    return Scratch(
        view,
        new_work(view.rows, data, fixed=False),
        new_room(cast(Crowd, state), pairs),
        new_split_room(pairs, len(state.slot), PROPOSALS, state.own),
        new_seats(len(state.slot), pairs),
        new_seats(len(state.slot), data),
        new_mixing(data, prior.kinds.n_kinds),
        np.empty_like(state.cell),
    )


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    trace, (view, work, room, split, seats, _, mixing, was) = record.trace, scratch
    log_alpha, moves, n_kinds = state.log_concentration, streams.moves, prior.kinds.n_kinds
    crowd: Any = state  # to cBCC's own updates, pairs are annotators
    base: Any = prior
    was[:] = state.cell  # which a checkpoint may have changed since the last block
    for sweep in range(len(trace.log_joint)):
        map_groups(state, n_kinds, view.rows)
        sweep_cells(view, data, work, moves, record.tally)
        move_own(was, state.cell, n_kinds, data, state.own)
        sweep_groups(crowd, base, room, moves)
        split_and_merge(crowd, base, split, moves)
        update_concentration(log_alpha, state.size, state.n_coteries, prior.concentration, moves)
        log_p_labels = log_likelihood(crowd, base)
        log_p_groups = log_partition(state.size, log_alpha[0], prior.concentration)
        trace.log_likelihood[sweep] = log_p_labels
        trace.log_joint[sweep] = log_p_labels + log_p_groups + log_choices(view.chosen, view.space)
        trace.n_coteries[sweep] = count_coteries(state.group, state.own, seats.noted)
        trace.concentration[sweep] = math.exp(log_alpha[0])
        note_classes(sweep, state.class_total, trace)
        note_kinds(sweep, state.chosen, prior.kinds, mixing.totals, trace)
        if draw_is_due(record.keep):
            keep_draw(state, data, prior, streams, record.keep, scratch)


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Keep the present state as a draw: an annotator's matrix is over kinds, by their labels."""
    seats, mixing, n_kinds = scratch.seats, scratch.mixing, prior.kinds.n_kinds
    keep_state(count_coteries(state.group, state.own, seats.noted), state.truth, keep)
    free = state.slot[state.n_coteries[0] :]
    seat_everybody(state.group, free, state.log_concentration[0], streams.spare, seats)
    write_people(state.own, n_kinds, seats, scratch.people, mixing, keep.partition[keep.used[1]])
    add_pair_means(state, prior, seats, keep.confusion_sum)
    if matrices_are_due(keep):
        crowd: Any = state
        base: Any = prior
        draw_matrices(crowd, base, streams, seats, keep.row, mixing.matrices)
        keep_mixture(state.own, state, prior, streams, mixing, keep)
    finish_draw(keep)


@part
def add_pair_means(state: State, prior: Prior, seats: Seats, out: FloatArray) -> None:
    """Add every annotator's mean confusion matrix given the state, out of shape (L, T, C)."""
    n_kinds = prior.kinds.n_kinds
    for p in range(len(state.group)):
        if state.group[p] >= 0:
            share = pair_share(p, state.own, n_kinds)
            add_mean(state.said[state.group[p]], prior.shapes, 0, share, out[p // n_kinds])
    if count_people(state.group) < len(state.group):
        crowd: Any = state
        base: Any = prior
        write_newcomer(crowd, base, seats)
        add_newcomers(state.group, n_kinds, seats.newcomer, out)
