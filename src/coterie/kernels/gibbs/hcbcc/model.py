"""hcBCC: the annotators of a coterie resemble one another. Sampled: z, q, alpha, beta, eta.

q ~ CRP(alpha),  Psi[l, t] ~ Dir(beta[m, t] eta[m, t]) with m = q[l],  beta[m, t] ~ Gamma(a, b),
eta[m, t] ~ Dir(phi gamma[t]),  tau ~ Dir(eps mu);  Psi, tau integrated out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.check import (
    check_classes,
    check_groups,
    check_parameters,
    check_said,
    count_said,
)
from coterie.kernels.gibbs.ended import carry_parameters
from coterie.kernels.gibbs.groups import (
    log_partition,
    pack_concentration,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from coterie.kernels.gibbs.hcbcc.draws import (
    add_own_means,
    draw_own_matrices,
    open_coteries,
    write_newcomer,
)
from coterie.kernels.gibbs.hcbcc.members import sweep_parameters
from coterie.kernels.gibbs.hcbcc.parameters import BasePrior, draw_prior, log_parameters, pack_base
from coterie.kernels.gibbs.hcbcc.reuse import sweep_groups
from coterie.kernels.gibbs.hcbcc.state import Prior, Room, State, new_room
from coterie.kernels.gibbs.regroup.state import Means
from coterie.kernels.gibbs.seats import Seats, add_newcomers, new_seats, write_partition
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
from coterie.kernels.shapes import Shapes, flat
from coterie.kernels.truth.counts import (
    View,
    Work,
    add_shapes,
    count_answers,
    log_truth,
    new_work,
    starting_truth,
)
from coterie.kernels.truth.sweep import sweep_own
from coterie.numeric.jit import kernel, part, piece
from coterie.priors import HCBCCPrior

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


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work
    room: Room
    seats: Seats


def pack_prior(prior: HCBCCPrior) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    phi, gamma = np.asarray(prior.mean_strength), np.asarray(prior.mean)
    shape, rate = np.array(prior.strength.shape), np.array(prior.strength.rate)
    return Prior(
        np.array(prior.class_weights),
        pack_base(phi[:, None] * gamma, shape, rate),
        means_of(phi[:, None] * gamma, shape, rate),
        pack_concentration(prior.concentration),
        prior.auxiliaries,
    )


def means_of(mean_weight: FloatArray, shape: FloatArray, rate: FloatArray) -> Means:
    """Give the prior of beta and eta as groups are split and merged by, phi gamma of (T, C)."""
    weight = np.ascontiguousarray(mean_weight.T)
    log_norm = sum(math.lgamma(row.sum()) - sum(map(math.lgamma, row)) for row in mean_weight)
    one = np.ones(1)
    return Means(
        point=one / 2,
        log_share=0 * one,
        log_norm=log_norm * one,
        known=weight,
        guess=weight.copy(),
        shape=shape,
        rate=rate,
        log_constant=0.0,
    )


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping, shape (L,).

    alpha, beta and eta come from their priors; a sweep first updates beta and eta.
    """
    start, class_total = starting_truth(truth, data)
    n_annotators = len(data.annotator_start) - 1
    matrix = np.arange(n_annotators, dtype=np.int32)
    said, said_total = count_answers(start, matrix, n_annotators, data)
    seats, size, slot, n_coteries = starting_groups(group, data, prior.auxiliaries)
    log_concentration = np.array([starting_concentration(prior.concentration, rng)])
    parameters = starting_parameters(len(slot), int(n_coteries[0]), prior.base, rng)
    return State(
        truth=start,
        class_total=class_total,
        said=said,
        said_total=said_total,
        group=seats,
        size=size,
        slot=slot,
        n_coteries=n_coteries,
        log_concentration=log_concentration,
        **parameters._asdict(),
    )


def starting_parameters(
    n_slots: int, n_coteries: int, prior: BasePrior, rng: np.random.Generator
) -> Shapes:
    """Draw beta and eta of the groups from the prior; nothing yet for the other slots."""
    drawn = draw_prior(n_coteries, prior, rng)
    shapes = Shapes._make(np.zeros((n_slots, *array.shape[1:])) for array in drawn)
    for array, values in zip(shapes, drawn, strict=True):
        array[:n_coteries] = values
    return shapes


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the truth update: a matrix each, a base per coterie."""
    everybody = np.arange(len(state.group), dtype=np.int32)
    nothing = np.zeros(0, np.int32)
    return View(
        truth=state.truth,
        class_total=state.class_total,
        class_weight=prior.class_weight,
        said=state.said.reshape(-1),
        said_total=state.said_total.reshape(-1),
        own=nothing,
        matrix=nothing,
        base=state.group,
        used=everybody,
        n_used=np.array([len(everybody)]),
        shapes=flat(Shapes(state.weight, state.strength, state.log_mean, state.log_strength)),
    )


@piece
def log_prior(state: State, prior: Prior) -> float:
    """Give log p(q | alpha) p(alpha) p(beta, eta), the auxiliaries left out."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    result = log_partition(state.size, state.log_concentration[0], prior.concentration)
    for k in range(state.n_coteries[0]):
        result += log_parameters(state.slot[k], shapes, prior.base)
    return result


carry = carry_parameters


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_classes(state, data)
    check_said(state, count_said(state.truth, data))
    check_groups(state)
    check_parameters(state, prior.auxiliaries)


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    view, seats = view_of(state, prior), new_seats(len(state.slot), data)
    return Scratch(view, new_work(data, view), new_room(state, data), seats)


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    view, work, room, _ = scratch
    for sweep in range(len(record.trace.log_joint)):
        # beta and eta first: at the start they know nothing of the labels yet.
        sweep_parameters(state, prior, room, streams.moves)
        add_shapes(view, data, work)
        sweep_own(view, data, work, streams.moves, record.tally)
        finish(sweep, state, data, prior, streams, record, scratch)


@part
def finish(
    sweep: int, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Move the annotators, note the sweep, and keep the draw if one is due."""
    trace, moves, log_alpha = record.trace, streams.moves, state.log_concentration
    view, _, room, _ = scratch
    sweep_groups(state, prior, room, moves)
    update_concentration(log_alpha, state.size, state.n_coteries, prior.concentration, moves)
    log_p_labels = room.log_likelihood[0]
    trace.log_likelihood[sweep] = log_p_labels
    trace.log_joint[sweep] = log_p_labels + log_prior(state, prior) + log_truth(view)
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

    ``streams.spare`` draws for annotators without labels: they move nobody else's draws. Free
    slots of the state hold the parameters of coteries that are open for this draw only.
    """
    seats = scratch.seats
    keep_state(state.n_coteries[0], state.truth, keep)
    open_coteries(state, prior, streams.spare, seats, scratch.room.sums)
    write_partition(seats, keep.partition[keep.used[1]])
    if add_own_means(state, keep.confusion_sum) > 0:
        write_newcomer(state, prior, seats)
        add_newcomers(state.group, 1, seats.newcomer, keep.confusion_sum)
    if matrices_are_due(keep):
        draw_own_matrices(state, streams, seats, keep.row, keep.confusion[keep.used[2]])
        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)
    finish_draw(keep)
