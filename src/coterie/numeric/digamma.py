"""Digamma and log Gamma, both at once: what a Dirichlet's expected logs are made of."""

from __future__ import annotations

import math

from coterie.numeric.jit import piece
from coterie.numeric.rising import HALF_LOG_2_PI

ENOUGH = 10.0
"""From here on the series have all digits; what is less is carried there."""


@piece
def carried_up(x: float) -> tuple[float, float, float]:
    """Give psi(x) = d/dx log Gamma(x) for x > 0, and two numbers.

    Log Gamma(x) is the first of these less the log of the second, which can wait.

    Gamma(x + 1) = x Gamma(x) carries a small x up by ten; P = x (x + 1) ... (x + 9) is what that
    costs log Gamma, its derivative over P what it costs psi. The first and the last factor, and so
    on inwards, make v, v + 8, v + 14, v + 18 and v + 20 of v = x (x + 9): nothing waits for long.

    Examples
    --------
    >>> psi, log_gamma, product = carried_up(0.5)
    >>> round(psi, 12), round((math.exp(log_gamma) / product) ** 2, 9)  # -Euler - 2 log 2, pi
    (-1.963510026021, 3.141592654)
    """
    product, slope = 1.0, 0.0
    if x < ENOUGH:
        v = x * (x + 9)
        ab, cd = (v + 8) * (v + 14), (v + 18) * (v + 20)
        product = v * ab * cd
        slope = (ab * cd + v * ((2 * v + 22) * cd + (2 * v + 38) * ab)) * (2 * x + 9)
        x += 10.0
    log_x, y = math.log(x), 1.0 / x
    z = y * y
    series = y * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188))))
    log_gamma = (x - 0.5) * log_x - x + HALF_LOG_2_PI + series
    decline = z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * 691 / 32760))))
    )
    return log_x - 0.5 * y - decline - slope / product, log_gamma, product
