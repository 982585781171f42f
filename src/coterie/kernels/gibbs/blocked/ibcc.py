"""iBCC, blocked: Psi[l, t] ~ Dir(beta[t] eta[t] + n[l, t]), tau ~ Dir(eps mu + n), then z."""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.gibbs import ibcc
from coterie.kernels.gibbs.blocked.given import (
    draw_balance,
    draw_matrix_logs,
    has_labels,
    take_totals,
)
from coterie.kernels.gibbs.blocked.items import Given, Totals
from coterie.kernels.gibbs.blocked.kernels import kernel_of_block, kernels_around_items
from coterie.kernels.gibbs.blocked.whole import Scratch, new_whole
from coterie.kernels.gibbs.check import check_labels, check_said
from coterie.kernels.gibbs.ibcc import (
    Prior,
    State,
    finish,
    initial_state,
    keep_draw,
    pack_prior,
)
from coterie.numeric.jit import part

__all__ = [
    "Prior",
    "State",
    "begin_sweep",
    "check_state",
    "finish_sweep",
    "initial_state",
    "keep_draw",
    "new_scratch",
    "pack_prior",
    "run_block",
    "take_counts",
]


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state can be of these labels, whose items are elsewhere."""
    check_labels(state.said, data)
    check_said(state, state.said)


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    return Scratch(ibcc.new_scratch(state, data, prior), new_whole(state.truth, data))


@part
def begin(
    state: State, data: Codes, prior: Prior, given: Given, scratch: Scratch,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Draw what the items are given."""
    for l in range(len(state.said)):
        if has_labels(l, data):
            draw_matrix_logs(state.said[l], prior.shapes, 0, rng, l, given)
    draw_balance(state.class_total, prior.class_weight, rng, given)


@part
def take(state: State, totals: Totals) -> None:
    """Write what was counted to the state."""
    take_totals(totals, state.class_total, state.said, state.said_total)


begin_sweep, take_counts, finish_sweep = kernels_around_items(begin, take, finish)
run_block = kernel_of_block(begin, take, finish)
