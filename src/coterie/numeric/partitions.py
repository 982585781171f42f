"""Partitions under the Chinese restaurant process: draw, number, weigh; its concentration."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.draws import draw_log_beta, draw_log_gamma
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.rising import log_rising

IntArray = NDArray[np.int32]


def draw_crp(n: int, concentration: float, rng: np.random.Generator) -> IntArray:
    """Draw a partition of n things from CRP(concentration): canonical codes, shape (n,).

    Examples
    --------
    >>> draw_crp(4, 1e-12, np.random.default_rng(1)), draw_crp(4, 1e12, np.random.default_rng(1))
    (array([0, 0, 0, 0], dtype=int32), array([0, 1, 2, 3], dtype=int32))
    """
    places = rng.random(n) * (np.arange(n) + concentration)
    group: list[int] = []
    n_coteries = 0
    for l, place in enumerate(places.tolist()):
        # Below l: sit with the person of that number, which is a group in proportion to its size.
        if place < l:
            group.append(group[int(place)])
        else:
            group.append(n_coteries)
            n_coteries += 1
    return np.array(group, np.int32)


def canonical_groups(group: IntArray) -> IntArray:
    """Renumber the groups 0, 1, 2 ... by first appearance; -1 (no group) stays; shape (n,).

    Examples
    --------
    >>> canonical_groups(np.array([7, -1, 3, 7], np.int32))
    array([ 0, -1,  1,  0], dtype=int32)
    """
    seated = group >= 0
    out = np.full(len(group), -1, np.int32)
    _, first, which = np.unique(group[seated], return_index=True, return_inverse=True)
    out[seated] = np.argsort(np.argsort(first))[which]
    return out


@piece
def log_crp(size: IntArray, log_concentration: float) -> float:
    """Give the log probability of a partition with these group sizes (zeros are no groups).

    alpha^M * product over m of (size[m] - 1)! / (alpha (alpha + 1) ... (alpha + L - 1)).

    Examples
    --------
    >>> round(math.exp(log_crp(np.array([2, 0, 1], np.int32), math.log(0.5))), 6)
    0.133333
    """
    total = int64(0)
    result = 0.0
    for m in range(len(size)):
        if size[m] > 0:
            total += size[m]
            result += log_concentration + math.lgamma(size[m])
    return result - log_rising(math.exp(log_concentration), total, log_concentration)


@part
def draw_log_concentration(
    log_concentration: float,
    counts: tuple[int, int],
    gamma: tuple[float, float],
    rng: np.random.Generator,
) -> float:
    """Draw log alpha given the partition, by the auxiliary variable of Escobar and West.

    x ~ Beta(alpha + 1, L), then Gamma(a + M, b - log x) with odds (a + M - 1) / (L (b - log x))
    against Gamma(a + M - 1, b - log x).

    Parameters
    ----------
    log_concentration
        The present value.
    counts
        L, the number of people, and M, the number of groups.
    gamma
        The prior's shape a and rate b.
    rng
        The source of randomness.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> log_alpha = [draw_log_concentration(0.0, (10, 10), (1e6, 2e6), rng) for _ in range(9)]
    >>> round(float(np.exp(log_alpha).mean()), 2)
    0.5
    """
    people, groups = counts
    shape, rate = gamma
    if people > 0:
        rate -= draw_log_beta(math.exp(log_concentration) + 1, float(people), rng)
        odds = (shape + groups - 1) / (people * rate)
        shape += groups
        # With probability 1 / (1 + odds), without a quotient of what may be too large.
        if rng.random() * (1 + odds) >= odds:
            shape -= 1
    return draw_log_gamma(shape, rng) - math.log(rate)


@piece
def log_gamma_density(log_x: float, shape: float, rate: float) -> float:
    """Give the log density of Gamma(shape, rate) at x.

    Examples
    --------
    >>> round(math.exp(log_gamma_density(math.log(2.0), 1.0, 0.5)), 6)
    0.18394
    """
    return log_gamma_density_of_log(log_x, shape, rate) - log_x


@piece
def log_gamma_density_of_log(log_x: float, shape: float, rate: float) -> float:
    """Give the log density of log x, x from Gamma(shape, rate).

    Examples
    --------
    >>> round(math.exp(log_gamma_density_of_log(math.log(2.0), 1.0, 0.5)), 6)
    0.367879
    """
    return shape * math.log(rate) - math.lgamma(shape) + shape * log_x - rate * math.exp(log_x)
