"""iBCC, blocked: Psi[l, t] ~ Dir(beta[t] eta[t] + n[l, t]), tau ~ Dir(eps mu + n), then z."""

from __future__ import annotations

from typing import NamedTuple

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
from coterie.kernels.gibbs.blocked.whole import Whole, new_whole
from coterie.kernels.gibbs.check import check_labels, check_said
from coterie.kernels.gibbs.ibcc import (
    Prior,
    State,
    initial_state,
    keep_draw,
    log_likelihood,
    pack_prior,
)
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
    "new_scratch",
    "pack_prior",
    "run_block",
    "take_counts",
]


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    plain: ibcc.Scratch
    whole: Whole


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


@part
def finish(
    sweep: int, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Note the sweep, and keep the draw if one is due."""
    trace, (view, _) = record.trace, scratch.plain
    trace.log_likelihood[sweep] = log_likelihood(state, prior)
    trace.log_joint[sweep] = trace.log_likelihood[sweep] + log_truth(view)
    note_classes(sweep, state.class_total, trace)
    if draw_is_due(record.keep):
        keep_draw(state, data, prior, streams, record.keep, scratch.plain)


begin_sweep, take_counts, finish_sweep = kernels_around_items(begin, take, finish)
run_block = kernel_of_block(begin, take, finish)
