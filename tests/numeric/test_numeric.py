"""The pieces that the kernels share: rising factorials, draws, partitions."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from coterie.numeric.choice import normalise, pick, scale_to_one
from coterie.numeric.draws import (
    LONGEST_TABLE,
    draw_antoniak,
    draw_log_beta,
    draw_log_gamma,
    fill_antoniak,
    log_add,
    log_gamma_draws,
    table_length,
)
from coterie.numeric.partitions import (
    canonical_groups,
    draw_crp,
    draw_log_concentration,
    log_crp,
    log_gamma_density,
)
from coterie.numeric.rising import log_rising, log_rising_after, log_rising_known, rising
from coterie.numeric.rising import stirling as stirling_series
from coterie.priors import Gamma
from ladder.montecarlo import FALSE_ALARM, assert_means
from ladder.sampler import compiled
from reference.exact import all_partitions, alpha_moment
from reference.joint import log_p_partition, stirling

pytestmark = pytest.mark.exact
# As the kernels call them, and not as Python.
draw_antoniak, draw_log_beta, draw_log_gamma, fill_antoniak, log_add, table_length = map(
    compiled,
    (draw_antoniak, draw_log_beta, draw_log_gamma, fill_antoniak, log_add, table_length),
)
draw_log_concentration, log_crp, log_gamma_density, normalise, pick, scale_to_one = map(
    compiled,
    (draw_log_concentration, log_crp, log_gamma_density, normalise, pick, scale_to_one),
)
log_rising, log_rising_after, log_rising_known, rising, stirling_series = map(
    compiled, (log_rising, log_rising_after, log_rising_known, rising, stirling_series)
)
N_DRAWS = 4_000


def exact_log_rising(x, n):
    with localcontext() as context:
        context.prec = 40
        return float(sum((Decimal(x) + j).ln() for j in range(n)))


@pytest.mark.parametrize("x", [1e-300, 1e-8, 0.3, 5.0, 999.5, 9999.0, 1e4, 1e6, 1e12])
@pytest.mark.parametrize("n", [0, 1, 2, 16, 17, 300])
def test_log_rising_is_the_sum_of_logs(x, n):
    want = exact_log_rising(x, n)
    assert log_rising(x, n, math.log(x)) == pytest.approx(want, rel=1e-12, abs=1e-12)
    known = log_rising_known(x, n, math.log(x), math.lgamma(x))
    assert known == pytest.approx(want, rel=1e-12, abs=1e-12)
    after = exact_log_rising(x, n + 3) - exact_log_rising(x, 3)
    assert log_rising_after(x, 3, n, math.log(x)) == pytest.approx(after, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("x", [16.1, 50.0, 1234.5])
def test_stirling_is_the_log_of_gamma(x):
    assert stirling_series(x) == pytest.approx(math.lgamma(x), rel=1e-15)


def test_rising_is_the_product():
    assert rising(0.5, 4) == 0.5 * 1.5 * 2.5 * 3.5
    assert rising(3.0, 0) == 1


def test_log_rising_of_an_underflowed_number_starts_at_its_log():
    assert log_rising(0.0, 1, -5000.0) == -5000
    assert log_rising(0.0, 4, -5000.0) == pytest.approx(-5000 + math.log(6), rel=1e-15)
    assert log_rising(0.0, 40, -5000.0) == pytest.approx(-5000 + math.lgamma(40), rel=1e-15)


def test_normalise_keeps_ratios_and_survives_extremes():
    near, far = np.array([-1e5, -1e5 + math.log(3)]), np.array([-np.inf, 3.0, -1e9])
    normalise(near)
    normalise(far)
    np.testing.assert_allclose(near, [0.25, 0.75])
    np.testing.assert_array_equal(far, [0, 1, 0])


def test_scale_to_one_keeps_ratios():
    weights = np.array([1e-140, 3e-140, 0.0])
    scale_to_one(weights)
    np.testing.assert_allclose(weights, [0.25, 0.75, 0])


def test_pick_gives_every_index_its_share():
    weights = np.array([0.0, 2.0, 1.0, 0.0, 5.0, 0.0]) / 8
    grid = (np.arange(8_000) + 0.5) / 8_000
    counts = np.bincount([pick(weights, u) for u in grid], minlength=6)
    np.testing.assert_array_equal(counts, weights * 8_000)
    assert pick(weights, np.nextafter(1, 0)) == 4
    assert pick(weights, 0.0) == 1


@pytest.mark.parametrize("shape", [0.018, 0.6, 1.0, 20.0])
def test_log_gamma_draws(shape):
    rng = np.random.default_rng(1)
    draws = [draw_log_gamma(shape, rng) for _ in range(N_DRAWS)]
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > FALSE_ALARM
    draws = log_gamma_draws(np.full(N_DRAWS, shape), rng)
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > FALSE_ALARM


def test_log_gamma_of_no_shape_is_the_limit():
    rng = np.random.default_rng(1)
    assert draw_log_gamma(0.0, rng) == -math.inf
    assert (log_gamma_draws(np.array([0.0, 1e-320]), rng) < -1e300).all()


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (-800.0, -801.0), (700.0, -700.0)])
def test_log_add(a, b):
    for x, y in ((a, b), (b, a)):
        assert log_add(x, y) == pytest.approx(np.logaddexp(x, y), rel=1e-15)
        assert log_add(x, -math.inf) == x
        assert log_add(-math.inf, x) == x
    assert log_add(-math.inf, -math.inf) == -math.inf


@pytest.mark.parametrize(("a", "b"), [(0.05, 3.0), (10.0, 1.0), (1e7, 4.0), (2.0, 300.0)])
def test_log_beta_draws(a, b):
    rng = np.random.default_rng(2)
    draws = np.array([draw_log_beta(a, b, rng) for _ in range(N_DRAWS)])
    # 1 - x is compared where x is next to one, x elsewhere: both keep their digits.
    values, law = (
        (-np.expm1(draws), stats.beta(b, a)) if a > b else (np.exp(draws), stats.beta(a, b))
    )
    assert stats.kstest(values, law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("x", "n"), [(0.3, 5), (4.0, 5), (2.5, 12)])
@pytest.mark.parametrize("length", [1, 3, 12])
def test_antoniak_draws_follow_stirling_numbers(x, n, length):
    """All from the table, part of them, or all by way of successes."""
    rng, table = np.random.default_rng(4), np.zeros((13, 13))
    p = np.array([stirling(n, s) * x**s for s in range(n + 1)])
    p /= p.sum()
    fill_antoniak(x, length, table)
    if length >= n:
        np.testing.assert_allclose(table[n, : n + 1], p, rtol=1e-12)
    draws = [draw_antoniak(n, x, table, length, rng) for _ in range(N_DRAWS)]
    counts, expected = np.bincount(draws, minlength=n + 1), N_DRAWS * p
    assert counts[0] == 0
    last = np.flatnonzero(expected >= 8)[-1]  # those beyond are too few to test: pooled with it
    counts[last], expected[last] = counts[last:].sum(), expected[last:].sum()
    kept = slice(1, last + 1)
    assert stats.chisquare(counts[kept], expected[kept]).pvalue > FALSE_ALARM


def test_antoniak_of_nothing_is_the_limit():
    table = np.zeros((5, 5))
    fill_antoniak(0.0, 4, table)
    rng = np.random.default_rng(1)
    assert [draw_antoniak(n, 0.0, table, 4, rng) for n in (1, 4, 9)] == [1, 1, 1]


@pytest.mark.parametrize(("most", "total"), [(1, 1), (3, 500), (900, 1000), (900, 10**6)])
def test_tables_are_no_longer_than_worth_it(most, total):
    length = table_length(most, total)
    assert 1 <= length <= min(most, LONGEST_TABLE)
    assert length**2 <= 8 * total


def test_crp_draws_and_log_probability():
    rng, alpha = np.random.default_rng(5), 0.8
    exact = {tuple(q.values()): log_p_partition(q, alpha) for q in all_partitions(range(4))}
    for q, log_p in exact.items():
        sizes = np.bincount(q, minlength=6).astype(np.int32)
        assert log_crp(sizes, math.log(alpha)) == pytest.approx(log_p, rel=1e-12)
    drawn = [tuple(draw_crp(4, alpha, rng).tolist()) for _ in range(N_DRAWS)]
    counts = [drawn.count(q) for q in exact]
    assert sum(counts) == N_DRAWS  # every draw is canonical
    expected = [N_DRAWS * math.exp(log_p) for log_p in exact.values()]
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM


def test_canonical_groups_number_by_first_appearance():
    group = np.array([5, 2, -1, 5, 0, 2], np.int32)
    assert canonical_groups(group).tolist() == [0, 1, -1, 0, 2, 1]
    assert canonical_groups(np.array([-1, -1], np.int32)).tolist() == [-1, -1]
    assert canonical_groups(np.zeros(0, np.int32)).tolist() == []


@pytest.mark.parametrize(("n_people", "n_groups"), [(6, 1), (6, 4), (1, 1)])
def test_concentration_updates_keep_its_posterior(n_people, n_groups):
    rng, prior = np.random.default_rng(6), Gamma(1.5, 0.8)
    log_alpha, draws = 0.0, []
    for _ in range(8_000):
        counts, gamma = (n_people, n_groups), (prior.shape, prior.rate)
        log_alpha = draw_log_concentration(log_alpha, counts, gamma, rng)
        draws.append(math.exp(log_alpha))
    whole = alpha_moment(n_groups, n_people, prior, 0)
    exact = {k: alpha_moment(n_groups, n_people, prior, k) / whole for k in (1, 2)}
    assert_means({k: np.array(draws) ** k for k in exact}, exact)


def test_concentration_of_nobody_is_the_prior():
    rng = np.random.default_rng(7)
    draws = [draw_log_concentration(3.0, (0, 0), (1.5, 0.8), rng) for _ in range(N_DRAWS)]
    law = stats.gamma(1.5, scale=1 / 0.8)
    assert stats.kstest(np.exp(draws), law.cdf).pvalue > FALSE_ALARM


def test_log_gamma_density():
    want = stats.gamma.logpdf(2.5, 1.7, scale=1 / 0.4)
    assert log_gamma_density(math.log(2.5), 1.7, 0.4) == pytest.approx(want, rel=1e-12)
