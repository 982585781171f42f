"""Consensus: hcBCC with hard items and a learnt base.

q ~ CRP(alpha), w ~ Dir, d[m] ~ Beta on points, beta[m] ~ Gamma(a, b), eta[m, t] ~ Dir(phi b[m, t])
with b[m, t, c] = d[m] 1[c = t] + (1 - d[m]) w[c], Psi[l, t] ~ Dir(beta[m] eta[m, t]) with m = q[l];
pi, rho, v ~ Dir, z[i] ~ pi, k[i] ~ rho, and a label y of item i comes from Psi[l, z] with
probability 1 - lam[k] (g = 1), else from v.

A sweep is blocked: coteries and their parameters, an exchange of classes, then everything that the
items need is drawn, and the items are independent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.consensus.draws import keep_shapes, open_coteries, write_newcomer
from coterie.kernels.gibbs.consensus.groups import draw_fresh, sweep_groups
from coterie.kernels.gibbs.consensus.items import Found, Given, sweep_items
from coterie.kernels.gibbs.consensus.joint import log_labels_given, log_rest
from coterie.kernels.gibbs.consensus.parameters import draw_given, sweep_parameters
from coterie.kernels.gibbs.consensus.state import (
    Chosen,
    Counts,
    Prior,
    Room,
    State,
    crowd_of,
    new_drawn,
    new_room,
    new_work,
)
from coterie.kernels.gibbs.consensus.swap import sweep_classes
from coterie.kernels.gibbs.consensus.tally import layout_of, tally_bystanders
from coterie.kernels.gibbs.groups import (
    pack_concentration,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from coterie.kernels.gibbs.hcbcc.draws import add_own_means, draw_own_matrices
from coterie.kernels.gibbs.hcbcc.state import State as Crowd
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
from coterie.kernels.truth.counts import count_answers, starting_truth
from coterie.numeric.draws import log_gamma_draws
from coterie.numeric.jit import kernel, part, piece
from coterie.numeric.separate_code import Entry, apart, go_to
from coterie.priors import ConsensusPrior

__all__ = [
    "Prior",
    "State",
    "find_ending",
    "initial_state",
    "layout_of",
    "new_scratch",
    "pack_prior",
    "run_block",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    given: Given
    found: Found
    crowd: Crowd
    room: Room
    seats: Seats


def pack_prior(
    prior: ConsensusPrior, design_effect: float = 0.0, own_matrices: bool = True
) -> Prior:
    """Give a resolved prior, whose class weights are known, as the kernels read it.

    The design effect is of what is tallied, and whose matrices are kept of what is kept: neither
    changes where the chain goes.
    """
    point = (np.arange(prior.knowledge_points) + 0.5) / prior.knowledge_points
    log_point = np.log(np.stack([1 - point, point], axis=1))
    log_share = log_point @ np.array([prior.knowledge.b - 1, prior.knowledge.a - 1])
    log_share -= np.logaddexp.reduce(log_share)
    guessing = np.asarray(prior.guessing)
    with np.errstate(divide="ignore"):
        log_source = np.log(np.stack([guessing, 1 - guessing], axis=1))
    return Prior(
        class_weight=np.array(prior.class_weights, np.float64),
        point=point,
        log_point=log_point,
        point_share=np.exp(log_share),
        log_share=log_share,
        guess_weight=np.array(prior.guess_weights),
        mean_strength=float(prior.mean_strength),
        shape=float(np.asarray(prior.strength.shape)),
        rate=float(np.asarray(prior.strength.rate)),
        guessing=np.array(guessing),
        log_source=log_source,
        kind_weight=np.array(prior.kind_weights),
        hard_weight=np.array(prior.hard_guess_weights),
        concentration=pack_concentration(prior.concentration),
        auxiliaries=prior.auxiliaries,
        design_effect=design_effect,
        own_matrices=own_matrices,
    )


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), and a grouping, shape (L,); every item is plain.

    alpha, w, d, beta and eta come from their priors; a sweep first updates all but alpha.
    """
    start, class_total = starting_truth(truth, data)
    n_annotators = len(data.annotator_start) - 1
    matrix = np.arange(n_annotators, dtype=np.int32)
    said, said_total = count_answers(start, matrix, n_annotators, data)
    seats, size, slot, n_coteries = starting_groups(group, data, prior.auxiliaries)
    labelled = np.diff(data.item_start) > 0
    n_kinds = len(prior.guessing)
    source = np.zeros((n_kinds, 2), np.int64)
    source[0, 1] = len(data.item_answer)
    log_guess = log_gamma_draws(prior.guess_weight, rng)
    log_guess -= np.logaddexp.reduce(log_guess)
    shape = (len(slot), data.n_answers, data.n_classes)
    state = State(
        truth=start,
        class_total=class_total,
        said=said,
        said_total=said_total,
        group=seats,
        size=size,
        slot=slot,
        n_coteries=n_coteries,
        log_concentration=np.array([starting_concentration(prior.concentration, rng)]),
        weight=np.zeros(shape),
        strength=np.zeros((shape[0], shape[2])),
        log_mean=np.zeros(shape),
        log_strength=np.zeros((shape[0], shape[2])),
        known=np.zeros(shape[0], np.int32),
        guess=np.exp(log_guess),
        log_guess=log_guess,
        kind=np.where(labelled, 0, -1).astype(np.int32),
        kind_total=np.bincount(np.zeros(labelled.sum(), np.int64), minlength=n_kinds),
        own=np.ones(len(data.item_answer), np.int8),
        source=source,
        guessed=np.zeros(data.n_answers, np.int64),
    )
    room = new_room(state, data, prior)
    for m in range(int(n_coteries[0])):
        draw_fresh(m, state, prior, room, rng)
    return state


