"""Draws of Consensus: as those of hcBCC, but for the prior of a coterie that newcomers open."""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.consensus.groups import draw_fresh
from coterie.kernels.gibbs.consensus.state import Prior, Room, State
from coterie.kernels.gibbs.hcbcc.draws import write_joined
from coterie.kernels.gibbs.hcbcc.state import State as Crowd
from coterie.kernels.gibbs.seats import Seats, seat_everybody
from coterie.kernels.keep import Keep
from coterie.numeric.jit import int64, part

LEAST_SHAPE = 1e-30
"""Strength that is kept at least: what is kept has single precision, and may not underflow."""


@part
def open_coteries(
    state: State, prior: Prior, spare: np.random.Generator, seats: Seats, room: Room
) -> None:
    """Seat everybody, and draw the parameters of the coteries that newcomers open."""
    free = state.slot[state.n_coteries[0] + prior.auxiliaries :]
    for k in range(seat_everybody(state.group, free, state.log_concentration[0], spare, seats)):
        draw_fresh(int64(free[k]), state, prior, room, spare)


@part
def write_newcomer(state: State, crowd: Crowd, prior: Prior, seats: Seats) -> None:
    """Write the mean matrix of an annotator without labels to ``seats.newcomer``."""
    new, d = write_joined(crowd, seats), 0.0
    for j in range(len(prior.point)):
        d += prior.point[j] * prior.point_share[j]
    for t in range(seats.newcomer.shape[0]):
        for c in range(seats.newcomer.shape[1]):
            base = (1 - d) * state.guess[c] + (d if c == t else 0.0)
            seats.newcomer[t, c] += new * base


@part
def keep_shapes(crowd: Crowd, seats: Seats, keep: Keep) -> None:
    """Keep beta eta of everybody's coterie: what :mod:`coterie.kernels.matrices` draws from."""
    out = keep.confusion[keep.used[2]]
    for l in range(len(crowd.group)):
        m = seats.seat[l]
        for t in range(out.shape[1]):
            strength = max(crowd.strength[m, t], LEAST_SHAPE)
            for c in range(out.shape[2]):
                out[l, t, c] = strength * math.exp(crowd.log_mean[m, c, t])
