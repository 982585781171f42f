"""Rising factorials, x (x + 1) ... (x + n - 1) = Gamma(x + n) / Gamma(x), in logs."""

from __future__ import annotations

import math

from benchmarks.twin.numeric.jit import piece

# Up to here a product and one log is faster than two log-gammas, and exact.
LONGEST_PRODUCT = 16
# From here on the difference of two log-gammas loses digits that Stirling's series keeps.
LARGE = 1e4


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
        product = 1.0
        for j in range(1, n):
            product *= x + j
        return log_x + math.log(product)
    if x < LARGE:
        # x itself is taken out, because lgamma(x) has no digits left for the smallest x.
        return log_x + math.lgamma(x + n) - math.lgamma(x + 1)
    series = (1 / (x + n) - 1 / x) / 12
    return n * log_x - n + (x + n - 0.5) * math.log1p(n / x) + series


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
