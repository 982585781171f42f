"""Gamma, Beta, Dirichlet and Antoniak draws, in logs where the numbers themselves underflow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.choice import normalise, pick
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]

HUGE = 1e300
"""Beside a shape beyond this, the spread of a Gamma number is nothing."""
LONGEST_TABLE = 256
"""Of the distribution of the number of clusters."""


@piece
def draw_gamma(shape: float, rng: np.random.Generator) -> float:
    """Draw a Gamma(shape, 1) number; what is no number stays so, and what is huge stays as it is.

    Without this, a shape that is not a number is a loop that nothing ends.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> draw_gamma(math.nan, rng), draw_gamma(math.inf, rng)
    (nan, inf)
    """
    return rng.standard_gamma(shape) if shape < HUGE else shape


@part
def draw_log_gamma(shape: float, rng: np.random.Generator) -> float:
    """Draw the log of a Gamma(shape, 1) number.

    Gamma(s) = Gamma(s + 1) * U^(1/s): a shape of 0.018, one of 50 classes in the paper's prior,
    gives numbers far below the smallest float. A shape that has underflowed to zero gives -inf.

    Examples
    --------
    >>> draw_log_gamma(1e-5, np.random.default_rng(1)) < -700
    True
    """
    if shape == 0:
        return -math.inf
    if shape >= 1:
        return math.log(draw_gamma(shape, rng))
    # Of 1 - u, not of u: a uniform number may be zero, never one.
    # Next to a shape of zero it is -inf too; numpy's numbers would warn of that where not compiled.
    return math.log(draw_gamma(shape + 1, rng)) + math.log1p(-rng.random()) / float(shape)


@part
def draw_log_beta(a: float, b: float, rng: np.random.Generator) -> float:
    """Draw the log of a Beta(a, b) number.

    Examples
    --------
    >>> draw_log_beta(1e-5, 5.0, np.random.default_rng(1)) < -700
    True
    """
    log_ratio = draw_log_gamma(b, rng) - draw_log_gamma(a, rng)
    # -log(1 + e^x) = -x - log(1 + e^-x): the exponential that cannot overflow.
    if log_ratio > 0:
        return -log_ratio - math.log1p(math.exp(-log_ratio))
    return -math.log1p(math.exp(log_ratio))


@piece
def log_add(a: float, b: float) -> float:
    """Give log(e^a + e^b); either may be -inf.

    Examples
    --------
    >>> round(math.exp(log_add(math.log(2.0), math.log(3.0))), 9), log_add(-math.inf, -math.inf)
    (5.0, -inf)
    """
    if a < b:
        a, b = b, a
    if b == -math.inf:  # both may be, and their difference is no number
        return a
    return a + math.log1p(math.exp(b - a))


@part
def draw_log_dirichlet(shapes: FloatArray, rng: np.random.Generator, logs: FloatArray) -> None:
    """Draw log p, p ~ Dir(shapes), into ``logs``, which may not be ``shapes``.

    Examples
    --------
    >>> logs = np.zeros(2)
    >>> draw_log_dirichlet(np.array([1e9, 3e9]), np.random.default_rng(1), logs)
    >>> np.exp(logs).round(3).tolist()
    [0.25, 0.75]
    """
    log_total = -math.inf
    for k in range(len(shapes)):
        logs[k] = draw_log_gamma(shapes[k], rng)
        log_total = log_add(log_total, logs[k])
    for k in range(len(shapes)):
        logs[k] -= log_total


def log_gamma_draws(shapes: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the logs of Gamma(shape, 1) numbers, one for each shape.

    Examples
    --------
    >>> draws = log_gamma_draws(np.array([1e-5, 0.0, 1e12]), np.random.default_rng(1))
    >>> bool(draws[0] < -700), draws[1:].round(1).tolist()
    (True, [-inf, 27.6])
    """
    with np.errstate(divide="ignore", over="ignore"):
        below = rng.standard_exponential(shapes.shape) / shapes
    return np.asarray(np.log(rng.standard_gamma(shapes + 1)) - below)


