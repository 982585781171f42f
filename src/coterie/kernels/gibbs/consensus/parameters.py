"""The parameters of coteries, beta and eta, and everybody's matrices: conjugate draws.

For the members l of coterie m, with n[l, t, c] the labels that came from their matrices,

    nu[l, t]    ~ Beta(beta[m], n[l, t])  where n[l, t] > 0
    S[m, t, c]  = sum over l of Antoniak(n[l, t, c], beta[m] eta[m, t, c])
    beta[m]     ~ Gamma(a + S[m], b - sum over l, t of log nu[l, t])
    eta[m, t]   ~ Dir(phi b[m, t] + S[m, t])         after d and w, see base.py
    Psi[l, t]   ~ Dir(beta[m] eta[m, t] + n[l, t])   after the exchange of classes
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.gibbs.consensus.base import base_weight, draw_base
from coterie.kernels.gibbs.consensus.split import split_and_merge
from coterie.kernels.gibbs.consensus.state import Drawn, Prior, Room, State
from coterie.kernels.gibbs.hcbcc.members import draw_auxiliaries, sum_members
from coterie.kernels.gibbs.hcbcc.parameters import Sums
from coterie.kernels.gibbs.hcbcc.state import State as Crowd
from coterie.kernels.shapes import TINY
from coterie.numeric.draws import draw_log_dirichlet, draw_log_gamma, log_add
from coterie.numeric.jit import int64, part, piece

LongArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@part
def note_tables(m: int, room: Room) -> None:
    """Note S of coterie m, whose members are summed."""
    sums = room.crowd.sums
    for c in range(sums.tables.shape[0]):
        for t in range(sums.tables.shape[1]):
            room.tables[m, c, t] = int64(sums.tables[c, t])


@piece
def strength_posterior(sums: Sums, prior: Prior) -> tuple[float, float]:
    """Give the shape and the log of the rate of the Gamma that beta is drawn from."""
    shape, decay, log_decay = prior.shape, 0.0, -math.inf
    for t in range(sums.tables.shape[1]):
        decay += sums.decay[t]
        log_decay = log_add(log_decay, sums.log_decay[t])
        for c in range(sums.tables.shape[0]):
            shape += sums.tables[c, t]
    return shape, log_add(math.log(prior.rate + decay), log_decay)


@piece
def set_strength(m: int, log_strength: float, state: State) -> None:
    """Write beta[m], the same for every class."""
    for t in range(state.strength.shape[1]):
        state.log_strength[m, t] = log_strength
        state.strength[m, t] = math.exp(log_strength)


@piece
def mean_posterior(
    m: int, c: int, t: int, tables: LongArray, place: int, state: State, prior: Prior
) -> float:
    """Give the shape at c of the Dirichlet that eta[m, t] is drawn from."""
    return float(base_weight(m, c, t, state, prior) + tables[place, c, t])


@part
def draw_mean(
    m: int, tables: LongArray, place: int, state: State, prior: Prior, rng: np.random.Generator
) -> None:
    """Draw eta[m] given its tables, which are ``tables[place]``."""
    n_answers, n_classes = state.said.shape[1], state.said.shape[2]
    for t in range(n_classes):
        log_total = -math.inf
        for c in range(n_answers):
            shape = mean_posterior(m, c, t, tables, place, state, prior)
            state.log_mean[m, c, t] = draw_log_gamma(shape, rng)
            log_total = log_add(log_total, state.log_mean[m, c, t])
        for c in range(n_answers):
            state.log_mean[m, c, t] -= log_total
            state.weight[m, c, t] = math.exp(state.log_strength[m, t] + state.log_mean[m, c, t])


@part
def sweep_parameters(
    state: State, crowd: Crowd, prior: Prior, room: Room, rng: np.random.Generator
) -> None:
    """Update beta, d and eta of each coterie given its members, w, and the coteries."""
    draw_auxiliaries(crowd, room.crowd, rng)
    for k in range(state.n_coteries[0]):
        m = int64(state.slot[k])
        sum_members(m, room.crowd)
        note_tables(m, room)
        shape, log_rate = strength_posterior(room.crowd.sums, prior)
        set_strength(m, draw_log_gamma(shape, rng) - log_rate, state)
    draw_base(state, prior, room, rng)
    for k in range(state.n_coteries[0]):
        m = int64(state.slot[k])
        draw_mean(m, room.tables, m, state, prior, rng)
    split_and_merge(state, crowd, prior, room, rng)


@part
def draw_row(l: int, t: int, state: State, drawn: Drawn, rng: np.random.Generator) -> None:
    """Draw Psi[l, t] given the counts, and its log, which stays finite where it underflows."""
    m = state.group[l]
    logs, chance = drawn.log_chance, drawn.chance
    most, total = -math.inf, 0.0
    vague = state.said_total[l, t] == 0 and state.strength[m, t] < TINY
    for c in range(state.said.shape[1]):
        if vague:  # all on one answer, drawn from the mean: who comes first
            wait = math.log(-math.log1p(-rng.random())) - state.log_mean[m, c, t]
            logs[l, c, t] = -math.exp(wait) / TINY
        else:
            logs[l, c, t] = draw_log_gamma(state.weight[m, c, t] + state.said[l, c, t], rng)
        most = logs[l, c, t] if logs[l, c, t] > most else most
    for c in range(state.said.shape[1]):
        logs[l, c, t] -= most  # the largest becomes one: the sum is neither zero nor infinite
        chance[l, c, t] = math.exp(logs[l, c, t])
        total += chance[l, c, t]
    log_total, scale = math.log(total), 1 / total
    for c in range(state.said.shape[1]):
        logs[l, c, t] -= log_total
        chance[l, c, t] *= scale


@piece
def draw_shares(
    count: LongArray,
    weight: FloatArray,
    logs: FloatArray,
    shares: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Draw shares ~ Dir(weight + count), and their logs."""
    for k in range(len(count)):
        shares[k] = weight[k] + count[k]
    draw_log_dirichlet(shares, rng, logs)
    for k in range(len(count)):
        shares[k] = math.exp(logs[k])


@part
def draw_given(state: State, prior: Prior, drawn: Drawn, rng: np.random.Generator) -> None:
    """Draw what the items are given: everybody's matrices, v, rho and pi."""
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            for t in range(state.said.shape[2]):
                draw_row(l, t, state, drawn, rng)
    draw_shares(state.guessed, prior.hard_weight, drawn.log_hard, drawn.hard, rng)
    draw_shares(state.kind_total, prior.kind_weight, drawn.log_kinds, drawn.kinds, rng)
    draw_shares(state.class_total, prior.class_weight, drawn.log_balance, drawn.balance, rng)
