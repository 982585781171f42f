"""Rising factorials, x (x + 1) ... (x + n - 1) = Gamma(x + n) / Gamma(x), and their logs."""

from __future__ import annotations

import math

from coterie.numeric.jit import piece

# Up to here a product is faster than two log-gammas, and exact.
LONGEST_PRODUCT = 16
# From here on the difference of two log-gammas loses digits that Stirling's series keeps.
LARGE = 1e4
HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


@piece
def rising(x: float, n: int) -> float:
    """Give x (x + 1) ... (x + n - 1) for a short n.

    Examples
    --------
    >>> rising(2.0, 3), rising(0.5, 0)
    (24.0, 1.0)
    """
    product = 1.0
    for j in range(n):
        product *= x + j
    return product


@piece
def stirling(x: float) -> float:
    """Give log Gamma(x), to the last digits for any x above ``LONGEST_PRODUCT``.

    Examples
    --------
    >>> abs(stirling(16.5) - math.lgamma(16.5)) < 1e-13
    True
    """
    y = 1 / x
    z = y * y
    series = y * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680)))
    return (x - 0.5) * math.log(x) - x + HALF_LOG_2_PI + series


@piece
def log_rising(x: float, n: int, log_x: float) -> float:
    """Give log x (x + 1) ... (x + n - 1), with log x handed in because x may underflow to zero.

    Examples
    --------
    >>> round(math.exp(log_rising(2.0, 3, math.log(2.0))), 9)
    24.0
    >>> log_rising(0.0, 2, -2000.0)
    -2000.0
    """
    if n == 0:
        return 0.0
    if n <= LONGEST_PRODUCT and x < LARGE:
        return log_x + math.log(rising(x + 1, n - 1))
    if x < LARGE:
        # x itself is taken out, because lgamma(x) has no digits left for the smallest x.
        return log_x + stirling(x + n) - math.lgamma(x + 1)
    series = (1 / (x + n) - 1 / x) / 12
    return n * log_x - n + (x + n - 0.5) * math.log1p(n / x) + series


@piece
def log_rising_known(x: float, n: int, log_x: float, log_gamma_x: float) -> float:
    """Give the same where log Gamma(x) is known.

    Examples
    --------
    >>> known = log_rising_known(2.5, 40, math.log(2.5), math.lgamma(2.5))
    >>> abs(known - math.log(math.gamma(42.5) / math.gamma(2.5))) < 1e-12
    True
    """
    if n > LONGEST_PRODUCT and x < LARGE:
        return stirling(x + n) - log_gamma_x
    return log_rising(x, n, log_x)


@piece
def log_rising_after(x: float, start: int, n: int, log_x: float) -> float:
    """Give log (x + start) ... (x + start + n - 1): n more after ``start`` have been counted.

    Examples
    --------
    >>> round(math.exp(log_rising_after(2.0, 1, 2, math.log(2.0))), 9)
    12.0
    """
    if start == 0:
        return log_rising(x, n, log_x)
    return log_rising(x + start, n, math.log(x + start))
