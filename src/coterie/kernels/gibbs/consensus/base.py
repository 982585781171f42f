"""What coteries have in common: d[m], how much each knows, and w, what a guess looks like.

Row t of a coterie's mean matrix is eta[m, t] ~ Dir(phi b[m, t]), where

    b[m, t, c] = d[m] 1[c = t] + (1 - d[m]) w[c].

Given the tables S[m, t, c] of its members (parameters.py), with eta integrated out,

    U[m, t, c] ~ Antoniak(S[m, t, c], phi b[m, t, c])
    K[m, t]    ~ Binomial(U[m, t, t], d[m] / b[m, t, t])

say how many draws from b there were, and how many of those were knowledge; then

    d[m] in proportion to p(d) d^K[m] (1 - d)^(U[m] - K[m]) on its points,
    w    ~ Dir(weights + sum over m, t of U[m, t, c] - sum over m of K[m, c]).
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.consensus.state import Prior, Room, State
from coterie.numeric.choice import normalise, pick
from coterie.numeric.draws import (
    draw_antoniak,
    draw_log_dirichlet,
    fill_antoniak,
    table_length,
)
from coterie.numeric.jit import int64, part, piece


@piece
def base_weight(m: int, c: int, t: int, state: State, prior: Prior) -> float:
    """Give phi b[m, t, c]."""
    d = prior.point[state.known[m]]
    knows = d if c == t else 0.0
    return float(prior.mean_strength * (knows + (1 - d) * state.guess[c]))


@piece
def log_base_weight(m: int, c: int, t: int, state: State, prior: Prior) -> float:
    """Give its log, which stays finite where w underflows."""
    if c == t:
        return math.log(base_weight(m, c, t, state, prior))
    log_guesses = prior.log_point[state.known[m], 0]
    return float(math.log(prior.mean_strength) + log_guesses + state.log_guess[c])


@piece
def share_known(m: int, t: int, state: State, prior: Prior) -> float:
    """Give d[m] / b[m, t, t]: the chance that a right answer was known."""
    return float(
        prior.mean_strength * prior.point[state.known[m]] / base_weight(m, t, t, state, prior)
    )


@piece
def weigh_points(known: int, guessed: int, prior: Prior, room: Room) -> None:
    """Write the log weights of d given K[m] and U[m] - K[m]."""
    for j in range(len(prior.point)):
        room.points[j] = (
            prior.log_share[j] + guessed * prior.log_point[j, 0] + known * prior.log_point[j, 1]
        )


@part
def draw_known(m: int, state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Draw U and K of coterie m, then d[m]; add the guesses to the shapes of w."""
    known, guessed = int64(0), int64(0)
    table = room.crowd.sums.antoniak
    for t in range(state.said.shape[2]):
        for c in range(state.said.shape[1]):
            s = room.tables[m, c, t]
            if s > 0:
                x, length = base_weight(m, c, t, state, prior), table_length(s, s)
                fill_antoniak(x, length, table)
                draws = int64(draw_antoniak(s, x, table, length, rng))
                if c == t:
                    share = share_known(m, t, state, prior)
                    for _ in range(draws):
                        knew = int64(rng.random() < share)
                        known += knew
                        draws -= knew
                guessed += draws
                room.shapes[c] += draws
    weigh_points(known, guessed, prior, room)
    normalise(room.points)
    state.known[m] = pick(room.points, rng.random())


@part
def draw_base(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Draw d of every coterie, and w, given the tables of their members."""
    for c in range(len(prior.guess_weight)):
        room.shapes[c] = prior.guess_weight[c]
    for k in range(state.n_coteries[0]):
        draw_known(int64(state.slot[k]), state, prior, room, rng)
    draw_log_dirichlet(room.shapes, rng, state.log_guess)
    for c in range(len(state.guess)):
        state.guess[c] = math.exp(state.log_guess[c])
