"""The members of hcBCC's groups: their auxiliary variables, and the update of the parameters.

beta and eta are drawn given the auxiliary variables nu and s of everybody; then groups are split
and merged with them (:mod:`coterie.kernels.gibbs.regroup.move`).
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.hcbcc.parameters import (
    add_decay,
    clear_sums,
    draw_decay,
    draw_log_decay,
    draw_parameters,
)
from coterie.kernels.gibbs.hcbcc.state import Prior, Room, State
from coterie.kernels.gibbs.regroup.move import regroup
from coterie.kernels.shapes import Shapes
from coterie.numeric.draws import draw_antoniak, fill_antoniak, table_length
from coterie.numeric.jit import int64, part, piece

LARGEST_LOG = 700.0
"""Larger logs are of numbers that are too large for a float."""


@piece
def list_members(state: State, room: Room) -> None:
    """Chain the members of every group: ``room.first``, then ``room.following``."""
    for m in range(len(state.slot)):
        room.first[m] = -1
    for back in range(len(state.group)):
        l = len(state.group) - 1 - back
        m = state.group[l]
        if m >= 0:
            room.following[l] = room.first[m]
            room.first[m] = l


@piece
def draw_decays(m: int, t: int, state: State, room: Room, rng: np.random.Generator) -> None:
    """Draw -log nu[l, t] of all members of group m."""
    strength, log_strength = state.strength[m, t], state.log_strength[m, t]
    l = room.first[m]
    while l >= 0:
        n = state.said_total[l, t]
        decay, log_decay = 0.0, -math.inf
        if n > 0 and strength >= 1:  # without labels its factor is one: there is no nu
            decay = draw_decay(strength, float(n), rng)
        elif n > 0:
            # Only a weak coterie's -log nu can be too large for a float; logs take longer.
            log_decay = draw_log_decay(strength, log_strength, float(n), rng)
            decay = math.exp(log_decay) if log_decay < LARGEST_LOG else math.inf
        room.decay[l, t], room.log_decay[l, t] = decay, log_decay
        l = room.following[l]


@piece
def draw_tables(m: int, c: int, t: int, state: State, room: Room, rng: np.random.Generator) -> None:
    """Draw s[l, t, c] of all members of group m."""
    most, total, tables = 0, 0, room.tables
    l = room.first[m]
    while l >= 0:
        n = state.said[l, c, t]
        most = n if n > most else most
        total += n
        tables[l, c, t] = 0
        l = room.following[l]
    if total == 0:
        return
    x, chances, length = state.weight[m, c, t], room.sums.antoniak, table_length(most, total)
    fill_antoniak(x, length, chances)
    l = room.first[m]
    while l >= 0:
        n = state.said[l, c, t]
        if n > 0:
            tables[l, c, t] = draw_antoniak(n, x, chances, length, rng)
        l = room.following[l]


@part
def draw_auxiliaries(state: State, room: Room, rng: np.random.Generator) -> None:
    """Draw nu and s of everybody who has labels."""
    list_members(state, room)
    for k in range(state.n_coteries[0]):
        m = int64(state.slot[k])
        for t in range(state.said.shape[2]):
            draw_decays(m, t, state, room, rng)
            for c in range(state.said.shape[1]):
                draw_tables(m, c, t, state, room, rng)


@part
def sum_members(m: int, room: Room) -> None:
    """Sum the auxiliary variables of the members of group m, who are listed."""
    sums, tables = room.sums, room.tables
    clear_sums(sums)
    l = room.first[m]
    while l >= 0:
        for t in range(tables.shape[2]):
            add_decay(room.decay[l, t], room.log_decay[l, t], t, sums)
        for c in range(tables.shape[1]):
            for t in range(tables.shape[2]):
                sums.tables[c, t] += tables[l, c, t]
        l = room.following[l]


@part
def split_and_merge(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Propose to split or merge groups, with their beta and eta."""
    for _ in range(room.split.proposals[0]):
        regroup(state, state.log_concentration[0], prior.split, room.split, rng)


@part
def sweep_parameters(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Update beta and eta of each group, and the groups; redraw the auxiliaries."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    draw_auxiliaries(state, room, rng)
    for k in range(state.n_coteries[0]):
        m = int64(state.slot[k])
        sum_members(m, room)
        draw_parameters(m, room.sums, prior.base, shapes, rng)
    split_and_merge(state, prior, room, rng)
    clear_sums(room.sums)
    for k in range(state.n_coteries[0], state.n_coteries[0] + prior.auxiliaries):
        draw_parameters(int64(state.slot[k]), room.sums, prior.base, shapes, rng)
