"""Find where beta and eta of a heap are, given what its members said, and how far around.

With x[t, c] = beta eta[t, c], and over[j] members with more than j labels in a cell,

    S = sum over j of over[j] x / (x + j)        expected tables, as in hcBCC's auxiliary variables
    V = sum over j of over[j] x j / (x + j)^2    their variance

of cells, and S', V' of the totals of classes with beta for x, the log density of log beta and
log eta has the slopes

    S[t, c] + w[t, c] - eta[t, c] sum over c of the same          w are the weights of eta's prior
    a - b beta + sum over t of (sum over c of S[t, c] - S'[t])

and, S' nearly their sum where these are zero, the curvatures S - V + w of log eta[t, c], V of
log eta[t, c] and log beta, and b beta + sum over t of (V'[t] - sum over c of V[t, c]) of log beta.
What a diagonal has and one constraint (eta sums to one) is solved row by row: Newton's steps
take a handful of rounds. The fit depends on the heap alone, not on where the chain is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.gibbs.regroup.room import Fits, Heaps, Room
from coterie.kernels.gibbs.regroup.state import Means
from coterie.kernels.shapes import TINY
from coterie.numeric.choice import normalise
from coterie.numeric.draws import log_add
from coterie.numeric.jit import int64, part, piece

FloatArray = NDArray[np.float64]

STEPS, ENOUGH = 12, 1e-3
"""Steps at most; a step that is shorter is the last: the next would be its square."""
LEAST_PRECISION = 0.2
"""Of log beta: where labels say nothing of it, or no top was found."""
LONGEST_STEP = 1.0


@part
def weigh_points(k: int, log_mean: FloatArray, means: Means, fits: Fits) -> float:
    """Write the log weights of d given eta, which is log_mean[k]; give the log of their sum."""
    known, guessed = 0.0, 0.0
    for c in range(means.known.shape[0]):
        for t in range(means.known.shape[1]):
            log_eta = log_mean[k, c, t]
            if means.known[c, t] > 0:  # else zero times what may be minus infinity
                known += means.known[c, t] * log_eta
            if means.guess[c, t] > 0:
                guessed += means.guess[c, t] * log_eta
    log_total = -math.inf
    for j in range(len(means.point)):
        d = means.point[j]
        fits.points[j] = means.log_share[j] + means.log_norm[j] + d * known + (1 - d) * guessed
        log_total = log_add(log_total, fits.points[j])
    return log_total


@part
def average_weights(k: int, means: Means, fits: Fits) -> None:
    """Write the weights of eta's prior, averaged over d given the present eta."""
    d = means.point[0]
    if len(means.point) > 1:
        weigh_points(k, fits.log_mean, means, fits)
        normalise(fits.points)
        d = 0.0
        for j in range(len(means.point)):
            d += fits.points[j] * means.point[j]
    for c in range(means.known.shape[0]):
        for t in range(means.known.shape[1]):
            weight = d * means.known[c, t] + (1 - d) * means.guess[c, t]
            fits.weight[c, t] = weight if weight > TINY else TINY


@piece
def expect_short(cell: int, k: int, x: float, heaps: Heaps) -> tuple[float, float]:
    """Give S and V of a cell, long counts cut."""
    tables, spread = 0.0, 0.0
    for j in range(heaps.over.shape[2]):
        over = heaps.over[k, cell, j]
        if over == 0:
            break
        p = x / (x + j) if j > 0 else 1.0
        tables += over * p
        spread += over * p * (1 - p)
    return tables, spread


@piece
def expect_long(n: int, x: float, most: int) -> tuple[float, float]:
    """Give what is cut off S and V, by the series of the digamma function and its derivative."""
    low, high = 1 / (x + most), 1 / (x + n)
    first = math.log(low / high) + (low - high) / 2 + (low * low - high * high) / 12
    second = low - high + (low * low - high * high) / 2 + (low**3 - high**3) / 6
    return x * first, x * first - x * x * second


@part
def expect(k: int, heaps: Heaps, fits: Fits) -> None:
    """Write S and V of all cells and totals of heap k at the present beta and eta."""
    n_answers, n_classes = fits.tables.shape
    n_strengths, most = fits.log_strength.shape[1], heaps.over.shape[2]
    for t in range(n_classes):
        log_beta = fits.log_strength[k, t % n_strengths]
        beta = math.exp(log_beta)
        fits.total[t, 0], fits.total[t, 1] = expect_short(n_answers * n_classes + t, k, beta, heaps)
        for c in range(n_answers):
            x = math.exp(log_beta + fits.log_mean[k, c, t])
            tables, spread = expect_short(c * n_classes + t, k, x, heaps)
            fits.tables[c, t], fits.spread[c, t] = tables, spread
    for place in range(heaps.n_long[k]):
        c, t = heaps.cell[k, place] // n_classes, heaps.cell[k, place] % n_classes
        log_x = fits.log_strength[k, t % n_strengths]
        log_x += fits.log_mean[k, c, t] if c < n_answers else 0.0
        tables, spread = expect_long(int64(heaps.labels[k, place]), math.exp(log_x), int64(most))
        if c < n_answers:
            fits.tables[c, t] += tables
            fits.spread[c, t] += spread
        else:
            fits.total[t, 0] += tables
            fits.total[t, 1] += spread


