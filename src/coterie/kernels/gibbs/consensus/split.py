"""Split and merge coteries with their beta and eta; d is summed over its points, then drawn.

Given w, log p(eta | d, w) is linear in d up to its constant, which swap.py tabulates
once per sweep.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels.gibbs.consensus.state import Prior, Room, State
from coterie.kernels.gibbs.consensus.swap import know_norm, redraw_known
from coterie.kernels.gibbs.hcbcc.state import State as Crowd
from coterie.kernels.gibbs.regroup.move import regroup
from coterie.kernels.gibbs.regroup.room import LEAVES, STAYS
from coterie.numeric.jit import int64, part


@part
def know_means(state: State, prior: Prior, room: Room) -> None:
    """Write the prior of eta under the present w."""
    know_norm(state, prior, room)
    for c in range(room.means.guess.shape[0]):
        for t in range(room.means.guess.shape[1]):
            room.means.guess[c, t] = prior.mean_strength * state.guess[c]


@part
def split_and_merge(
    state: State, crowd: Crowd, prior: Prior, room: Room, rng: np.random.Generator
) -> None:
    """Propose to split or merge coteries."""
    split = room.crowd.split
    know_means(state, prior, room)
    for _ in range(split.proposals[0]):
        if regroup(crowd, state.log_concentration[0], room.means, split, rng):
            a, b = state.group[split.pair[STAYS]], state.group[split.pair[LEAVES]]
            redraw_known(int64(a), state, prior, room, rng.random())
            if a != b:
                redraw_known(int64(b), state, prior, room, rng.random())
