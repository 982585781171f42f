"""The coteries: annotators move by the Reuse algorithm, as in hcBCC.

An auxiliary coterie's d, beta and eta come from their priors under the present w. All of them are
drawn when the step begins and forgotten when it ends, because w moves in between.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.consensus.parameters import draw_mean, set_strength
from coterie.kernels.gibbs.consensus.state import Prior, Room, State
from coterie.kernels.gibbs.hcbcc.reuse import know_group, update_group
from coterie.kernels.gibbs.hcbcc.state import State as Crowd
from coterie.numeric.choice import pick
from coterie.numeric.draws import draw_log_gamma
from coterie.numeric.jit import int64, part


@part
def draw_fresh(m: int, state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Draw d, beta and eta of slot m from their priors."""
    state.known[m] = pick(prior.point_share, rng.random())
    set_strength(m, draw_log_gamma(prior.shape, rng) - math.log(prior.rate), state)
    draw_mean(m, room.nothing, 0, state, prior, rng)


@part
def sweep_groups(
    state: State, crowd: Crowd, prior: Prior, room: Room, rng: np.random.Generator
) -> None:
    """Update the coterie of every annotator who has labels.

    Left in ``room.crowd.log_likelihood`` is the log probability of the labels with g = 1, the
    matrices integrated out: everybody's have just been weighed where they went.
    """
    n_coteries = state.n_coteries[0]
    for k in range(n_coteries + prior.auxiliaries):
        m = int64(state.slot[k])
        if k >= n_coteries:
            draw_fresh(m, state, prior, room, rng)
        know_group(m, crowd, room.crowd)
    room.crowd.log_likelihood[0] = 0.0
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            u = (rng.random(), rng.random())
            refill, _ = update_group(l, crowd, prior, room.crowd, u)
            if refill >= 0:
                draw_fresh(refill, state, prior, room, rng)
                know_group(refill, crowd, room.crowd)
