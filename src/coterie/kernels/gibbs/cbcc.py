"""cBCC: the annotators of a cluster share a confusion matrix. Sampled: z, q, alpha.

q ~ CRP(alpha),  Psi[m, t] ~ Dir(beta[t] eta[t]),  tau ~ Dir(eps mu);  Psi, tau integrated out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

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
from coterie.kernels.gibbs.confusion import draw_class_balance, draw_matrices, mean_matrices
from coterie.kernels.gibbs.groups import (
    Concentration,
    close_group,
    log_partition,
    pack_concentration,
    seat_newcomers,
    share_of_new,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from coterie.kernels.record import Tally, Trace, note_classes
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
from coterie.numeric.jit import kernel, part, piece
from coterie.numeric.lines import on_own_lines
from coterie.priors import CBCCPrior

__all__ = [
    "Prior",
    "State",
    "draw_class_balance",
    "draw_confusion",
    "initial_state",
    "mean_confusion",
    "pack_prior",
    "run_block",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


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
    concentration: Concentration


class Room(NamedTuple):
    """Room to move one annotator."""

    cells: Cells
    weights: FloatArray  # (slots,)   log weights, then probabilities


def pack_prior(prior: CBCCPrior) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    shapes = shapes_of(np.asarray(prior.mean), np.asarray(prior.strength))
    return Prior(
        np.array(prior.class_weights),
        shapes,
        tables_of(shapes),
        pack_concentration(prior.concentration),
    )


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping, shape (L,); alpha from its prior."""
    start, class_total = starting_truth(truth, data)
    seats, size, slot, n_coteries = starting_groups(group, data, 0)
    own, _ = count_answers(start, np.arange(len(seats), dtype=np.int32), len(seats), data)
    said = np.zeros((len(slot), *own.shape[1:]), np.int32)
    np.add.at(said, seats[seats >= 0], own[seats >= 0])
    log_concentration = np.array([starting_concentration(prior.concentration, rng)])
    state = State(
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
    return on_own_lines(state)


def new_room(state: State, data: Codes) -> Room:
    """Give room to move any one annotator."""
    return on_own_lines(Room(new_cells(data), np.zeros(len(state.slot))))


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the truth update: a matrix a cluster, one base for all."""
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


@piece
def log_likelihood(state: State, prior: Prior) -> float:
    """Give log p(Y | z, q), the confusion matrices integrated out."""
    result = 0.0
    for k in range(state.n_coteries[0]):
        m = state.slot[k]
        result += log_marginal(m, state.said, state.said_total, prior.shapes, prior.tables)
    return result


def run_block(
    state: State,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    tally: Tally,
    trace: Trace,
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    view = view_of(state, prior)
    scratch = new_work(data, view), new_room(state, data)
    _sweep_many(state, view, data, prior, rng, (tally, trace), scratch)


@kernel
def _sweep_many(
    state: State,
    view: View,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    record: tuple[Tally, Trace],
    scratch: tuple[Work, Room],
) -> None:
    tally, trace = record
    work, room = scratch
    log_alpha = state.log_concentration
    for sweep in range(len(trace.log_joint)):
        add_shapes(view, data, work)
        sweep_shared(view, data, work, rng, tally)
        sweep_groups(state, prior, room, rng)
        update_concentration(log_alpha, state.size, state.n_coteries, prior.concentration, rng)
        log_p_labels = log_likelihood(state, prior)
        log_p_groups = log_partition(state.size, log_alpha[0], prior.concentration)
        trace.log_likelihood[sweep] = log_p_labels
        trace.log_joint[sweep] = log_p_labels + log_p_groups + log_truth(view)
        trace.n_coteries[sweep] = state.n_coteries[0]
        trace.concentration[sweep] = math.exp(log_alpha[0])
        note_classes(sweep, state.class_total, trace)


def draw_confusion(
    state: State,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    spare: np.random.Generator,
    out: FloatArray,
) -> None:
    """Draw every annotator's confusion matrix given the state, out of shape (L, T, C).

    One draw a cluster, shared by its members. ``spare`` draws for annotators without labels, so
    that they move nobody else's draws.
    """
    groups, place = in_order(state)
    drawn = draw_matrices(state.said[groups], prior.shapes, 0 * groups, rng)
    active, idle = state.group >= 0, np.flatnonzero(state.group < 0)
    out[active] = drawn[place[state.group[active]]]
    seats = seat_newcomers(len(idle), state.size, state.log_concentration[0], spare)
    joins = seats >= 0
    out[idle[joins]] = drawn[place[seats[joins]]]
    nothing = np.zeros((np.count_nonzero(~joins), *state.said.shape[1:]), np.int32)
    out[idle[~joins]] = draw_matrices(nothing, prior.shapes, 0 * idle[~joins], spare)


def mean_confusion(state: State, data: Codes, prior: Prior, out: FloatArray) -> None:
    """Add every annotator's mean confusion matrix given the state, out of shape (L, T, C)."""
    groups, place = in_order(state)
    mean = mean_matrices(state.said[groups], prior.shapes, 0 * groups)
    active = state.group >= 0
    out[active] += mean[place[state.group[active]]]
    new = share_of_new(state.size, state.log_concentration[0])
    nothing = np.zeros((1, *state.said.shape[1:]), np.int32)
    newcomer = new * mean_matrices(nothing, prior.shapes, np.zeros(1, np.int64))[0]
    share = (1 - new) * state.size[groups] / max(state.size.sum(), 1)
    out[~active] += newcomer + np.tensordot(share, mean, 1)


def in_order(state: State) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the slots of the groups, shape (M,), and where in that list each slot is."""
    groups = state.slot[: state.n_coteries[0]].astype(np.int64)
    place = np.zeros(len(state.slot), np.int64)
    place[groups] = np.arange(len(groups))
    return groups, place
