"""hcBCC: the annotators of a cluster resemble one another. Sampled: z, q, alpha, beta, eta.

q ~ CRP(alpha),  Psi[l, t] ~ Dir(beta[m, t] eta[m, t]) with m = q[l],  beta[m, t] ~ Gamma(a, b),
eta[m, t] ~ Dir(phi gamma[t]),  tau ~ Dir(eps mu);  Psi, tau integrated out.

The groups move by the Reuse algorithm (Favaro and Teh): beside the clusters stand h auxiliary ones
without annotators, with parameters from the prior.
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
)
from benchmarks.twin.kernels.groups import (
    Concentration,
    close_group,
    log_concentration_prior,
    pack_concentration,
    seat_newcomer,
    share_of_new,
    starting_concentration,
    starting_groups,
    swap,
    update_concentration,
)
from benchmarks.twin.kernels.parameters import (
    BasePrior,
    Sums,
    add_auxiliaries,
    clear_sums,
    draw_parameters,
    log_parameters,
    new_shapes,
    new_sums,
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
from coterie.priors import HCBCCPrior

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
    said: IntArray  # (annotators, classes, answers)   n[l, t, c]
    said_total: IntArray  # (annotators, classes)            n[l, t]
    group: IntArray  # (annotators,)                    q, or -1
    size: IntArray  # (slots,)                         annotators in group m
    slot: IntArray  # (slots,)                         groups, auxiliaries, free slots
    n_groups: NDArray[np.int64]  # (1,)                             M
    log_concentration: FloatArray  # (1,)                             log alpha
    weight: FloatArray  # (slots, classes, answers)        beta eta
    strength: FloatArray  # (slots, classes)                 beta
    log_mean: FloatArray  # (slots, classes, answers)        log eta
    log_strength: FloatArray  # (slots, classes)                 log beta


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    base: BasePrior  # of beta and eta
    concentration: Concentration
    auxiliaries: int  # h


class Room(NamedTuple):
    """Room to move one annotator, and to sum one cluster's auxiliary variables."""

    weights: FloatArray  # (slots,)   log weights, then probabilities
    sums: Sums


def pack_prior(prior: HCBCCPrior) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    phi, gamma = np.asarray(prior.mean_strength), np.asarray(prior.mean)
    return Prior(
        np.array(prior.class_weights),
        BasePrior(
            phi[:, None] * gamma, np.array(prior.strength.shape), np.array(prior.strength.rate)
        ),
        pack_concentration(prior.concentration),
        prior.auxiliaries,
    )


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping, shape (L,).

    alpha comes from its prior; beta and eta from theirs, updated once given the rest.
    """
    start, class_total = starting_truth(truth, data)
    n_annotators = len(data.annotator_start) - 1
    matrix = np.arange(n_annotators, dtype=np.int32)
    said, said_total = count_answers(start, matrix, n_annotators, data)
    seats, size, slot, n_groups = starting_groups(group, data, prior.auxiliaries)
    log_concentration = np.array([starting_concentration(prior.concentration, rng)])
    shapes = new_shapes(len(slot), data.n_classes, data.n_answers)
    sums = new_sums(data.n_classes, data.n_answers)
    for m in range(n_groups[0]):
        draw_parameters(m, sums, prior.base, shapes, rng)
    state = State(
        start,
        class_total,
        said,
        said_total,
        seats,
        size,
        slot,
        n_groups,
        log_concentration,
        *shapes,
    )
    sweep_parameters(state, prior, sums, rng)
    return state


def new_room(state: State, data: Codes) -> Room:
    """Give room to move any one annotator."""
    return Room(np.zeros(len(state.slot)), new_sums(data.n_classes, data.n_answers))


@kernel
def shapes_of_groups(state: State) -> Shapes:
    """Give the Dirichlet shapes by slot."""
    return Shapes(state.weight, state.strength, state.log_mean, state.log_strength)


@kernel
def view_of(state: State, prior: Prior) -> View:
    """Show the state to the truth update: a matrix each, a base a cluster."""
    return View(
        state.truth,
        state.class_total,
        prior.class_weight,
        state.said,
        state.said_total,
        np.arange(len(state.group)).astype(np.int32),
        state.group,
        shapes_of_groups(state),
    )


@piece
def take_out_annotator(l: int, state: State, prior: Prior, u: float) -> None:
    """Take annotator l out of their group.

    A group that is left empty takes, with its parameters, the place of an auxiliary one chosen
    uniformly by ``u``: so a lone annotator can return to the parameters they had.
    """
    m = state.group[l]
    state.group[l] = -1
    state.size[m] -= 1
    if state.size[m] > 0:
        return
    close_group(m, state.slot, state.n_groups)
    # Now m stands first behind the groups and h auxiliaries follow: one of them goes to the end.
    first = state.n_groups[0] + 1
    swap(state.slot, first + int(u * prior.auxiliaries), first + prior.auxiliaries - 1)


@piece
def put_back_annotator(l: int, chosen: int, state: State, prior: Prior) -> int:
    """Seat annotator l at the ``chosen`` place in ``slot``.

    An auxiliary that is chosen becomes a group; the slot that takes its place, and needs
    parameters from the prior, is returned (-1: none does).
    """
    m = state.slot[chosen]
    state.group[l] = m
    state.size[m] += 1
    if chosen < state.n_groups[0]:
        return -1
    swap(state.slot, chosen, state.n_groups[0])
    state.n_groups[0] += 1
    return int(state.slot[state.n_groups[0] + prior.auxiliaries - 1])


@piece
def weigh_groups(l: int, state: State, prior: Prior, weights: FloatArray) -> int:
    """Write the log weights of the groups, then of the auxiliaries, for l who is taken out.

    How many there are is returned.
    """
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    n_groups = state.n_groups[0]
    log_auxiliary = state.log_concentration[0] - math.log(prior.auxiliaries)
    for k in range(n_groups + prior.auxiliaries):
        m = state.slot[k]
        log_seat = math.log(state.size[m]) if k < n_groups else log_auxiliary
        weights[k] = log_seat + log_marginal(l, state.said, state.said_total, shapes, m)
    return int(n_groups + prior.auxiliaries)


@piece
def update_group(
    l: int, state: State, prior: Prior, room: Room, u: tuple[float, float]
) -> tuple[int, int]:
    """Give annotator l a new group; ``u`` are uniforms for the auxiliary and for the group.

    Returned are the slot to refill from the prior (-1: none), and how many probabilities there
    are in ``room.weights``, which the group was picked from.
    """
    take_out_annotator(l, state, prior, u[0])
    n_places = weigh_groups(l, state, prior, room.weights)
    weights = room.weights[:n_places]
    normalise(weights)
    refill = put_back_annotator(l, pick(weights, u[1]), state, prior)
    return refill, n_places


@kernel
def sweep_groups(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Update the group of every annotator who has labels."""
    shapes = shapes_of_groups(state)
    clear_sums(room.sums)
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            refill, _ = update_group(l, state, prior, room, (rng.random(), rng.random()))
            if refill >= 0:
                draw_parameters(refill, room.sums, prior.base, shapes, rng)


