"""Gammas, Dirichlets and partitions, of whole arrays: right where they are small, too."""

import numpy as np
import pytest
from scipy import stats

from coterie.numeric.dirichlet import (
    canonical_groups,
    draw_crp,
    log_dirichlet,
    log_gamma_draws,
    log_sequence,
    pick,
)
from reference.exact import all_partitions
from reference.joint import log_p_partition

pytestmark = pytest.mark.exact


@pytest.mark.parametrize("shape", [0.3, 1.0, 7.5])
def test_gammas_have_their_distribution(shape):
    logs = log_gamma_draws(np.full(20_000, shape), np.random.default_rng(1))
    assert stats.kstest(np.exp(logs), stats.gamma(shape).cdf).pvalue > 1e-4


def test_the_log_of_a_tiny_gamma_is_exponential():
    logs = log_gamma_draws(np.full(20_000, 1e-8), np.random.default_rng(2))
    assert stats.kstest(-logs * 1e-8, stats.expon.cdf).pvalue > 1e-4


def test_dirichlets_have_their_moments_and_sum_to_one():
    shape = np.array([0.2, 1.0, 3.0])
    p = np.exp(log_dirichlet(np.tile(shape, (40_000, 1)), np.random.default_rng(3), axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    exact = stats.dirichlet(shape)
    error = np.sqrt(exact.var() / len(p))
    assert (np.abs(p.mean(axis=0) - exact.mean()) < 4 * error).all()
    np.testing.assert_allclose(p.var(axis=0), exact.var(), rtol=0.05)


def test_shapes_that_underflow_put_all_on_one_answer_by_the_mean():
    log_shape = np.log([0.7, 0.3]) - 800.0
    rng = np.random.default_rng(4)
    logs = np.tile(log_shape, (20_000, 1))
    drawn = log_dirichlet(np.exp(logs), rng, axis=1, log_shape=logs)
    assert not np.isnan(drawn).any()
    chosen = drawn[:, 0] == 0
    assert (np.exp(drawn).max(axis=1) == 1).all()
    assert abs(chosen.mean() - 0.7) < 4 * np.sqrt(0.21 / len(drawn))


def test_a_sequence_has_the_chain_rule_s_probability():
    weight, drawn = np.array([0.5, 2.0]), [0, 1, 1, 0, 1]
    count, log_p = np.zeros(2, int), 0.0
    for k in drawn:
        log_p += np.log((weight[k] + count[k]) / (weight.sum() + count.sum()))
        count[k] += 1
    np.testing.assert_allclose(log_sequence(count, weight), log_p, rtol=1e-12)


def test_places_are_picked_by_their_weights_and_never_one_without():
    weight = np.array([0.0, 1.0, 3.0, 0.0])
    with np.errstate(divide="ignore"):
        logs = np.tile(np.log(weight) - 900.0, (30_000, 1))
    n = np.bincount(pick(logs, np.random.default_rng(5)), minlength=4)
    assert n[[0, 3]].tolist() == [0, 0]
    assert abs(n[2] / n.sum() - 0.75) < 4 * np.sqrt(0.1875 / n.sum())


def test_partitions_are_drawn_by_their_probabilities():
    rng, alpha = np.random.default_rng(6), 1.7
    known = [tuple(p.values()) for p in all_partitions(range(4))]
    seen = dict.fromkeys(known, 0)
    for _ in range(20_000):
        seen[tuple(draw_crp(4, alpha, rng).tolist())] += 1
    exact = [np.exp(log_p_partition(dict(enumerate(p)), alpha)) for p in known]
    expected = 20_000 * np.array(exact)
    assert stats.chisquare(list(seen.values()), expected).pvalue > 1e-4


def test_groups_are_numbered_by_first_appearance():
    assert canonical_groups(np.array([5, -1, 2, 5, 2], np.int32)).tolist() == [0, -1, 1, 0, 1]