@piece
def draw_dirichlet(shapes: FloatArray, rng: np.random.Generator) -> None:
    """Turn the shapes of a Dirichlet, of which one at least is not zero, into a draw, in place.

    Examples
    --------
    >>> row = np.array([1e-5, 2e-5, 0.0])
    >>> draw_dirichlet(row, np.random.default_rng(1))
    >>> row.tolist()
    [1.0, 0.0, 0.0]
    """
    largest, total = 0.0, 0.0
    for k in range(len(shapes)):
        largest = shapes[k] if shapes[k] > largest else largest
    if largest < 1:  # all of the numbers may be too small for a float: draw their logs
        for k in range(len(shapes)):
            shapes[k] = draw_log_gamma(shapes[k], rng)
        normalise(shapes)
        return
    for k in range(len(shapes)):
        shapes[k] = draw_gamma(shapes[k], rng)
        total += shapes[k]
    for k in range(len(shapes)):
        shapes[k] /= total


@piece
def draw_corner(log_mean: FloatArray, rng: np.random.Generator) -> None:
    """Turn log probabilities into one certain answer drawn from them, in place.

    It is the limit of a Dirichlet with this mean as its strength goes to zero.

    Examples
    --------
    >>> row = np.log([1e-9, 1.0])
    >>> draw_corner(row, np.random.default_rng(1))
    >>> row.tolist()
    [0.0, 1.0]
    """
    normalise(log_mean)
    chosen = pick(log_mean, rng.random())
    for k in range(len(log_mean)):
        log_mean[k] = 1.0 if k == chosen else 0.0


@piece
def table_length(most: int, total: int) -> int:
    """Say how long a table to draw ``total`` things in parts of ``most`` at most should be.

    Filling it takes the square of its length: not more than a few steps a thing.
    """
    length = int(math.sqrt(8.0 * total))
    length = length if length < most else most
    return length if length < LONGEST_TABLE else LONGEST_TABLE


@piece
def fill_antoniak(x: float, length: int, table: FloatArray) -> None:
    """Write the chances table[n, s] that n things under a CRP(x) make s clusters, 1 <= n <= length.

    The last thing opens a cluster with probability x / (x + n - 1); the first always does, even
    where x has underflowed to zero.

    Examples
    --------
    >>> table = np.zeros((4, 4))
    >>> fill_antoniak(1.0, 3, table)
    >>> table[3].round(3).tolist()
    [0.0, 0.333, 0.5, 0.167]
    """
    table[1, 1] = 1.0
    for n in range(1, length):
        new = x / (x + n)
        old = n / (x + n)
        for s in range(1, n + 1):
            table[n + 1, s] = table[n, s] * old + table[n, s - 1] * new
        table[n + 1, n + 1] = table[n, n] * new


@part
def draw_antoniak(
    n: int, x: float, table: FloatArray, length: int, rng: np.random.Generator
) -> int:
    """Draw the number of clusters of n > 0 things under a CRP(x).

    It is the sum over j < n of Bernoulli(x / (x + j)): as far as it goes from the filled table, by
    one uniform number; from there on by a uniform number a success, which comes when the chance
    that none has come yet falls below it.

    Examples
    --------
    >>> rng, table = np.random.default_rng(1), np.zeros((4, 4))
    >>> fill_antoniak(1e9, 3, table)
    >>> draw_antoniak(2, 1e9, table, 3, rng), draw_antoniak(5, 1e9, table, 3, rng)
    (2, 5)
    """
    first = n if n < length else length
    clusters, u = 1, rng.random() - table[first, 1]
    while u >= 0 and clusters < first:
        clusters += 1
        u -= table[first, clusters]
    if n > length:
        none_yet, u = 1.0, rng.random()
        for j in range(length, n):
            none_yet *= j / (x + j)
            if none_yet < u:
                clusters, none_yet, u = clusters + 1, 1.0, rng.random()
    return clusters
