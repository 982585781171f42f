"""cBCC: the annotators of a coterie share a confusion matrix. Sampled: z, q, alpha.

q ~ CRP(alpha),  Psi[m, t] ~ Dir(beta[t] eta[t]),  tau ~ Dir(eps mu);  Psi, tau integrated out.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.cells import (
    Cells,
    Tables,
    add_cells,
    gather_cells,
    log_marginal,
    log_predictive,
    new_cells,
    tables_of,
)
from coterie.kernels.gibbs.check import check_classes, check_shared, count_said
from coterie.kernels.gibbs.confusion import add_mean, copy_matrix, draw_matrix
from coterie.kernels.gibbs.ended import carry_groups
from coterie.kernels.gibbs.groups import (
    Concentration,
    close_group,
    log_partition,
    pack_concentration,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from coterie.kernels.gibbs.piles import BOTH, LEAVES, STAYS, Base, Seating
from coterie.kernels.gibbs.piles import Room as SplitRoom
from coterie.kernels.gibbs.piles import new_room as new_split_room
from coterie.kernels.gibbs.seats import (
    Seats,
    add_newcomers,
    count_people,
    forget,
    new_seats,
    seat_everybody,
    share_of_new,
    write_partition,
)
from coterie.kernels.gibbs.split_merge import is_accepted, propose, seat_sides
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
from coterie.kernels.record import note_classes
from coterie.kernels.shapes import Shapes, flat, shapes_of
from coterie.kernels.truth.counts import (
    View,
    Work,
    add_shapes,
    count_answers,
    log_truth,
    new_work,
    starting_truth,
)
from coterie.kernels.truth.sweep import sweep_shared
from coterie.numeric.choice import normalise, pick
from coterie.numeric.jit import int64, kernel, part, piece
from coterie.priors import CBCCPrior

__all__ = [
    "Prior",
    "State",
    "initial_state",
    "new_scratch",
    "pack_prior",
    "run_block",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

PROPOSALS = 1
"""Splits or merges that are proposed in a sweep."""


class State(NamedTuple):
    """Where the chain is."""

    truth: IntArray  # (items,)                         z, or -1
    class_total: NDArray[np.int64]  # (classes,)                       n[t]
    own: IntArray  # (annotators, answers, classes)   n[l, t, c]
    said: IntArray  # (slots, answers, classes)        n[m, t, c]
    said_total: IntArray  # (slots, classes)                 n[m, t]
    group: IntArray  # (annotators,)                    q, or -1
    size: IntArray  # (slots,)                         annotators in group m
    slot: IntArray  # (slots,)                         the groups, then the free slots
    n_coteries: NDArray[np.int64]  # (1,)                             M
    log_concentration: FloatArray  # (1,)                             log alpha


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    shapes: Shapes  # one base: beta, eta
    tables: Tables
    split: Base
    concentration: Concentration


class Room(NamedTuple):
    """Room to move one annotator."""

    cells: Cells
    weights: FloatArray  # (slots,)   log weights, then probabilities


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work
    room: Room
    split: SplitRoom
    seats: Seats


def pack_prior(prior: CBCCPrior) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    shapes = shapes_of(np.asarray(prior.mean), np.asarray(prior.strength))
    tables = tables_of(shapes)
    return Prior(
        np.array(prior.class_weights),
        shapes,
        tables,
        Base(shapes, tables),
        pack_concentration(prior.concentration),
    )


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping, shape (L,); alpha from its prior."""
    start, class_total = starting_truth(truth, data)
    seats, size, slot, n_coteries = starting_groups(group, data)
    own, _ = count_answers(start, np.arange(len(seats), dtype=np.int32), len(seats), data)
    said = np.zeros((len(slot), *own.shape[1:]), np.int32)
    np.add.at(said, seats[seats >= 0], own[seats >= 0])
    log_concentration = np.array([starting_concentration(prior.concentration, rng)])
    return State(
        truth=start,
        class_total=class_total,
        own=own,
        said=said,
        said_total=said.sum(axis=1, dtype=np.int32),
        group=seats,
        size=size,
        slot=slot,
        n_coteries=n_coteries,
        log_concentration=log_concentration,
    )