def given_to_items(state: State, prior: Prior) -> Given:
    """Give room for what the items are given."""
    return Given(prior, new_drawn(state))


def found_of_items(state: State) -> Found:
    """Show the part of the state that items change."""
    return Found(
        Chosen(state.truth, state.kind, state.own),
        Counts(state.class_total, state.kind_total, state.said, state.source, state.guessed),
        new_work(state),
    )


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    return Scratch(
        given=given_to_items(state, prior),
        found=found_of_items(state),
        crowd=crowd_of(state),
        room=new_room(state, data, prior),
        seats=new_seats(len(state.slot), data),
    )


def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    block = state, data, prior, streams, record, scratch
    run_sweeps(ending.entry(0, *block), *block)


def find_ending(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Compile what ends a sweep of a block, but run nothing."""
    entry = ending.entry(0, state, data, prior, streams, record, scratch)
    if entry is not None:
        _ = entry.address


@kernel
def run_sweeps(
    end: Entry | None, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Do so; what ends a sweep is at an entry, or compiled in."""
    sweep_all(end, state, data, prior, streams, record, scratch)


@part
def sweep_all(
    end: Entry | None, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Do so without counting references."""
    given, found, crowd, room, _ = scratch
    tally, moves = record.tally, streams.moves
    for sweep in range(len(record.trace.log_joint)):
        # Parameters first: at the start they know nothing of the labels yet.
        sweep_parameters(state, crowd, prior, room, moves)
        sweep_classes(state, prior, room, moves)
        draw_given(state, prior, given.drawn, moves)
        clear_counts(found.counts)
        sweep_items((0, len(state.truth)), data, given, found, tally, moves)
        add_totals(state)
        tally_bystanders(state, prior, data, tally)
        if end is None:
            finish(sweep, state, data, prior, streams, record, scratch)
        else:
            go_to(end, sweep, state, data, prior, streams, record, scratch)


@part
def finish(
    sweep: int, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Move the annotators, note the sweep, and keep the draw if one is due."""
    trace, moves, log_alpha = record.trace, streams.moves, state.log_concentration
    sweep_groups(state, scratch.crowd, prior, scratch.room, moves)
    update_concentration(log_alpha, state.size, state.n_coteries, prior.concentration, moves)
    log_p_labels = log_labels_given(state, prior, scratch.room)
    trace.log_likelihood[sweep] = log_p_labels
    trace.log_joint[sweep] = log_p_labels + log_rest(state, prior)
    trace.n_coteries[sweep] = state.n_coteries[0]
    trace.concentration[sweep] = math.exp(log_alpha[0])
    note_classes(sweep, state.class_total, trace)
    if draw_is_due(record.keep):
        keep_draw(state, data, prior, streams, record.keep, scratch)


ending = apart(finish)


@part
def clear_counts(counts: Counts) -> None:
    """Forget all items."""
    counts.class_total[:] = 0
    counts.kind_total[:] = 0
    counts.said[:] = 0
    counts.source[:] = 0
    counts.guessed[:] = 0


@part
def add_totals(state: State) -> None:
    """Sum the counts of labels over the answers."""
    for l in range(state.said.shape[0]):
        for t in range(state.said.shape[2]):
            state.said_total[l, t] = 0
        for c in range(state.said.shape[1]):
            for t in range(state.said.shape[2]):
                state.said_total[l, t] += state.said[l, c, t]


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Keep the present state as a draw.

    ``streams.spare`` draws for annotators without labels: they move nobody else's draws. Free
    slots of the state hold the parameters of coteries that are open for this draw only.
    """
    crowd, seats = scratch.crowd, scratch.seats
    keep_state(state.n_coteries[0], state.truth, keep)
    open_coteries(state, prior, streams.spare, seats, scratch.room)
    write_partition(seats, keep.partition[keep.used[1]])
    if add_own_means(crowd, keep.confusion_sum) > 0:
        write_newcomer(state, crowd, prior, seats)
        add_newcomers(state.group, 1, seats.newcomer, keep.confusion_sum)
    if matrices_are_due(keep):
        if prior.own_matrices:
            draw_own_matrices(crowd, streams, seats, keep.row, keep.confusion[keep.used[2]])
        else:
            keep_shapes(crowd, seats, keep)
        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)
    finish_draw(keep)
