"""The members of hcBCC's groups: their auxiliary variables, and the update of the parameters."""

from __future__ import annotations

import numpy as np

from coterie.kernels.gibbs.hcbcc.parameters import add_decay, clear_sums, draw_parameters
from coterie.kernels.gibbs.hcbcc.state import Prior, Room, State
from coterie.kernels.shapes import Shapes
from coterie.numeric.draws import draw_antoniak, fill_antoniak, table_length
from coterie.numeric.jit import int64, part, piece


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
def add_decays(m: int, t: int, state: State, room: Room, rng: np.random.Generator) -> None:
    """Draw nu[l, t] of all members of group m; add -log nu."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    l = room.first[m]
    while l >= 0:
        if state.said_total[l, t] > 0:  # else its factor is one: there is no nu
            add_decay(state.said_total[l, t], t, m, shapes, room.sums, rng)
        l = room.following[l]


@piece
def add_tables(m: int, c: int, t: int, state: State, room: Room, rng: np.random.Generator) -> None:
    """Draw s[l, t, c] of all members of group m; add them."""
    most, total = 0, 0
    l = room.first[m]
    while l >= 0:
        n = state.said[l, c, t]
        most = n if n > most else most
        total += n
        l = room.following[l]
    if total == 0:
        return
    x, table, length = state.weight[m, c, t], room.sums.antoniak, table_length(most, total)
    fill_antoniak(x, length, table)
    l = room.first[m]
    while l >= 0:
        n = state.said[l, c, t]
        if n > 0:
            room.sums.tables[c, t] += draw_antoniak(n, x, table, length, rng)
        l = room.following[l]


@part
def sweep_parameters(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Update beta and eta of every group given its members; redraw the auxiliaries."""
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    list_members(state, room)
    for k in range(state.n_coteries[0] + prior.auxiliaries):
        m = int64(state.slot[k])
        clear_sums(room.sums)
        if k < state.n_coteries[0]:
            for t in range(state.said.shape[2]):
                add_decays(m, t, state, room, rng)
                for c in range(state.said.shape[1]):
                    add_tables(m, c, t, state, room, rng)
        draw_parameters(m, room.sums, prior.base, shapes, rng)
