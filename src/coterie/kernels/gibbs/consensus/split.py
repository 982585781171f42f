"""Split and merge coteries, given the auxiliary variables nu and s and the guesses w.

beta, d and eta are integrated out: the tables S of a coterie have the probability

    p(S) = sum over d of p(d) product over t of
           product over c of (phi b[t, c])_(S[t, c]) / (phi)_(S[t]),

which takes long. A proposal is therefore accepted in two steps. The first has the ratio R of
:mod:`coterie.kernels.gibbs.split_merge` under one base, in the middle of the prior, and turns most
proposals down. The second has what is left of the true ratio: p(a) p(b) / p(m) for a split, divided
by the same under that base, and its inverse for a merge. Because min(1, R) / min(1, 1 / R) = R,
both steps together are in balance with the true ratio. Then d is drawn from what is summed.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.cells import log_marginal, tables_of
from coterie.kernels.gibbs.consensus.state import Prior, Room, State
from coterie.kernels.gibbs.piles import BOTH, LEAVES, STAYS, Base, Seating, base_of
from coterie.kernels.gibbs.split_merge import is_accepted, propose, seat_sides
from coterie.kernels.shapes import shapes_of
from coterie.numeric.choice import normalise, pick
from coterie.numeric.draws import log_add
from coterie.numeric.jit import int64, part
from coterie.numeric.rising import log_rising
from coterie.priors import ConsensusPrior


def middle_base(prior: ConsensusPrior, n_classes: int) -> Base:
    """Give the base in the middle of the prior: d and w at their means."""
    guess = np.asarray(prior.guess_weights, np.float64)
    d = prior.knowledge.a / (prior.knowledge.a + prior.knowledge.b)
    mean = np.tile((1 - d) * guess / guess.sum(), (n_classes, 1))
    mean[np.arange(n_classes), np.arange(n_classes)] += d
    shapes = shapes_of(mean, np.full(n_classes, float(prior.mean_strength)))
    shape, rate = np.atleast_1d(prior.strength.shape), np.atleast_1d(prior.strength.rate)
    return base_of(shapes, tables_of(shapes), shape, rate)


@part
def add_cell(c: int, t: int, n: int, state: State, prior: Prior, room: Room) -> None:
    """Add log (phi b[t, c])_(n) to the log weights of d."""
    phi, guess = prior.mean_strength, state.guess[c]
    for j in range(len(prior.point)):
        d = prior.point[j]
        if c == t:
            x = phi * (d + (1 - d) * guess)
            room.points[j] += log_rising(x, n, math.log(x))
        else:
            log_x = math.log(phi) + prior.log_point[j, 0] + state.log_guess[c]
            room.points[j] += log_rising(phi * (1 - d) * guess, n, log_x)


@part
def weigh_known(k: int, state: State, prior: Prior, room: Room) -> float:
    """Write the log weights of d for side k, eta integrated out; give the log of their sum."""
    sides, phi = room.crowd.split.sides, prior.mean_strength
    rows = 0.0
    for t in range(sides.total.shape[1]):
        rows += log_rising(phi, int64(sides.total[k, t]), math.log(phi))
    for j in range(len(prior.point)):
        room.points[j] = prior.log_share[j] - rows
    for c in range(sides.counts.shape[1]):
        for t in range(sides.counts.shape[2]):
            if sides.counts[k, c, t] > 0:
                add_cell(c, t, int64(sides.counts[k, c, t]), state, prior, room)
    log_total = -math.inf
    for j in range(len(prior.point)):
        log_total = log_add(log_total, room.points[j])
    return log_total


@part
def log_correction(state: State, prior: Prior, room: Room) -> float:
    """Give the log of what the first step leaves of the ratio of a split."""
    sides, base, result = room.crowd.split.sides, prior.split, 0.0
    for k in range(3):
        log_p = weigh_known(k, state, prior, room)
        log_p -= log_marginal(k, sides.counts, sides.total, base.shapes, base.tables)
        result += log_p if k < BOTH else -log_p
    return result


@part
def sum_decays(room: Room) -> None:
    """Sum -log nu over classes, whose strength is one."""
    decay, summed = room.crowd.decay, room.crowd.split.said.decay
    for l in range(len(decay)):
        summed[l, 0] = 0.0
        for t in range(decay.shape[1]):
            summed[l, 0] += decay[l, t]


@part
def draw_side(m: int, k: int, state: State, prior: Prior, room: Room, u: float) -> None:
    """Draw d of coterie m, which is side k now."""
    weigh_known(k, state, prior, room)
    normalise(room.points)
    state.known[m] = pick(room.points, u)


@part
def split_and_merge(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Propose to split or merge coteries."""
    seating = Seating(state.group, state.size, state.slot, state.n_coteries)
    split = room.crowd.split
    sum_decays(room)
    for _ in range(split.proposals[0]):
        log_ratio = propose(seating, state.log_concentration[0], prior.split, split, rng)
        if not is_accepted(log_ratio, rng.random()):
            continue
        i, j = split.pair[STAYS], split.pair[LEAVES]
        correction = log_correction(state, prior, room)
        correction = correction if state.group[i] == state.group[j] else -correction
        if is_accepted(correction, rng.random()):
            seat_sides(seating, split)
            a, b = int64(state.group[i]), int64(state.group[j])
            draw_side(a, BOTH if a == b else STAYS, state, prior, room, rng.random())
            if a != b:
                draw_side(b, LEAVES, state, prior, room, rng.random())
