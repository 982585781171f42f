"""The log joint of everything sampled, with the labels; pi, rho, v, Psi are integrated out."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.gibbs.consensus.base import base_weight, log_base_weight
from coterie.kernels.gibbs.consensus.state import Prior, Room, State
from coterie.kernels.gibbs.groups import log_partition
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.partitions import log_gamma_density
from coterie.numeric.rising import log_rising


@piece
def log_sequence(count: NDArray[np.int64], weight: NDArray[np.float64]) -> float:
    """Give the log probability of draws with these counts, their Dirichlet integrated out."""
    result, n, total = 0.0, int64(0), 0.0
    for k in range(len(count)):
        result += log_rising(weight[k], count[k], math.log(weight[k]))
        n += count[k]
        total += weight[k]
    return result - log_rising(total, n, math.log(total))


@part
def log_coterie(m: int, state: State, prior: Prior) -> float:
    """Give log p(d, beta, eta | w) of coterie m."""
    result = float(prior.log_share[state.known[m]])
    result += log_gamma_density(state.log_strength[m, 0], prior.shape, prior.rate)
    for t in range(state.said.shape[2]):
        result += math.lgamma(prior.mean_strength)
        for c in range(state.said.shape[1]):
            x = base_weight(m, c, t, state, prior)
            log_gamma = math.lgamma(x + 1) - log_base_weight(m, c, t, state, prior)
            result += (x - 1) * state.log_mean[m, c, t] - log_gamma
    return result


@part
def log_guess_density(state: State, prior: Prior) -> float:
    """Give log p(w)."""
    result, total = 0.0, 0.0
    for c in range(len(state.guess)):
        weight = prior.guess_weight[c]
        result += (weight - 1) * state.log_guess[c] - math.lgamma(weight)
        total += weight
    return result + math.lgamma(total)


@part
def log_labels_given(state: State, prior: Prior, room: Room) -> float:
    """Give log p(Y | z, g, q, beta, eta), of annotators who have just been moved."""
    own = room.crowd.log_likelihood[0]
    return float(own + log_sequence(state.guessed, prior.hard_weight))


@part
def log_rest(state: State, prior: Prior) -> float:
    """Give the log probability of everything but the labels."""
    result = log_partition(state.size, state.log_concentration[0], prior.concentration)
    result += log_guess_density(state, prior)
    for k in range(state.n_coteries[0]):
        result += log_coterie(int64(state.slot[k]), state, prior)
    result += log_sequence(state.class_total, prior.class_weight)
    result += log_sequence(state.kind_total, prior.kind_weight)
    for k in range(len(state.kind_total)):
        for own in range(2):
            if state.source[k, own] > 0:  # else zero times what may be minus infinity
                result += state.source[k, own] * prior.log_source[k, own]
    return result