@kernel
def sweep_parameters(state: State, prior: Prior, sums: Sums, rng: np.random.Generator) -> None:
    """Update beta and eta of every group given its members; redraw the auxiliaries."""
    shapes = shapes_of_groups(state)
    by_group = np.argsort(state.group, kind="mergesort")
    k = 0
    while k < len(by_group):
        m = state.group[by_group[k]]
        clear_sums(sums)
        while k < len(by_group) and state.group[by_group[k]] == m:
            l = by_group[k]
            if m >= 0:
                add_auxiliaries(state.said[l], state.said_total[l], shapes, m, sums, rng)
            k += 1
        if m >= 0:
            draw_parameters(m, sums, prior.base, shapes, rng)
    clear_sums(sums)
    for place in range(state.n_groups[0], state.n_groups[0] + prior.auxiliaries):
        draw_parameters(state.slot[place], sums, prior.base, shapes, rng)


@kernel
def log_likelihood(state: State) -> float:
    """Give log p(Y | z, q, beta, eta), the confusion matrices integrated out."""
    shapes = shapes_of_groups(state)
    result = 0.0
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            result += log_marginal(l, state.said, state.said_total, shapes, state.group[l])
    return result


@kernel
def log_prior(state: State, prior: Prior) -> float:
    """Give log p(q | alpha) p(alpha) p(beta, eta), the auxiliaries left out."""
    shapes = shapes_of_groups(state)
    log_alpha = state.log_concentration[0]
    result = log_crp(state.size, log_alpha)
    result += log_concentration_prior(log_alpha, prior.concentration)
    for k in range(state.n_groups[0]):
        result += log_parameters(state.slot[k], shapes, prior.base)
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
        sweep_groups(state, prior, room, rng)
        sweep_parameters(state, prior, room.sums, rng)
        update_concentration(
            state.log_concentration, state.size, state.n_groups, prior.concentration, rng
        )
        trace.log_likelihood[sweep] = log_likelihood(state)
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

    ``spare`` draws for annotators without labels, so that they move nobody else's draws.
    """
    shapes = shapes_of_groups(state)
    n_classes, n_answers = out.shape[1], out.shape[2]
    one, nobody = new_shapes(1, n_classes, n_answers), new_sums(n_classes, n_answers)
    for l in range(len(out)):
        if state.group[l] >= 0:
            draw_matrix(state.said[l], shapes, state.group[l], out[l], rng)
            continue
        m = seat_newcomer(state.size, state.log_concentration[0], spare)
        if m >= 0:
            draw_matrix(state.said[l], shapes, m, out[l], spare)
        else:
            draw_parameters(0, nobody, prior.base, one, spare)
            draw_matrix(state.said[l], one, 0, out[l], spare)


@kernel
def mean_confusion(state: State, data: Codes, prior: Prior, out: FloatArray) -> None:
    """Add every annotator's mean confusion matrix given the state, out of shape (L, T, C)."""
    shapes = shapes_of_groups(state)
    nothing = np.zeros(out.shape[1:], np.int32)
    newcomer = np.zeros(out.shape[1:])
    new = share_of_new(state.size, state.log_concentration[0])
    for t in range(out.shape[1]):
        newcomer[t] += new * prior.base.mean_weight[t] / prior.base.mean_weight[t].sum()
    for k in range(state.n_groups[0]):
        m = state.slot[k]
        share = (1 - new) * state.size[m] / state.size.sum()
        add_mean_matrix(nothing, shapes, m, share, newcomer)
    for l in range(len(out)):
        if state.group[l] < 0:
            out[l] += newcomer
        else:
            add_mean_matrix(state.said[l], shapes, state.group[l], 1.0, out[l])
