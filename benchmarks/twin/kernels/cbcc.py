"""cBCC: the annotators of a cluster share a confusion matrix. Sampled: z, q, alpha.

q ~ CRP(alpha),  Psi[m, t] ~ Dir(beta[t] eta[t]),  tau ~ Dir(eps mu);  Psi, tau integrated out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from benchmarks.twin.kernels.answers import (
    Shapes,
    add_mean_matrix,
    count_answers,
    draw_matrix,
    log_marginal,
    shapes_of,
)
from benchmarks.twin.kernels.cells import Cells, add_cells, gather_cells, log_predictive, new_cells
from benchmarks.twin.kernels.groups import (
    Concentration,
    close_group,
    log_concentration_prior,
    pack_concentration,
    seat_newcomer,
    share_of_new,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from benchmarks.twin.kernels.record import Tally, Trace
from benchmarks.twin.kernels.truth import (
    View,
    Work,
    draw_class_balance,
    log_truth,
    new_work,
    starting_truth,
    sweep_truth,
)
from benchmarks.twin.numeric.choice import normalise, pick
from benchmarks.twin.numeric.jit import kernel, piece
from benchmarks.twin.numeric.partitions import log_crp
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

    truth: IntArray  # (items,)                    z, or -1
    class_total: NDArray[np.int64]  # (classes,)                  n[t]
    said: IntArray  # (slots, classes, answers)   n[m, t, c]
    said_total: IntArray  # (slots, classes)            n[m, t]
    group: IntArray  # (annotators,)               q, or -1
    size: IntArray  # (slots,)                    annotators in group m
    slot: IntArray  # (slots,)                    the groups, then the free slots
    n_groups: NDArray[np.int64]  # (1,)                        M
    log_concentration: FloatArray  # (1,)                        log alpha


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    shapes: Shapes  # one base: beta, eta
    concentration: Concentration


class Room(NamedTuple):
    """Room to move one annotator."""

    cells: Cells
    weights: FloatArray  # (slots,)   log weights, then probabilities


def pack_prior(prior: CBCCPrior) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    return Prior(
        np.array(prior.class_weights),
        shapes_of(np.asarray(prior.mean), np.asarray(prior.strength)),
        pack_concentration(prior.concentration),
    )


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping, shape (L,); alpha from its prior."""
    start, class_total = starting_truth(truth, data)
    seats, size, slot, n_groups = starting_groups(group, data, 0)
    said, said_total = count_answers(start, seats, len(slot), data)
    log_concentration = np.array([starting_concentration(prior.concentration, rng)])
    return State(
        start, class_total, said, said_total, seats, size, slot, n_groups, log_concentration
    )


def new_room(state: State, data: Codes) -> Room:
    """Give room to move any one annotator."""
    return Room(new_cells(data), np.zeros(len(state.slot)))


@kernel
def view_of(state: State, prior: Prior) -> View:
    """Show the state to the truth update: a matrix a cluster, one base for all."""
    return View(
        state.truth,
        state.class_total,
        prior.class_weight,
        state.said,
        state.said_total,
        state.group,
        np.zeros(len(state.group), np.int32),
        prior.shapes,
    )


@piece
def take_out_annotator(l: int, state: State, data: Codes, cells: Cells) -> None:
    """Take annotator l out of their group, which is closed if that leaves it empty."""
    gather_cells(l, state.truth, data, cells)
    m = state.group[l]
    state.group[l] = -1
    state.size[m] -= 1
    add_cells(cells, -1, m, state.said, state.said_total)
    if state.size[m] == 0:
        close_group(m, state.slot, state.n_groups)


@piece
def put_back_annotator(l: int, chosen: int, state: State, cells: Cells) -> None:
    """Seat annotator l at the ``chosen`` place in ``slot``; one past the groups opens a group."""
    m = state.slot[chosen]
    if chosen == state.n_groups[0]:
        state.n_groups[0] += 1
    state.group[l] = m
    state.size[m] += 1
    add_cells(cells, 1, m, state.said, state.said_total)


