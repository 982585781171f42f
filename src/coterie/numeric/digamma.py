"""Digamma and log Gamma, both at once: what a Dirichlet's expected logs are made of."""

from __future__ import annotations

import math

from coterie.numeric.jit import piece
from coterie.numeric.rising import HALF_LOG_2_PI

ENOUGH = 10.0
"""From here on the series have all digits; what is less is carried there."""


@piece
def digamma_and_log_gamma(x: float) -> tuple[float, float]:
    """Give psi(x) = d/dx log Gamma(x), and log Gamma(x), for x > 0.

    Gamma(x + 1) = x Gamma(x) carries x up; P = x (x + 1) ... is what that costs log Gamma, its
    derivative over P what it costs psi.

    Examples
    --------
    >>> psi, log_gamma = digamma_and_log_gamma(0.5)
    >>> round(psi, 12), round(math.exp(2 * log_gamma), 12)  # -Euler - 2 log 2, pi
    (-1.963510026021, 3.14159265359)
    """
    product, slope = 1.0, 0.0
    while x < ENOUGH:
        slope = slope * x + product
        product *= x
        x += 1.0
    log_x, y = math.log(x), 1.0 / x
    z = y * y
    series = y * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188))))
    log_gamma = (x - 0.5) * log_x - x + HALF_LOG_2_PI + series
    decline = z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * 691 / 32760))))
    )
    psi = log_x - 0.5 * y - decline
    return psi - slope / product, log_gamma - math.log(product)