@part
def know_row(k: int, t: int, fits: Fits) -> tuple[float, float]:
    """Write the precisions and slopes of row t.

    Given are what its eta, moving along, takes from the curvature of log beta and gives its slope.
    """
    n_answers = fits.tables.shape[0]
    norm, mixed, total = 0.0, 0.0, 0.0
    for c in range(n_answers):
        eta = math.exp(fits.log_mean[k, c, t])
        precision = fits.weight[c, t] + fits.tables[c, t] - fits.spread[c, t]
        fits.mean_precision[k, c, t] = precision
        norm += eta * eta / precision
        mixed += eta * fits.spread[c, t] / precision
        total += fits.weight[c, t] + fits.tables[c, t]
    taken, given = 0.0, 0.0
    for c in range(n_answers):
        eta, precision = math.exp(fits.log_mean[k, c, t]), fits.mean_precision[k, c, t]
        slope = (fits.spread[c, t] - mixed / norm * eta) / precision
        fits.slope[k, c, t] = slope
        taken += slope * fits.spread[c, t]
        given += slope * (fits.weight[c, t] + fits.tables[c, t] - total * eta)
    return taken, given


@part
def step_strength(g: int, k: int, means: Means, fits: Fits) -> float:
    """Write the precision of log beta of strength g; give how far Newton's step goes."""
    beta = math.exp(fits.log_strength[k, g])
    slope, precision = means.shape[g] - means.rate[g] * beta, means.rate[g] * beta
    for t in range(g, fits.tables.shape[1], fits.log_strength.shape[1]):
        taken, given = know_row(k, t, fits)
        slope += given - fits.total[t, 0]
        precision += fits.total[t, 1] - taken
        for c in range(fits.tables.shape[0]):
            slope += fits.tables[c, t]
            precision -= fits.spread[c, t]
    fits.strength_precision[k, g] = precision if precision > LEAST_PRECISION else LEAST_PRECISION
    step = slope / fits.strength_precision[k, g]
    return float(min(max(step, -LONGEST_STEP), LONGEST_STEP))


@part
def step_row(k: int, t: int, step: float, fits: Fits) -> float:
    """Move eta of row t, log beta moving by ``step``; give how far the farthest goes."""
    n_answers = fits.tables.shape[0]
    norm, mixed, farthest, log_total = 0.0, 0.0, 0.0, -math.inf
    for c in range(n_answers):
        eta, precision = math.exp(fits.log_mean[k, c, t]), fits.mean_precision[k, c, t]
        norm += eta * eta / precision
        mixed += eta * (fits.weight[c, t] + fits.tables[c, t]) / precision
    for c in range(n_answers):
        eta = math.exp(fits.log_mean[k, c, t])
        move = fits.weight[c, t] + fits.tables[c, t] - mixed / norm * eta
        move = move / fits.mean_precision[k, c, t] + fits.slope[k, c, t] * step
        move = min(max(move, -2 * LONGEST_STEP), 2 * LONGEST_STEP)
        fits.log_mean[k, c, t] += move
        farthest = max(farthest, abs(move))
        log_total = log_add(log_total, fits.log_mean[k, c, t])
    for c in range(n_answers):
        fits.log_mean[k, c, t] -= log_total
    return farthest


@part
def begin(k: int, means: Means, room: Room) -> None:
    """Start at the prior's beta, and at the share of members who ever gave an answer."""
    fits, over = room.fits, room.heaps.over
    n_answers, n_classes = fits.tables.shape
    for g in range(len(means.shape)):
        fits.log_strength[k, g] = math.log(means.shape[g] / means.rate[g])
    for t in range(n_classes):
        total = 0.0
        for c in range(n_answers):
            fits.weight[c, t] = 0.5 * (means.known[c, t] + means.guess[c, t]) + TINY
            fits.weight[c, t] += over[k, c * n_classes + t, 0]
            total += fits.weight[c, t]
        for c in range(n_answers):
            fits.log_mean[k, c, t] = math.log(fits.weight[c, t] / total)


@part
def climb(k: int, steps: int, means: Means, room: Room) -> None:
    """Go on towards the top of the density of log beta and log eta of heap k."""
    fits = room.fits
    n_strengths, n_classes = len(means.shape), fits.tables.shape[1]
    for _ in range(steps):
        average_weights(k, means, fits)
        expect(k, room.heaps, fits)
        farthest = 0.0
        for g in range(n_strengths):
            step = step_strength(g, k, means, fits)
            fits.log_strength[k, g] += step
            farthest = max(farthest, abs(step))
            for t in range(g, n_classes, n_strengths):
                farthest = max(farthest, step_row(k, t, step, fits))
        if farthest < ENOUGH:
            break


@part
def fit(k: int, means: Means, room: Room) -> None:
    """Find the top of the density of log beta and log eta of heap k, and its curvature."""
    begin(k, means, room)
    climb(k, STEPS, means, room)
