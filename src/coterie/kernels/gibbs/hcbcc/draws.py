"""Draws of hcBCC and of its kin: everybody has a matrix of their own, given their coterie's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.gibbs.confusion import add_mean, draw_matrix
from coterie.kernels.gibbs.hcbcc.parameters import Sums, clear_sums, draw_parameters
from coterie.kernels.gibbs.hcbcc.state import Prior, State
from coterie.kernels.gibbs.seats import Seats, count_people, seat_everybody, share_of_new
from coterie.kernels.keep import Streams
from coterie.kernels.shapes import Shapes
from coterie.numeric.jit import int64, part, piece

FloatArray = NDArray[np.float64]


@part
def open_coteries(
    state: State, prior: Prior, spare: np.random.Generator, seats: Seats, sums: Sums
) -> None:
    """Seat everybody, and draw the parameters of the coteries that newcomers open."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    free = state.slot[state.n_coteries[0] + prior.auxiliaries :]
    for k in range(seat_everybody(state.group, free, state.log_concentration[0], spare, seats)):
        clear_sums(sums)
        draw_parameters(int64(free[k]), sums, prior.base, shapes, spare)


@part
def draw_own_matrices(
    state: State, streams: Streams, seats: Seats, row: FloatArray, out: NDArray[Any]
) -> None:
    """Draw everybody's own matrix, given the parameters of their coterie, out (L, T, C)."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    for l in range(len(state.group)):
        m = int64(seats.seat[l])
        if state.group[l] >= 0:
            draw_matrix(state.said[l], shapes, m, streams.draws, row, out[l])
        else:
            draw_matrix(state.said[l], shapes, m, streams.spare, row, out[l])


@part
def add_own_means(state: State, out: FloatArray) -> int:
    """Add the mean matrix of everybody with labels given the state, out (L, T, C).

    Returned is how many annotators have no labels.
    """
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    n_newcomers = int64(0)
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            add_mean(state.said[l], shapes, state.group[l], 1.0, out[l])
        else:
            n_newcomers += 1
    return n_newcomers


@part
def write_newcomer(state: State, prior: Prior, seats: Seats) -> None:
    """Write the mean matrix of an annotator without labels to ``seats.newcomer``."""
    mean_weight = prior.base.mean_weight
    new = write_joined(state, seats)
    for t in range(mean_weight.shape[1]):
        total = 0.0
        for c in range(mean_weight.shape[0]):
            total += mean_weight[c, t]
        for c in range(mean_weight.shape[0]):
            seats.newcomer[t, c] += new * mean_weight[c, t] / total


@piece
def write_joined(state: State, seats: Seats) -> float:
    """Write what of it comes from coteries that they may join; give their chance to open one."""
    n_people = count_people(state.group)
    new = share_of_new(n_people, state.log_concentration[0])
    for t in range(state.log_mean.shape[2]):
        for c in range(state.log_mean.shape[1]):
            seats.newcomer[t, c] = 0.0
            for k in range(state.n_coteries[0]):
                m = state.slot[k]
                share = (1 - new) * state.size[m] / n_people
                seats.newcomer[t, c] += share * math.exp(state.log_mean[m, c, t])
    return new