def new_room(state: State, data: Codes) -> Room:
    """Give room to move any one annotator."""
    return Room(new_cells(data), np.zeros(len(state.slot)))


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the truth update: a matrix per coterie, one base for all."""
    return View(
        truth=state.truth,
        class_total=state.class_total,
        class_weight=prior.class_weight,
        said=state.said.reshape(-1),
        said_total=state.said_total.reshape(-1),
        own=state.own.reshape(-1),
        matrix=state.group,
        base=np.zeros(0, np.int32),
        used=state.slot,
        n_used=state.n_coteries,
        shapes=flat(prior.shapes),
    )


@piece
def take_out_annotator(l: int, state: State, cells: Cells) -> None:
    """Take annotator l out of their group, which is closed if that leaves it empty."""
    gather_cells(l, state.own, cells)
    m = state.group[l]
    state.group[l] = -1
    state.size[m] -= 1
    add_cells(cells, -1, m, state.said, state.said_total)
    if state.size[m] == 0:
        close_group(m, state.slot, state.n_coteries)


@piece
def put_back_annotator(l: int, chosen: int, state: State, cells: Cells) -> None:
    """Seat annotator l at the ``chosen`` place in ``slot``; one past the groups opens a group."""
    m = state.slot[chosen]
    if chosen == state.n_coteries[0]:
        state.n_coteries[0] += 1
    state.group[l] = m
    state.size[m] += 1
    add_cells(cells, 1, m, state.said, state.said_total)


@piece
def weigh_groups(state: State, prior: Prior, room: Room) -> int:
    """Write the log weights of the groups, then of a new one, for the annotator taken out.

    They go to ``room.weights``; how many there are is returned.
    """
    n_coteries = state.n_coteries[0]
    for k in range(n_coteries + 1):
        m = state.slot[k]
        log_seat = math.log(state.size[m]) if k < n_coteries else state.log_concentration[0]
        room.weights[k] = log_seat + log_predictive(
            room.cells, m, state.said, state.said_total, prior.shapes, prior.tables
        )
    return int(n_coteries + 1)


@piece
def update_group(l: int, state: State, prior: Prior, room: Room, u: float) -> int:
    """Give annotator l a new group.

    The probabilities it was picked from stay in ``room.weights``; their number is returned.
    """
    take_out_annotator(l, state, room.cells)
    n_places = weigh_groups(state, prior, room)
    weights = room.weights[:n_places]
    normalise(weights)
    put_back_annotator(l, pick(weights, u), state, room.cells)
    return n_places


@part
def sweep_groups(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Update the group of every annotator who has labels."""
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            update_group(l, state, prior, room, rng.random())


@part
def split_and_merge(state: State, prior: Prior, room: SplitRoom, rng: np.random.Generator) -> None:
    """Propose to split or merge groups."""
    seating = Seating(state.group, state.size, state.slot, state.n_coteries)
    for _ in range(room.proposals[0]):
        log_ratio = propose(seating, state.log_concentration[0], prior.split, room, rng)
        if is_accepted(log_ratio, rng.random()):
            left = int64(state.group[room.pair[LEAVES]])
            seat_sides(seating, room)
            count_sides(left, state, room)


@piece
def count_sides(left: int, state: State, room: SplitRoom) -> None:
    """Count the labels of the groups that have been seated; ``left`` is the one that j left."""
    a, b = int64(state.group[room.pair[STAYS]]), int64(state.group[room.pair[LEAVES]])
    k = BOTH if a == b else STAYS
    for t in range(state.said.shape[2]):
        state.said_total[left, t], state.said_total[b, t] = 0, room.sides.total[LEAVES, t]
        state.said_total[a, t] = room.sides.total[k, t]
        for c in range(state.said.shape[1]):
            state.said[left, c, t], state.said[b, c, t] = 0, room.sides.counts[LEAVES, c, t]
            state.said[a, c, t] = room.sides.counts[k, c, t]


@piece
def log_likelihood(state: State, prior: Prior) -> float:
    """Give log p(Y | z, q), the confusion matrices integrated out."""
    result = 0.0
    for k in range(state.n_coteries[0]):
        m = state.slot[k]
        result += log_marginal(m, state.said, state.said_total, prior.shapes, prior.tables)
    return result


