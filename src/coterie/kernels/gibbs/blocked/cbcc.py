"""cBCC, blocked: Psi[m, t] ~ Dir(beta[t] eta[t] + n[m, t]), tau ~ Dir(eps mu + n), then z, q."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.gibbs import cbcc
from coterie.kernels.gibbs.blocked.given import draw_balance, draw_matrix_logs
from coterie.kernels.gibbs.blocked.items import Given, Totals
from coterie.kernels.gibbs.blocked.kernels import kernel_of_block, kernels_around_items
from coterie.kernels.gibbs.blocked.whole import Whole, new_whole
from coterie.kernels.gibbs.cbcc import (
    Prior,
    State,
    copy_matrix,
    initial_state,
    keep_draw,
    log_likelihood,
    new_room,
    pack_prior,
    split_and_merge,
    sweep_groups,
)
from coterie.kernels.gibbs.check import check_labels, check_shared
from coterie.kernels.gibbs.groups import log_partition, update_concentration
from coterie.kernels.keep import Record, Streams, draw_is_due
from coterie.kernels.record import note_classes
from coterie.kernels.truth.counts import log_truth
from coterie.numeric.jit import part

__all__ = [
    "Prior",
    "State",
    "begin_sweep",
    "check_state",
    "finish_sweep",
    "initial_state",
    "keep_draw",
    "new_room",
    "new_scratch",
    "pack_prior",
    "run_block",
    "take_counts",
]


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    plain: cbcc.Scratch
    whole: Whole


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state can be of these labels, whose items are elsewhere."""
    check_labels(state.own, data)
    check_shared(state, state.own)


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    return Scratch(cbcc.new_scratch(state, data, prior), new_whole(state.truth, data))


@part
def begin(
    state: State, data: Codes, prior: Prior, given: Given, scratch: Scratch,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Draw what the items are given: a matrix per coterie, written for each of its members."""
    first = scratch.plain.seats.noted  # the first member of every coterie
    first[:] = -1
    for l in range(len(state.group)):
        m = state.group[l]
        if m >= 0 and first[m] < 0:
            draw_matrix_logs(state.said[m], prior.shapes, 0, rng, l, given)
            first[m] = l
        elif m >= 0:
            copy_matrix(first[m], l, given.chance)
            copy_matrix(first[m], l, given.log_chance)
    draw_balance(state.class_total, prior.class_weight, rng, given)


@part
def take(state: State, totals: Totals) -> None:
    """Write what was counted to the state, by annotator and by coterie."""
    n_annotators, n_answers, n_classes = state.own.shape
    for t in range(n_classes):
        state.class_total[t] = totals.class_total[t]
    state.said[:] = 0
    state.said_total[:] = 0
    for l in range(n_annotators):
        m = state.group[l]
        for c in range(n_answers):
            for t in range(n_classes):
                n = totals.said[l, c, t]
                state.own[l, c, t] = n
                if m >= 0:
                    state.said[m, c, t] += n
                    state.said_total[m, t] += n


@part
def finish(
    sweep: int, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Move the annotators, note the sweep, and keep the draw if one is due."""
    trace, moves, log_alpha = record.trace, streams.moves, state.log_concentration
    view, _, room, split, _ = scratch.plain
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
        keep_draw(state, data, prior, streams, record.keep, scratch.plain)


begin_sweep, take_counts, finish_sweep = kernels_around_items(begin, take, finish)
run_block = kernel_of_block(begin, take, finish)
