"""hcBCC's cluster parameters, beta and eta: conditionals, and the whole update at fixed z and q."""

import numba
import numpy as np
import pytest
from numpy.polynomial import polynomial
from scipy import stats
from scipy.special import poch, polygamma

from coterie.kernels.gibbs.hcbcc.members import (
    draw_auxiliaries,
    sum_members,
    sweep_parameters,
)
from ladder.cases import HCBCC_2
from ladder.marks import needs_compiler
from ladder.montecarlo import FALSE_ALARM, assert_means
from ladder.parameters import check_augmented_joint
from ladder.sampler import pack, real, set_parameters, start
from reference.exact import gamma_nodes, mean_over_eta
from reference.joint import count, stirling

Z, Q = {0: 0, 1: 1, 2: 0}, {0: 0, 1: 0, 2: 1}


@pytest.mark.exact
def test_parameters_are_drawn_from_the_augmented_joint():
    check_augmented_joint(real(HCBCC_2), HCBCC_2)


# Three members, their n[t, c]; the last has no labels of class 1.
COUNTS = np.array([[[4, 1], [2, 2]], [[3, 0], [0, 1]], [[1, 2], [0, 0]]])


@numba.njit(error_model="numpy")
def draw_again(state, room, rng, tables, decay):
    """Draw those of group 0 again and again: tables (draws, C, T), decay (draws, T)."""
    for draw in range(len(decay)):
        draw_auxiliaries(state, room, rng)
        sum_members(0, room)
        tables[draw] = room.sums.tables
        decay[draw] = room.sums.decay + np.exp(room.sums.log_decay)


@pytest.mark.exact
@pytest.mark.parametrize("strength", [2.0, 0.7])
def test_auxiliaries_are_drawn_from_the_augmented_joint(strength):
    """s by Stirling numbers, nu from a Beta, and no nu for a class without labels."""
    sampler, case = real(HCBCC_2), HCBCC_2
    state = start(sampler, case, Z, dict.fromkeys(Q, 0))
    mean = np.array([[0.6, 0.4], [0.5, 0.5]])
    set_parameters(state, slice(1), np.full((1, 2), strength), mean[None])
    state.said[:], state.said_total[:] = COUNTS.swapaxes(1, 2), COUNTS.sum(axis=2)
    room = sampler.model.new_room(state, case.problem.codes)
    tables, decay = np.zeros((3_000, 2, 2)), np.zeros((3_000, 2))
    draw_again(state, room, np.random.default_rng(1), tables, decay)
    for t, c in np.ndindex(2, 2):
        p = np.ones(1)
        for n_c in COUNTS[:, t, c]:
            x = strength * mean[t, c]
            one = np.array([stirling(n_c, s) * x**s for s in range(n_c + 1)])
            p = np.convolve(p, one / one.sum())
        assert_frequencies(tables[:, c, t].astype(int), p)
    for t in range(2):
        # The mean and variance of -log Beta(strength, n), summed over those who have labels.
        totals = [n for n in COUNTS[:, t].sum(axis=1) if n]
        exact = {k: sum(decay_moment(k, strength, n) for n in totals) for k in (0, 1)}
        draws = decay[:, t]
        assert_means(
            {t: draws, "square": (draws - exact[0]) ** 2}, {t: exact[0], "square": exact[1]}
        )


def assert_frequencies(draws, p):
    """Draws of s have the probabilities p[s]; cells that are too small are pooled."""
    seen, expected = np.bincount(draws, minlength=len(p)), len(draws) * p
    large = expected >= 8
    seen = np.append(seen[large], seen[~large].sum())
    expected = np.append(expected[large], expected[~large].sum())
    kept = expected > 0
    assert seen[~kept].sum() == 0
    assert stats.chisquare(seen[kept], expected[kept]).pvalue > FALSE_ALARM


def decay_moment(k, a, n):
    """Mean (k = 0) and variance (k = 1) of -log Beta(a, n)."""
    return (-1) ** (k + 1) * (polygamma(k, a) - polygamma(k, a + n))


@numba.njit(error_model="numpy")
def draw_parameters(state, prior, room, rng, beta, eta):
    """Update again and again: beta and the first answer's eta of two groups, (draws, 2, T)."""
    for draw in range(len(beta)):
        sweep_parameters(state, prior, room, rng)
        beta[draw] = state.strength[:2]
        eta[draw] = np.exp(state.log_mean[:2, 0])


@needs_compiler
@pytest.mark.slow
def test_updates_keep_the_posterior_of_strength_and_mean():
    """At fixed z and q: E of beta, of beta^2, of eta and of beta eta, per cluster and class."""
    case, sampler = HCBCC_2, real(HCBCC_2)
    state, prior = start(sampler, case, Z, Q), pack(sampler, case)
    room = sampler.model.new_room(state, case.problem.codes)
    room.split.proposals[0] = 0
    beta, eta = np.zeros((20_000, 2, 2)), np.zeros((20_000, 2, 2))
    draw_parameters(state, prior, room, np.random.default_rng(2), beta, eta)
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
