"""The parameters of hcBCC's clusters, beta and eta: auxiliary variables, then conjugate draws.

For the members l of cluster m,

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

from benchmarks.twin.kernels.answers import TINY, Shapes
from benchmarks.twin.numeric.draws import (
    draw_antoniak,
    draw_log_beta,
    draw_log_dirichlet,
    draw_log_gamma,
)
from benchmarks.twin.numeric.jit import kernel
from benchmarks.twin.numeric.partitions import log_gamma_density

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class BasePrior(NamedTuple):
    """The prior of one cluster's parameters."""

    mean_weight: FloatArray  # (classes, answers)   phi gamma
    shape: FloatArray  # (classes,)           a
    rate: FloatArray  # (classes,)           b


class Sums(NamedTuple):
    """The auxiliary variables, summed over a cluster's members."""

    tables: FloatArray  # (classes, answers)   sum of s
    log_decay: FloatArray  # (classes,)           log of the sum of -log nu


@kernel
def new_shapes(n_bases: int, n_classes: int, n_answers: int) -> Shapes:
    """Give room for the parameters of this many clusters."""
    matrices, rows = (n_bases, n_classes, n_answers), (n_bases, n_classes)
    return Shapes(np.zeros(matrices), np.zeros(rows), np.zeros(matrices), np.zeros(rows))


@kernel
def new_sums(n_classes: int, n_answers: int) -> Sums:
    """Give sums over nobody."""
    return Sums(np.zeros((n_classes, n_answers)), np.full(n_classes, -np.inf))


@kernel
def clear_sums(sums: Sums) -> None:
    """Forget everybody."""
    sums.tables[:] = 0
    sums.log_decay[:] = -np.inf


@kernel
def add_auxiliaries(
    said: IntArray,
    total: IntArray,
    shapes: Shapes,
    m: int,
    sums: Sums,
    rng: np.random.Generator,
) -> None:
    """Draw s and nu of a member of cluster m with counts said (T, C), total (T,); add them."""
    for t in range(len(total)):
        if total[t] == 0:
            continue  # both factors are one: there is no nu
        log_decay = draw_log_decay(
            shapes.strength[m, t], shapes.log_strength[m, t], float(total[t]), rng
        )
        sums.log_decay[t] = np.logaddexp(sums.log_decay[t], log_decay)
        for c in range(said.shape[1]):
            sums.tables[t, c] += draw_antoniak(said[t, c], shapes.weight[m, t, c], rng)


@kernel
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


@kernel
def strength_posterior(t: int, sums: Sums, prior: BasePrior) -> tuple[float, float]:
    """Give the shape and the log of the rate of the Gamma that beta[t] is drawn from."""
    log_rate = np.logaddexp(math.log(prior.rate[t]), sums.log_decay[t])
    return prior.shape[t] + sums.tables[t].sum(), log_rate


@kernel
def mean_posterior(t: int, sums: Sums, prior: BasePrior, out: FloatArray) -> None:
    """Write the shapes of the Dirichlet that eta[t] is drawn from, shape (C,)."""
    for c in range(len(out)):
        out[c] = prior.mean_weight[t, c] + sums.tables[t, c]


@kernel
def draw_parameters(
    m: int, sums: Sums, prior: BasePrior, shapes: Shapes, rng: np.random.Generator
) -> None:
    """Draw beta and eta of cluster m given the auxiliary variables, into ``shapes``."""
    for t in range(len(prior.shape)):
        log_mean = shapes.log_mean[m, t]
        mean_posterior(t, sums, prior, log_mean)
        draw_log_dirichlet(log_mean, log_mean, rng)
        shape, log_rate = strength_posterior(t, sums, prior)
        log_strength = draw_log_gamma(shape, rng) - log_rate
        shapes.log_strength[m, t] = log_strength
        shapes.strength[m, t] = math.exp(log_strength)
        for c in range(len(log_mean)):
            shapes.weight[m, t, c] = math.exp(log_strength + log_mean[c])


@kernel
def log_parameters(m: int, shapes: Shapes, prior: BasePrior) -> float:
    """Give the log prior density of beta and eta of cluster m."""
    result = 0.0
    for t in range(len(prior.shape)):
        result += log_gamma_density(shapes.log_strength[m, t], prior.shape[t], prior.rate[t])
        result += math.lgamma(prior.mean_weight[t].sum())
        for c in range(prior.mean_weight.shape[1]):
            weight = prior.mean_weight[t, c]
            result += (weight - 1) * shapes.log_mean[m, t, c] - math.lgamma(weight)
    return result
