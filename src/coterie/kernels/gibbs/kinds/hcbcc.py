"""hcBCC with kinds: pairs of annotator and kind resemble one another. Sampled also: beta, eta.

q[l, k] ~ CRP(alpha) over all pairs,  Psi[(l, k), t] ~ Dir(beta[m, t] eta[m, t]) with m = q[l, k];
the rest is as in hcBCC.
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
from coterie.kernels.gibbs.check import check_groups, check_parameters
from coterie.kernels.gibbs.confusion import add_mean
from coterie.kernels.gibbs.groups import (
    Concentration,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from coterie.kernels.gibbs.hcbcc import model as plain
from coterie.kernels.gibbs.hcbcc.draws import draw_own_matrices, open_coteries, write_newcomer
from coterie.kernels.gibbs.hcbcc.members import sweep_parameters
from coterie.kernels.gibbs.hcbcc.model import log_prior, starting_parameters
from coterie.kernels.gibbs.hcbcc.parameters import BasePrior
from coterie.kernels.gibbs.hcbcc.reuse import sweep_groups
from coterie.kernels.gibbs.hcbcc.state import Room, new_room
from coterie.kernels.gibbs.hcbcc.state import State as Crowd
from coterie.kernels.gibbs.kinds.pairs import count_coteries, write_people
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
from coterie.kernels.gibbs.regroup.state import Means
from coterie.kernels.gibbs.seats import Seats, add_newcomers, count_people, new_seats
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
from coterie.priors import HCBCCPrior

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
    said: IntArray  # (pairs, answers, classes)   n[(l, k), t, c]
    said_total: IntArray  # (pairs, classes)
    group: IntArray  # (pairs,)                    q, or -1
    size: IntArray  # (slots,)                    pairs in group m
    slot: IntArray  # (slots,)                    groups, auxiliaries, free slots
    n_coteries: LongArray  # (1,)                        M
    log_concentration: FloatArray  # (1,)
    weight: FloatArray  # (slots, answers, classes)   beta eta
    strength: FloatArray  # (slots, classes)            beta
    log_mean: FloatArray  # (slots, answers, classes)   log eta
    log_strength: FloatArray  # (slots, classes)            log beta


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    kinds: Kinds
    space: Space
    base: BasePrior  # of beta and eta
    split: Means  # the same, as groups are split and merged by
    concentration: Concentration
    auxiliaries: int  # h


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work
    room: Room
    seats: Seats  # of pairs
    people: Seats  # of annotators
    mixing: Mixing


def pack_prior(prior: HCBCCPrior, kinds: Kinds = NO_KINDS) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    return Prior(**with_kinds(plain.pack_prior(prior), kinds))


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping of annotators, shape (L,)."""
    n_kinds = prior.kinds.n_kinds
    start, cell = starting_cells(truth, starting_kinds(data, prior.kinds, rng), data)
    pairs = pair_codes(data, n_kinds)
    seats, size, slot, n_coteries = starting_groups(
        np.repeat(group, n_kinds), pairs, prior.auxiliaries
    )
    log_concentration = np.array([starting_concentration(prior.concentration, rng)])
    parameters = starting_parameters(len(slot), int(n_coteries[0]), prior.base, rng)
    state = State(
        truth=start,
        cell=cell,
        **empty_counts(len(seats), prior.space, data),
        group=seats,
        size=size,
        slot=slot,
        n_coteries=n_coteries,
        log_concentration=log_concentration,
        **parameters._asdict(),
    )
    count_items(view_of(state, prior), data)
    return state


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the update of cells: a matrix per pair, a base per coterie."""
    pairs = np.arange(len(state.said), dtype=np.int32).reshape(-1, prior.kinds.n_kinds)
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    rows = rows_of(state.said, state.said_total, pairs, state.group, shapes)
    return show_cells(state, prior.space, rows, prior.kinds.known)


@part
def map_bases(state: State, rows: Rows) -> None:
    """Write whose shapes the pairs' rows have now."""
    _, n_answers, n_classes = state.said.shape
    for p in range(len(state.group)):
        m = state.group[p]
        for t in range(n_classes):
            rows.shape_row[p * n_classes + t] = m * n_classes + t
            rows.shape_place[p * n_classes + t] = m * n_answers * n_classes + t


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_cells(state, data, prior, view_of)
    check_groups(state)
    check_parameters(state, prior.auxiliaries)


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    view, pairs = view_of(state, prior), pair_codes(data, prior.kinds.n_kinds)
    return Scratch(
        view,
        new_work(view.rows, data),
        new_room(cast(Crowd, state), pairs),
        new_seats(len(state.slot), pairs),
        new_seats(len(state.slot), data),
        new_mixing(data, prior.kinds.n_kinds),
    )


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    trace, (view, work, room, seats, _, mixing) = record.trace, scratch
    log_alpha, moves = state.log_concentration, streams.moves
    crowd: Any = state  # to hcBCC's own updates, pairs are annotators
    base: Any = prior
    for sweep in range(len(trace.log_joint)):
        # beta and eta first: at the start they know nothing of the labels yet.
        sweep_parameters(crowd, base, room, moves)
        map_bases(state, view.rows)
        sweep_cells(view, data, work, moves, record.tally)
        sweep_groups(crowd, base, room, moves)
        update_concentration(log_alpha, state.size, state.n_coteries, prior.concentration, moves)
        log_p_labels, log_p_cells = room.log_likelihood[0], log_choices(view.chosen, view.space)
        trace.log_likelihood[sweep] = log_p_labels
        trace.log_joint[sweep] = log_p_labels + log_prior(crowd, base) + log_p_cells
        trace.n_coteries[sweep] = count_coteries(state.group, state.said, seats.noted)
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
    keep_state(count_coteries(state.group, state.said, seats.noted), state.truth, keep)
    crowd: Any = state
    base: Any = prior
    open_coteries(crowd, base, streams.spare, seats, scratch.room.sums)
    write_people(state.said, n_kinds, seats, scratch.people, mixing, keep.partition[keep.used[1]])
    add_pair_means(state, prior, seats, keep.confusion_sum)
    if matrices_are_due(keep):
        draw_own_matrices(crowd, streams, seats, keep.row, mixing.matrices)
        keep_mixture(state.said, state, prior, streams, mixing, keep)
    finish_draw(keep)


@part
def add_pair_means(state: State, prior: Prior, seats: Seats, out: FloatArray) -> None:
    """Add every annotator's mean confusion matrix given the state, out of shape (L, T, C)."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    n_kinds = prior.kinds.n_kinds
    for p in range(len(state.group)):
        if state.group[p] >= 0:
            share = pair_share(p, state.said, n_kinds)
            add_mean(state.said[p], shapes, state.group[p], share, out[p // n_kinds])
    if count_people(state.group) < len(state.group):
        crowd: Any = state
        base: Any = prior
        write_newcomer(crowd, base, seats)
        add_newcomers(state.group, n_kinds, seats.newcomer, out)
