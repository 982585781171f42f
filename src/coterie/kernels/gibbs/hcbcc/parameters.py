"""The parameters of hcBCC's coteries, beta and eta: auxiliary variables, then conjugate draws.

For the members l of coterie m,

    nu[l, t]   ~ Beta(beta[m, t], n[l, t])
    s[l, t, c] ~ Antoniak(n[l, t, c], beta[m, t] eta[m, t, c])

turn the likelihood of their labels into

    eta[m, t]  ~ Dir(phi[t] gamma[t] + sum over l of s[l, t])
    beta[m, t] ~ Gamma(a[t] + sum over l, c of s[l, t, c],  b[t] - sum over l of log nu[l, t]).

With nothing summed these are the priors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.shapes import TINY, Shapes
from coterie.numeric.draws import (
    LONGEST_TABLE,
    draw_gamma,
    draw_log_beta,
    draw_log_gamma,
    log_add,
    log_gamma_draws,
)
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class BasePrior(NamedTuple):
    """The prior of one coterie's parameters."""

    mean_weight: FloatArray  # (answers, classes)   phi gamma
    shape: FloatArray  # (classes,)           a
    rate: FloatArray  # (classes,)           b
    log_constant: float  # of the density of all of them


class Sums(NamedTuple):
    """The auxiliary variables, summed over a coterie's members."""

    tables: FloatArray  # (answers, classes)   sum of s
    decay: FloatArray  # (classes,)           sum of -log nu
    log_decay: FloatArray  # (classes,)           log of the sum of those that may be too large
    antoniak: FloatArray  # (n, s)               chances of s, see fill_antoniak


def pack_base(mean_weight: FloatArray, shape: FloatArray, rate: FloatArray) -> BasePrior:
    """Give the prior from phi gamma (T, C), a (T,) and b (T,)."""
    constant = 0.0
    for weights, a, b in zip(mean_weight, shape, rate, strict=True):
        constant += math.lgamma(weights.sum()) - sum(map(math.lgamma, weights))
        constant += a * math.log(b) - math.lgamma(a)
    weight = np.ascontiguousarray(mean_weight.T)
    return BasePrior(weight, np.array(shape), np.array(rate), constant)


def new_sums(n_classes: int, n_answers: int) -> Sums:
    """Give sums over nobody."""
    return Sums(
        np.zeros((n_answers, n_classes)),
        np.zeros(n_classes),
        np.full(n_classes, -np.inf),
        np.zeros((LONGEST_TABLE + 1, LONGEST_TABLE + 1)),
    )


def draw_prior(n: int, prior: BasePrior, rng: np.random.Generator) -> Shapes:
    """Draw beta and eta of n coteries from the prior."""
    log_mean = log_gamma_draws(
        np.broadcast_to(prior.mean_weight, (n, *prior.mean_weight.shape)), rng
    )
    log_mean -= np.logaddexp.reduce(log_mean, axis=1, keepdims=True)
    shape = np.broadcast_to(prior.shape, (n, len(prior.shape)))
    log_strength = log_gamma_draws(shape, rng) - np.log(prior.rate)
    weight = np.exp(log_mean + log_strength[:, None])
    return Shapes(weight, np.exp(log_strength), log_mean, log_strength)


@piece
def clear_sums(sums: Sums) -> None:
    """Forget everybody."""
    n_answers, n_classes = sums.tables.shape
    for t in range(n_classes):
        sums.decay[t] = 0.0
        sums.log_decay[t] = -math.inf
        for c in range(n_answers):
            sums.tables[c, t] = 0.0


@part
def draw_decay(strength: float, n: float, rng: np.random.Generator) -> float:
    """Draw -log nu, nu ~ Beta(strength, n), for a strength that is not small."""
    # nu = A / (A + B), so -log nu = log(1 + B / A): exact also where nu is next to one.
    return math.log1p(draw_gamma(n, rng) / draw_gamma(strength, rng))


@part
def draw_log_decay(
    strength: float, log_strength: float, n: float, rng: np.random.Generator
) -> float:
    """Draw log(-log nu), nu ~ Beta(strength, n); the strength may have underflowed to zero.

    Under a vague prior beta gets far below the smallest float. -log nu is then an exponential
    number divided by beta, beside which the part of n vanishes.
    """
    if strength < TINY:
        return math.log(-math.log1p(-rng.random())) - log_strength
    decay = -draw_log_beta(strength, n, rng)
    return math.log(decay) if decay > 0 else -math.inf


@piece
def add_decay(decay: float, log_decay: float, t: int, sums: Sums) -> None:
    """Add -log nu of a member, or its log where there is one."""
    if log_decay > -math.inf:
        sums.log_decay[t] = log_add(sums.log_decay[t], log_decay)
    else:
        sums.decay[t] += decay


@piece
def strength_posterior(t: int, sums: Sums, prior: BasePrior) -> tuple[float, float]:
    """Give the shape and the log of the rate of the Gamma that beta[t] is drawn from."""
    shape = prior.shape[t]
    for c in range(sums.tables.shape[0]):
        shape += sums.tables[c, t]
    return shape, log_add(math.log(prior.rate[t] + sums.decay[t]), sums.log_decay[t])


@piece
def mean_posterior(c: int, t: int, sums: Sums, prior: BasePrior) -> float:
    """Give the shape at c of the Dirichlet that eta[t] is drawn from."""
    return float(prior.mean_weight[c, t] + sums.tables[c, t])


@part
def draw_parameters(
    m: int, sums: Sums, prior: BasePrior, shapes: Shapes, rng: np.random.Generator
) -> None:
    """Draw beta and eta of coterie m given the auxiliary variables, into ``shapes``."""
    n_answers, n_classes = prior.mean_weight.shape
    for t in range(n_classes):
        log_total = -math.inf
        for c in range(n_answers):
            shapes.log_mean[m, c, t] = draw_log_gamma(mean_posterior(c, t, sums, prior), rng)
            log_total = log_add(log_total, shapes.log_mean[m, c, t])
        shape, log_rate = strength_posterior(t, sums, prior)
        log_strength = draw_log_gamma(shape, rng) - log_rate
        shapes.log_strength[m, t] = log_strength
        shapes.strength[m, t] = math.exp(log_strength)
        for c in range(n_answers):
            shapes.log_mean[m, c, t] -= log_total
            shapes.weight[m, c, t] = math.exp(log_strength + shapes.log_mean[m, c, t])


@piece
def log_parameters(m: int, shapes: Shapes, prior: BasePrior) -> float:
    """Give the log prior density of beta and eta of coterie m."""
    result = prior.log_constant
    for t in range(len(prior.shape)):
        result += (prior.shape[t] - 1) * shapes.log_strength[m, t]
        result -= prior.rate[t] * shapes.strength[m, t]
        for c in range(prior.mean_weight.shape[0]):
            result += (prior.mean_weight[c, t] - 1) * shapes.log_mean[m, c, t]
    return result
