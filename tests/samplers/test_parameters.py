"""hcBCC's cluster parameters, beta and eta: conditionals, and the whole update at fixed z and q."""

import numba
import numpy as np
import pytest
from numpy.polynomial import polynomial
from scipy import stats
from scipy.special import poch

from reference.exact import gamma_nodes, mean_over_eta
from reference.joint import count, stirling
from samplers.cases import HCBCC_2
from samplers.montecarlo import FALSE_ALARM, assert_means
from samplers.parameters import check_augmented_joint
from samplers.sampler import pack, real, start

Z, Q = {0: 0, 1: 1, 2: 0}, {0: 0, 1: 0, 2: 1}


@pytest.mark.exact
def test_parameters_are_drawn_from_the_augmented_joint():
    check_augmented_joint(real(HCBCC_2), HCBCC_2)


@pytest.mark.exact
def test_auxiliaries_are_drawn_from_the_augmented_joint():
    """s by Stirling numbers, nu from a Beta, and no nu for a class without labels."""
    sampler = real(HCBCC_2)
    parameters = sampler.module("parameters")
    rng = np.random.default_rng(1)
    shapes = parameters.new_shapes(1, 2, 2)
    shapes.weight[0] = [[1.2, 0.8], [1.0, 1.0]]
    shapes.strength[0] = 2.0
    said, total = np.array([[4, 1], [0, 0]], np.int32), np.array([5, 0], np.int32)
    tables, nu = [], []
    for _ in range(3_000):
        sums = parameters.new_sums(2, 2)
        parameters.add_auxiliaries(said, total, shapes, 0, sums, rng)
        tables.append(sums.tables[0, 0])
        nu.append(np.exp(-np.exp(sums.log_decay[0])))
        assert sums.tables[0, 1] == 1
        assert not sums.tables[1].any()
        assert sums.log_decay[1] == -np.inf
    p = np.array([stirling(4, s) * 1.2**s for s in range(1, 5)])
    seen = np.bincount(np.array(tables, int), minlength=5)[1:]
    assert stats.chisquare(seen, len(tables) * p / p.sum()).pvalue > FALSE_ALARM
    assert stats.kstest(nu, stats.beta(2.0, 5.0).cdf).pvalue > FALSE_ALARM


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="long chains need the compiled kernels")
def test_updates_keep_the_posterior_of_strength_and_mean():
    """At fixed z and q: E of beta, of beta^2, of eta and of beta eta, a cluster and class each."""
    case, sampler = HCBCC_2, real(HCBCC_2)
    state, prior = start(sampler, case, Z, Q), pack(sampler, case)
    sums = sampler.module("parameters").new_sums(2, 2)
    rng = np.random.default_rng(2)
    beta, eta = np.zeros((20_000, 2, 2)), np.zeros((20_000, 2, 2))
    for draw in range(len(beta)):
        sampler.model.sweep_parameters(state, prior, sums, rng)
        beta[draw], eta[draw] = state.strength[:2], np.exp(state.log_mean[:2, :, 0])
    draws, exact = {}, {}
    n = count(case.problem, Z, owner=lambda l: l)
    for m in range(2):
        for t in range(2):
            counts = [tuple(n[l, t, c] for c in range(2)) for l in Q if Q[l] == m]
            mean = row_means(case.prior, t, counts)
            b, e = beta[:, m, t], eta[:, m, t]
            for name, values in {"beta": b, "beta^2": b**2, "eta": e, "beta eta": b * e}.items():
                draws[m, t, name], exact[m, t, name] = values, mean[name]
    assert_means(draws, exact)


def row_means(prior, t, counts):
    """Exact posterior means for one row of one cluster."""
    beta, weights = gamma_nodes(prior.strength.shape[t], prior.strength.rate[t])
    shapes = prior.mean_strength[t] * prior.mean[t]
    below = np.prod([poch(beta, sum(n)) for n in counts], axis=0)
    # E of eta[0] times the rest: Dirichlet with one more at 0, and the mean of eta[0] in front.
    more = mean_over_eta(counts, shapes + np.array([1, 0])) * shapes[0] / shapes.sum()
    plain = weights * polynomial.polyval(beta, mean_over_eta(counts, shapes)) / below
    tilted = weights * polynomial.polyval(beta, more) / below
    whole = plain.sum()
    return {
        "beta": plain @ beta / whole,
        "beta^2": plain @ beta**2 / whole,
        "eta": tilted.sum() / whole,
        "beta eta": tilted @ beta / whole,
    }
