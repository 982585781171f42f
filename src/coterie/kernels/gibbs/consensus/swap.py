"""Exchange two classes everywhere: mirrored modes are one step away.

Items of class a become b and b become a, with the rows of the counts and of eta: the labels are as
probable as before. pi and the matrices are integrated out (they are drawn next), so what changes is

    G(p[a] + n[b]) G(p[b] + n[a]) / (G(p[a] + n[a]) G(p[b] + n[b]))

and p(eta[m] | w), with d[m] summed over its points; it is drawn from p(d | eta') afterwards. Of
eta only two numbers matter for the sum: with A = sum over t, c of w[c] log eta[t, c], which stays,
and D = sum over t of log eta[t, t],

    log p(eta | d, w) = constant + log_norm[d] + phi ((1 - d) A + d D).

Classes that a gold item has are never exchanged: a known truth cannot move.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.consensus.state import Prior, Room, State
from coterie.numeric.choice import normalise, pick
from coterie.numeric.draws import log_add
from coterie.numeric.jit import int64, part, piece


@part
def know_norm(state: State, prior: Prior, room: Room) -> None:
    """Tabulate log_norm, the sum over t and c of -log G(phi b[t, c]), for every d."""
    n_classes, phi = len(state.class_total), prior.mean_strength
    for j in range(len(prior.point)):
        d, total = prior.point[j], 0.0
        for c in range(len(state.guess)):
            x = phi * (1 - d) * state.guess[c]
            log_x = math.log(phi) + prior.log_point[j, 0] + state.log_guess[c]
            rows = n_classes - 1 if c < n_classes else n_classes
            total -= rows * (math.lgamma(x + 1) - log_x)  # x itself may be too small for lgamma
            if c < n_classes:
                total -= math.lgamma(x + phi * d)
        room.log_norm[j] = total


@piece
def log_guesses(m: int, state: State) -> float:
    """Give A, the sum over t and c of w[c] log eta[m, t, c]."""
    total = 0.0
    for c in range(len(state.guess)):
        if state.guess[c] > 0:
            for t in range(len(state.class_total)):
                total += state.guess[c] * state.log_mean[m, c, t]
    return total


@piece
def log_diagonal(m: int, a: int, b: int, state: State) -> float:
    """Give D, the sum over t of log eta[m, t, t], with rows a and b exchanged (a = b: as is)."""
    total = 0.0
    for t in range(len(state.class_total)):
        row = b if t == a else (a if t == b else t)
        total += state.log_mean[m, t, row]
    return total


@piece
def weigh_points_by_mean(guesses: float, diagonal: float, prior: Prior, room: Room) -> float:
    """Write the log weights of d given eta, from A and D; give the log of their sum."""
    log_total = -math.inf
    for j in range(len(prior.point)):
        d = prior.point[j]
        room.points[j] = (
            prior.log_share[j]
            + room.log_norm[j]
            + prior.mean_strength * ((1 - d) * guesses + d * diagonal)
        )
        log_total = log_add(log_total, room.points[j])
    return log_total


@part
def log_ratio(a: int, b: int, state: State, prior: Prior, room: Room) -> float:
    """Give the log of how much more probable everything is with a and b exchanged."""
    weight, total = prior.class_weight, state.class_total
    result = math.lgamma(weight[a] + total[b]) + math.lgamma(weight[b] + total[a])
    result -= math.lgamma(weight[a] + total[a]) + math.lgamma(weight[b] + total[b])
    for k in range(state.n_coteries[0]):
        m = int64(state.slot[k])
        guesses = log_guesses(m, state)
        result += weigh_points_by_mean(guesses, log_diagonal(m, a, b, state), prior, room)
        result -= weigh_points_by_mean(guesses, log_diagonal(m, a, a, state), prior, room)
    return result


@part
def exchange(a: int, b: int, state: State) -> None:
    """Exchange classes a and b in truths, counts and eta."""
    for i in range(len(state.truth)):
        if state.truth[i] == a:
            state.truth[i] = b
        elif state.truth[i] == b:
            state.truth[i] = a
    state.class_total[a], state.class_total[b] = state.class_total[b], state.class_total[a]
    for l in range(state.said.shape[0]):
        totals = state.said_total[l]
        totals[a], totals[b] = totals[b], totals[a]
        for c in range(state.said.shape[1]):
            row = state.said[l, c]
            row[a], row[b] = row[b], row[a]
    for k in range(state.n_coteries[0]):
        for c in range(state.said.shape[1]):
            logs, weight = state.log_mean[state.slot[k], c], state.weight[state.slot[k], c]
            logs[a], logs[b] = logs[b], logs[a]
            weight[a], weight[b] = weight[b], weight[a]


@piece
def redraw_known(m: int, state: State, prior: Prior, room: Room, u: float) -> None:
    """Draw d[m] given eta[m]; its probabilities stay in ``room.points``."""
    weigh_points_by_mean(log_guesses(m, state), log_diagonal(m, 0, 0, state), prior, room)
    normalise(room.points)
    state.known[m] = pick(room.points, u)


@part
def sweep_classes(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Propose to exchange a random pair of classes, two if there are more than one pair.

    ``know_norm`` has been called since w was drawn: splits and merges need it before.
    """
    n = len(room.free_class)
    if n < 2:
        return
    for _ in range(1 if len(state.class_total) == 2 else 2):
        first, second = int64(rng.random() * n), int64(rng.random() * (n - 1))
        second += int64(second >= first)
        a, b = room.free_class[first], room.free_class[second]
        if math.log1p(-rng.random()) < log_ratio(a, b, state, prior, room):
            exchange(a, b, state)
            for k in range(state.n_coteries[0]):
                redraw_known(int64(state.slot[k]), state, prior, room, rng.random())
