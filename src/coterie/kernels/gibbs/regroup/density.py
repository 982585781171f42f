"""The density of beta and eta of a heap, up to nothing, and one that is easy to draw from.

Both are densities of log beta and log eta: those of beta and eta have the same factor beside,
product of 1 / beta and of all 1 / eta, which may be so large that nothing else is left of either.

Around the fit, log beta is drawn from Student's t and, given it, eta[t, c] in proportion to
Gamma(p) e^center / p, p the precision of log eta[t, c] and its center moving with log beta. This
scaled Dirichlet has the density

    Gamma(sum of p) product over c of r[c]^p[c] eta[c]^p[c] / Gamma(p[c])
    (sum over c of r[c] eta[c])^-(sum of p),      r[c] = p[c] e^-center[c],

whose top in log eta is at the center. Near there the weights of what is drawn hardly vary. Far
below it, where nobody in a heap gave an answer, the posterior is wider: from such a place the move
is rarely accepted, and a sweep draws beta and eta anew before it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.gibbs.regroup.fit import weigh_points
from coterie.kernels.gibbs.regroup.heaps import log_cell, log_long
from coterie.kernels.gibbs.regroup.room import Fits, Heaps, Room
from coterie.kernels.gibbs.regroup.state import Means
from coterie.numeric.draws import draw_gamma, draw_log_gamma, log_add
from coterie.numeric.jit import part, piece
from coterie.numeric.partitions import log_gamma_density_of_log

FloatArray = NDArray[np.float64]

FREEDOM = 5.0
"""Of Student's t: tails that are wider than those of any posterior of log beta."""
LOG_T = (
    math.lgamma((FREEDOM + 1) / 2) - math.lgamma(FREEDOM / 2) - 0.5 * math.log(FREEDOM * math.pi)
)


@part
def log_prior(
    place: int, log_strength: FloatArray, log_mean: FloatArray, means: Means, fits: Fits
) -> float:
    """Give log p(log beta, log eta), d summed."""
    result = means.log_constant + weigh_points(place, log_mean, means, fits)
    for g in range(len(means.shape)):
        result += log_gamma_density_of_log(log_strength[place, g], means.shape[g], means.rate[g])
    return float(result)


@part
def log_labels(
    k: int, place: int, log_strength: FloatArray, log_mean: FloatArray, heaps: Heaps
) -> float:
    """Give the log probability of what the members of heap k said, matrices integrated out."""
    n_answers, n_classes = log_mean.shape[1], log_mean.shape[2]
    n_strengths, result = log_strength.shape[1], 0.0
    for t in range(n_classes):
        log_beta = log_strength[place, t % n_strengths]
        result -= log_cell(n_answers * n_classes + t, k, math.exp(log_beta), log_beta, heaps)
        for c in range(n_answers):
            log_x = log_beta + log_mean[place, c, t]
            result += log_cell(c * n_classes + t, k, math.exp(log_x), log_x, heaps)
    for entry in range(heaps.n_long[k]):
        c, t = heaps.cell[k, entry] // n_classes, heaps.cell[k, entry] % n_classes
        log_x = log_strength[place, t % n_strengths]
        if c < n_answers:
            log_x += log_mean[place, c, t]
            result += log_long(heaps.labels[k, entry], math.exp(log_x), log_x, heaps)
        else:
            result -= log_long(heaps.labels[k, entry], math.exp(log_x), log_x, heaps)
    return float(result)


@piece
def center(k: int, c: int, t: int, log_beta: float, fits: Fits) -> float:
    """Give where log eta[t, c] of heap k is drawn around, given beta, up to a sum over c."""
    away = log_beta - fits.log_strength[k, t % fits.log_strength.shape[1]]
    return float(fits.log_mean[k, c, t] + fits.slope[k, c, t] * away)


@part
def log_drawn(
    k: int, place: int, log_strength: FloatArray, log_mean: FloatArray, fits: Fits
) -> float:
    """Give the log density of log beta and log eta where they are drawn by the fit of heap k."""
    n_strengths, result = log_strength.shape[1], 0.0
    for g in range(n_strengths):
        precision = fits.strength_precision[k, g]
        z = (log_strength[place, g] - fits.log_strength[k, g]) ** 2 * precision
        result += LOG_T + 0.5 * math.log(precision)
        result -= (FREEDOM + 1) / 2 * math.log1p(z / FREEDOM)
    for t in range(log_mean.shape[2]):
        total, log_sum = 0.0, -math.inf
        for c in range(log_mean.shape[1]):
            p = fits.mean_precision[k, c, t]
            log_r = math.log(p) - center(k, c, t, log_strength[place, t % n_strengths], fits)
            result += p * (log_r + log_mean[place, c, t])
            # Gamma(p) = Gamma(p + 1) / p: p may be too small for lgamma
            result -= math.lgamma(p + 1) - math.log(p)
            total += p
            log_sum = log_add(log_sum, log_r + log_mean[place, c, t])
        result += math.lgamma(total) - total * log_sum
    return float(result)


@part
def draw(
    k: int, place: int, log_strength: FloatArray, log_mean: FloatArray, fits: Fits,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Draw beta and eta by the fit of heap k."""
    n_strengths = log_strength.shape[1]
    for g in range(n_strengths):
        # A normal number over the root of a mean square: that of two exponentials and an angle.
        log_strength[place, g] = fits.log_strength[k, g] + draw_t(rng) / math.sqrt(
            fits.strength_precision[k, g]
        )
    for t in range(log_mean.shape[2]):
        log_total, log_beta = -math.inf, log_strength[place, t % n_strengths]
        for c in range(log_mean.shape[1]):
            p = fits.mean_precision[k, c, t]
            around = center(k, c, t, log_beta, fits)
            log_mean[place, c, t] = draw_log_gamma(p, rng) - math.log(p) + around
            log_total = log_add(log_total, log_mean[place, c, t])
        for c in range(log_mean.shape[1]):
            log_mean[place, c, t] -= log_total


@part
def draw_t(rng: np.random.Generator) -> float:
    """Draw a number from Student's t."""
    return float(rng.standard_normal() / math.sqrt(draw_gamma(FREEDOM / 2, rng) * 2 / FREEDOM))


@part
def log_weight(
    k: int, place: int, log_strength: FloatArray, log_mean: FloatArray, means: Means, room: Room
) -> float:
    """Give the log of p(log beta, log eta, what heap k said) over their density as drawn."""
    result = log_prior(place, log_strength, log_mean, means, room.fits)
    result += log_labels(k, place, log_strength, log_mean, room.heaps)
    return float(result - log_drawn(k, place, log_strength, log_mean, room.fits))