carry = carry_groups


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_classes(state, data)
    check_shared(state, count_said(state.truth, data))


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    view = view_of(state, prior)
    seats = new_seats(len(state.slot), data)
    split = new_split_room(data, len(state.slot), PROPOSALS, state.own)
    return Scratch(view, new_work(data, view), new_room(state, data), split, seats)


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    view, work, _, _, _ = scratch
    for sweep in range(len(record.trace.log_joint)):
        add_shapes(view, data, work)
        sweep_shared(view, data, work, streams.moves, record.tally)
        finish(sweep, state, data, prior, streams, record, scratch)


@part
def finish(
    sweep: int, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Move the annotators, note the sweep, and keep the draw if one is due."""
    trace, moves, log_alpha = record.trace, streams.moves, state.log_concentration
    view, _, room, split, _ = scratch
    sweep_groups(state, prior, room, moves)
    split_and_merge(state, prior, split, moves)
    update_concentration(log_alpha, state.size, state.n_coteries, prior.concentration, moves)
    log_p_labels = log_likelihood(state, prior)
    log_p_groups = log_partition(state.size, log_alpha[0], prior.concentration)
    trace.log_likelihood[sweep] = log_p_labels
    trace.log_joint[sweep] = log_p_labels + log_p_groups + log_truth(view)
    trace.n_coteries[sweep] = state.n_coteries[0]
    trace.concentration[sweep] = math.exp(log_alpha[0])
    note_classes(sweep, state.class_total, trace)
    if draw_is_due(record.keep):
        keep_draw(state, data, prior, streams, record.keep, scratch)


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Keep the present state as a draw.

    ``streams.spare`` draws for annotators without labels: they move nobody else's draws.
    """
    seats = scratch.seats
    keep_state(state.n_coteries[0], state.truth, keep)
    free = state.slot[state.n_coteries[0] :]
    seat_everybody(state.group, free, state.log_concentration[0], streams.spare, seats)
    write_partition(seats, keep.partition[keep.used[1]])
    add_means(state, prior, seats, keep.confusion_sum)
    if matrices_are_due(keep):
        draw_matrices(state, prior, streams, seats, keep.row, keep.confusion[keep.used[2]])
        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)
    finish_draw(keep)


@part
def draw_matrices(
    state: State, prior: Prior, streams: Streams, seats: Seats, row: FloatArray, out: NDArray[Any]
) -> None:
    """Draw a matrix for every coterie, shared by all who sit there, out of shape (L, T, C)."""
    forget(seats)
    for newcomers in range(2):  # after all others: what they open takes nothing from their stream
        for l in range(len(state.group)):
            if (state.group[l] < 0) == (newcomers == 1):
                m = seats.seat[l]
                if seats.noted[m] >= 0:
                    copy_matrix(seats.noted[m], l, out)
                elif newcomers == 0:
                    draw_matrix(state.said[m], prior.shapes, 0, streams.draws, row, out[l])
                else:
                    draw_matrix(state.said[m], prior.shapes, 0, streams.spare, row, out[l])
                seats.noted[m] = l


@part
def add_means(state: State, prior: Prior, seats: Seats, out: FloatArray) -> None:
    """Add every annotator's mean confusion matrix given the state, out of shape (L, T, C)."""
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            add_mean(state.said[state.group[l]], prior.shapes, 0, 1.0, out[l])
    if count_people(state.group) < len(state.group):
        write_newcomer(state, prior, seats)
        add_newcomers(state.group, 1, seats.newcomer, out)


@part
def write_newcomer(state: State, prior: Prior, seats: Seats) -> None:
    """Write the mean matrix of an annotator without labels to ``seats.newcomer``."""
    n_people = count_people(state.group)
    new = share_of_new(n_people, state.log_concentration[0])
    seats.newcomer[:] = 0.0
    for k in range(state.n_coteries[0] + 1):  # the last is free: nothing is counted there
        m = state.slot[k]
        share = (1 - new) * state.size[m] / n_people if k < state.n_coteries[0] else new
        add_mean(state.said[m], prior.shapes, 0, share, seats.newcomer)
