"""cBCC, blocked: Psi[m, t] ~ Dir(beta[t] eta[t] + n[m, t]), tau ~ Dir(eps mu + n), then z, q."""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.gibbs import cbcc
from coterie.kernels.gibbs.blocked.given import draw_balance, draw_matrix_logs
from coterie.kernels.gibbs.blocked.items import Given, Totals
from coterie.kernels.gibbs.blocked.kernels import kernel_of_block, kernels_around_items
from coterie.kernels.gibbs.blocked.whole import Scratch, new_whole
from coterie.kernels.gibbs.cbcc import (
    Prior,
    State,
    finish,
    initial_state,
    keep_draw,
    new_room,
    pack_prior,
)
from coterie.kernels.gibbs.check import check_labels, check_shared
from coterie.kernels.gibbs.confusion import copy_matrix
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


begin_sweep, take_counts, finish_sweep = kernels_around_items(begin, take, finish)
run_block = kernel_of_block(begin, take, finish)
