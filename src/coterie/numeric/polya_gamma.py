"""Polya-Gamma draws PG(1, c), exact: Devroye's series, after Polson, Scott and Windle.

With omega ~ PG(1, v) a logistic likelihood is Gaussian in v given omega. Mean tanh(c / 2) / (2 c).
"""

from __future__ import annotations

import math

import numpy as np

from coterie.numeric.jit import part, piece

CUT = 0.64
"""Where the two halves of the proposal meet."""


@piece
def normal_cdf(x: float) -> float:
    """Give the chance that a standard normal number lies below x."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@piece
def series_term(n: int, x: float) -> float:
    """Give a_n(x), the n-th term of the alternating series of the density."""
    k: float = n + 0.5
    if x > CUT:
        return math.pi * k * math.exp(-0.5 * k * k * math.pi * math.pi * x)
    return float((2.0 / (math.pi * x)) ** 1.5 * math.pi * k * math.exp(-2.0 * k * k / x))


@piece
def draw_left(z: float, rng: np.random.Generator) -> float:
    """Draw from the inverse Gaussian of mean 1 / z and shape 1, below the cut."""
    if z < 1 / CUT:
        while True:
            one, two = rng.standard_exponential(), rng.standard_exponential()
            while one * one > 2 * two / CUT:
                one, two = rng.standard_exponential(), rng.standard_exponential()
            x = CUT / (1 + CUT * one) ** 2
            if rng.random() <= math.exp(-0.5 * z * z * x):
                return x
    mean = 1 / z
    while True:
        y = rng.standard_normal() ** 2
        x = mean + 0.5 * mean * mean * y - 0.5 * mean * math.sqrt(4 * mean * y + (mean * y) ** 2)
        if rng.random() > mean / (mean + x):
            x = mean * mean / x
        if x <= CUT:
            return x


@piece
def share_right(z: float) -> float:
    """Give the chance that the proposal lies above the cut."""
    rate = math.pi * math.pi / 8 + 0.5 * z * z
    right = math.pi / (2 * rate) * math.exp(-rate * CUT)
    root = math.sqrt(CUT)
    left = math.exp(-z) * normal_cdf((CUT * z - 1) / root)
    tail = normal_cdf(-(CUT * z + 1) / root)
    if tail > 0 and z < 300:
        left += math.exp(z) * tail
    return right / (right + 2 * left)


@part
def draw_polya_gamma(c: float, rng: np.random.Generator) -> float:
    """Draw PG(1, c).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draws = [draw_polya_gamma(2.0, rng) for _ in range(4_000)]
    >>> abs(np.mean(draws) - math.tanh(1) / 4) < 4 * np.std(draws) / 4_000**0.5
    True
    """
    z = 0.5 * abs(c)
    rate, right = math.pi * math.pi / 8 + 0.5 * z * z, share_right(z)
    while True:
        above = rng.random() < right
        x = CUT + rng.standard_exponential() / rate if above else draw_left(z, rng)
        total = series_term(0, x)
        y = rng.random() * total
        n = 1
        while True:
            if n % 2 == 1:
                total -= series_term(n, x)
                if y <= total:
                    return 0.25 * x
            else:
                total += series_term(n, x)
                if y > total:
                    break
            n += 1
