"""hcBCC, blocked: beta, eta; Psi[l, t] ~ Dir(beta[m, t] eta[m, t] + n[l, t]), tau; then z, q."""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.gibbs.blocked.given import draw_balance, draw_matrix_logs, take_totals
from coterie.kernels.gibbs.blocked.items import Given, Totals
from coterie.kernels.gibbs.blocked.kernels import kernel_of_block, kernels_around_items
from coterie.kernels.gibbs.blocked.whole import Scratch, new_whole
from coterie.kernels.gibbs.check import check_groups, check_labels, check_parameters, check_said
from coterie.kernels.gibbs.hcbcc import model
from coterie.kernels.gibbs.hcbcc.members import sweep_parameters
from coterie.kernels.gibbs.hcbcc.model import finish, initial_state, keep_draw, pack_prior
from coterie.kernels.gibbs.hcbcc.state import Prior, State
from coterie.kernels.shapes import Shapes
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
    check_groups(state)
    check_parameters(state, prior.auxiliaries)


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    return Scratch(model.new_scratch(state, data, prior), new_whole(state.truth, data))


@part
def begin(
    state: State, data: Codes, prior: Prior, given: Given, scratch: Scratch,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Update beta and eta, which at the start know nothing of the labels; then draw the rest."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    sweep_parameters(state, prior, scratch.plain.room, rng)
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            draw_matrix_logs(state.said[l], shapes, state.group[l], rng, l, given)
    draw_balance(state.class_total, prior.class_weight, rng, given)


@part
def take(state: State, totals: Totals) -> None:
    """Write what was counted to the state."""
    take_totals(totals, state.class_total, state.said, state.said_total)


begin_sweep, take_counts, finish_sweep = kernels_around_items(begin, take, finish)
run_block = kernel_of_block(begin, take, finish)
