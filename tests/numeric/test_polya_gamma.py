"""Polya-Gamma draws against what is known of them exactly."""

import math

import numpy as np
import pytest
from scipy import stats

from coterie.numeric.jit import kernel
from coterie.numeric.polya_gamma import draw_polya_gamma
from ladder.montecarlo import limit


@kernel
def draw_many(c, rng, out):
    for k in range(len(out)):
        out[k] = draw_polya_gamma(c, rng)


def exact(c):
    """Mean and variance of PG(1, c)."""
    if c == 0:
        return 1 / 4, 1 / 24
    x = c / 2
    return math.tanh(x) / (2 * c), (math.sinh(c) - c) / (4 * c**3 * math.cosh(x) ** 2)


@pytest.mark.parametrize("c", [0.0, 0.3, -2.0, 3.3, 9.0, 40.0])
def test_mean_variance_and_laplace_transform(c):
    out = np.zeros(40_000)
    draw_many(c, np.random.default_rng(1), out)
    mean, variance = exact(c)
    assert abs(out.mean() - mean) < limit(3) * np.sqrt(variance / len(out))
    spread = (out - mean) ** 2
    assert abs(spread.mean() - variance) < limit(3) * spread.std() / np.sqrt(len(out))
    # E exp(-x t) = cosh(c / 2) / cosh(sqrt((c^2 / 2 + t) / 2))
    t = 1 / mean
    want = math.cosh(c / 2) / math.cosh(math.sqrt((c * c / 2 + t) / 2))
    got = np.exp(-out * t)
    assert abs(got.mean() - want) < limit(3) * got.std() / np.sqrt(len(out))


@pytest.mark.parametrize("c", [0.0, 1.5, 6.0])
def test_the_same_distribution_as_another_implementation(c):
    theirs = pytest.importorskip("polyagamma", reason="an oracle that not every machine has")
    out = np.zeros(20_000)
    draw_many(c, np.random.default_rng(2), out)
    other = theirs.random_polyagamma(1.0, c, size=20_000, random_state=np.random.default_rng(3))
    assert stats.ks_2samp(out, other).pvalue > 1e-4