@piece
def weigh_groups(state: State, prior: Prior, room: Room) -> int:
    """Write the log weights of the groups, then of a new one, for the annotator taken out.

    They go to ``room.weights``; how many there are is returned.
    """
    n_groups = state.n_groups[0]
    for k in range(n_groups + 1):
        m = state.slot[k]
        log_seat = math.log(state.size[m]) if k < n_groups else state.log_concentration[0]
        room.weights[k] = log_seat + log_predictive(
            room.cells, m, state.said, state.said_total, prior.shapes
        )
    return int(n_groups + 1)


@piece
def update_group(l: int, state: State, data: Codes, prior: Prior, room: Room, u: float) -> int:
    """Give annotator l a new group.

    The probabilities it was picked from stay in ``room.weights``; their number is returned.
    """
    take_out_annotator(l, state, data, room.cells)
    n_places = weigh_groups(state, prior, room)
    weights = room.weights[:n_places]
    normalise(weights)
    put_back_annotator(l, pick(weights, u), state, room.cells)
    return n_places


@piece
def sweep_groups(
    state: State, data: Codes, prior: Prior, room: Room, rng: np.random.Generator
) -> None:
    """Update the group of every annotator who has labels."""
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            update_group(l, state, data, prior, room, rng.random())


@piece
def log_likelihood(state: State, prior: Prior) -> float:
    """Give log p(Y | z, q), the confusion matrices integrated out."""
    result = 0.0
    for k in range(state.n_groups[0]):
        m = state.slot[k]
        result += log_marginal(m, state.said, state.said_total, prior.shapes, 0)
    return result


@piece
def log_prior(state: State, prior: Prior) -> float:
    """Give log p(q | alpha) p(alpha)."""
    log_alpha = state.log_concentration[0]
    return log_crp(state.size, log_alpha) + log_concentration_prior(log_alpha, prior.concentration)


def run_block(
    state: State,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    tally: Tally,
    trace: Trace,
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    work, room = new_work(data, len(state.said)), new_room(state, data)
    _sweep_many(state, data, prior, rng, (tally, trace), (work, room))


@kernel
def _sweep_many(
    state: State,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    record: tuple[Tally, Trace],
    scratch: tuple[Work, Room],
) -> None:
    tally, trace = record
    work, room = scratch
    view = view_of(state, prior)
    for sweep in range(len(trace.log_joint)):
        sweep_truth(view, data, work, rng, tally)
        sweep_groups(state, data, prior, room, rng)
        update_concentration(
            state.log_concentration, state.size, state.n_groups, prior.concentration, rng
        )
        trace.log_likelihood[sweep] = log_likelihood(state, prior)
        trace.log_joint[sweep] = (
            trace.log_likelihood[sweep] + log_truth(view) + log_prior(state, prior)
        )
        trace.n_groups[sweep] = state.n_groups[0]
        trace.concentration[sweep] = math.exp(state.log_concentration[0])
        trace.class_total[sweep] = state.class_total


@kernel
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
    first = np.full(len(state.size), -1, np.int32)
    for l in range(len(out)):
        m = state.group[l]
        if m < 0:
            continue
        if first[m] < 0:
            first[m] = l
            draw_matrix(state.said[m], prior.shapes, 0, out[l], rng)
        out[l] = out[first[m]]
    nothing = np.zeros(out.shape[1:], np.int32)
    for l in range(len(out)):
        if state.group[l] < 0:
            m = seat_newcomer(state.size, state.log_concentration[0], spare)
            if m < 0:
                draw_matrix(nothing, prior.shapes, 0, out[l], spare)
            else:
                out[l] = out[first[m]]


@kernel
def mean_confusion(state: State, data: Codes, prior: Prior, out: FloatArray) -> None:
    """Add every annotator's mean confusion matrix given the state, out of shape (L, T, C)."""
    newcomer = np.zeros(out.shape[1:])
    new = share_of_new(state.size, state.log_concentration[0])
    add_mean_matrix(np.zeros(out.shape[1:], np.int32), prior.shapes, 0, new, newcomer)
    for k in range(state.n_groups[0]):
        m = state.slot[k]
        share = (1 - new) * state.size[m] / state.size.sum()
        add_mean_matrix(state.said[m], prior.shapes, 0, share, newcomer)
    for l in range(len(out)):
        if state.group[l] < 0:
            out[l] += newcomer
        else:
            add_mean_matrix(state.said[state.group[l]], prior.shapes, 0, 1.0, out[l])
