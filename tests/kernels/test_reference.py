"""The reference is tested too: what it calls probabilities sum to one, two integrals agree."""

import itertools
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import poch

from coterie.priors import EasyHardPrior
from ladder.cases import CBCC_2, HCBCC_2, IBCC_2, MEAN_2, ONE_ONE, RATES_2
from ladder.collapsed_checks import MEMBERS
from reference import cells
from reference.exact import (
    RowMarginal,
    all_partitions,
    all_truths,
    log_p_partition_marginal,
    posterior_hcbcc,
)
from reference.joint import (
    log_augmented,
    log_p_labels,
    log_p_partition,
    log_p_truth,
    stirling,
)
from reference.problem import Problem
from reference.rows import Rows


def test_every_truth_has_a_probability():
    z_all = [dict(enumerate(z)) for z in itertools.product(range(3), repeat=4)]
    assert sum(exp(log_p_truth(z, (0.4, 1.1, 2.0))) for z in z_all) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("concentration", [0.7, ONE_ONE])
def test_every_partition_has_a_probability(concentration):
    partitions = list(all_partitions([0, 1, 2, 5]))
    assert len(partitions) == 15
    total = sum(exp(log_p_partition_marginal(q, concentration)) for q in partitions)
    assert total == pytest.approx(1, rel=1e-9)
    if concentration == 0.7:
        for q in partitions:
            want = log_p_partition(q, 0.7)
            assert log_p_partition_marginal(q, 0.7) == pytest.approx(want, rel=1e-12)


def test_every_set_of_answers_has_a_probability():
    problem, prior = CBCC_2.problem, CBCC_2.prior
    z, q = {0: 0, 1: 1, 2: 0}, {0: 0, 1: 1, 2: 0}
    total = 0.0
    for answers in itertools.product(range(2), repeat=len(problem.labels)):
        labels = tuple((i, l, c) for (i, l, _), c in zip(problem.labels, answers, strict=True))
        said = replace(problem, labels=labels)
        log_p = log_p_labels(
            said, z, q.get, lambda o, t: prior.strength[t], lambda o, t, c: prior.mean[t, c]
        )
        total += exp(log_p)
    assert total == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("t", [0, 1])
def test_rows_integrate_as_by_brute_force(t):
    """The polynomial in eta and one integral over beta, against two integrals."""
    prior = HCBCC_2.prior
    shape, rate = prior.strength.shape[t], prior.strength.rate[t]
    weights = prior.mean_strength[t] * prior.mean[t]

    def integrand(eta, beta):
        value = stats.gamma.pdf(beta, shape, scale=1 / rate) * stats.beta.pdf(eta, *weights)
        for a, b in MEMBERS:
            value *= poch(beta * eta, a) * poch(beta * (1 - eta), b) / poch(beta, a + b)
        return value

    brute, _ = integrate.dblquad(integrand, 0, 60, 0, 1, epsabs=1e-12, epsrel=1e-8)
    assert RowMarginal(prior)(t, MEMBERS) == pytest.approx(log(brute), abs=1e-6)


def test_every_set_of_answers_has_a_probability_in_hcbcc():
    """Summed over the answers of one annotator to two items, p(Y) is p(Y without them)."""
    problem, prior = HCBCC_2.problem, HCBCC_2.prior
    row = RowMarginal(prior)
    others = [(1, 0), (0, 2)]
    more = sum(
        exp(row(0, [*others, n])) * ways for n, ways in {(2, 0): 1, (1, 1): 2, (0, 2): 1}.items()
    )
    assert more == pytest.approx(exp(row(0, others)), rel=1e-8)
    assert sum(posterior_hcbcc(problem, prior).values()) == pytest.approx(1, rel=1e-12)


EASY = EasyHardPrior(
    MEAN_2, easy_mean=[[0.9, 0.1], [0.2, 0.8]], easy_strength=[9.0, 6.0], **RATES_2
)
EASY = EASY.resolve(2, 2)
WEIGHTS = CBCC_2.prior.class_weights
MODELS = {
    "own": (IBCC_2.prior, cells.subtypes(WEIGHTS, 2, 0.9), 1),
    "easy": (EASY, cells.latent_kinds(WEIGHTS, [1.5, 0.8]), 1),
    "shared": (CBCC_2.prior, cells.latent_kinds(WEIGHTS, [0.7, 0.4]), 2),
    "similar": (HCBCC_2.prior, cells.known_kinds(WEIGHTS, 2), 2),
}


@pytest.mark.parametrize("rows", MODELS)
def test_cells_and_coteries_and_every_set_of_answers_have_a_probability(rows):
    (prior, space, n_kinds), total = MODELS[rows], 0.0
    known = (0, 1) if rows == "similar" else ()
    for a, b, c in itertools.product(range(2), repeat=3):
        problem = Problem(2, 2, 2, 2, ((0, 0, a), (0, 1, b), (1, 0, c)))
        joint = Rows(problem, prior, space, rows, known, n_kinds).joint()
        total += sum(map(exp, joint.values()))
    assert total == pytest.approx(1, rel=1e-7)


def test_stirling_numbers_make_rising_factorials():
    for n in range(7):
        total = sum(stirling(n, s) * 1.7**s for s in range(n + 1))
        assert total == pytest.approx(poch(1.7, n), rel=1e-12)


def test_auxiliary_variables_sum_out():
    """The augmented joint, summed over s and integrated over nu, is the joint of beta and eta."""
    prior, counts = HCBCC_2.prior, [(2, 1)]

    def augmented(beta, eta):
        def density(nu, s):
            return exp(log_augmented(counts, prior, 0, beta, eta, [nu], [s]))

        tables = itertools.product(range(1, 3), range(1, 2))
        return sum(integrate.quad(density, 0, 1, args=(s,))[0] for s in tables)

    def direct(beta, eta):
        value = stats.gamma.pdf(beta, prior.strength.shape[0], scale=1 / prior.strength.rate[0])
        value *= stats.dirichlet.pdf(eta, prior.mean_strength[0] * prior.mean[0])
        rising = [poch(beta * e, n) for e, n in zip(eta, counts[0], strict=True)]
        return value * np.prod(rising) / poch(beta, 3)

    points = [(2.0, (0.3, 0.7)), (5.0, (0.8, 0.2)), (0.7, (0.5, 0.5))]
    ratios = [augmented(*point) / direct(*point) for point in points]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-8)


def test_gold_and_unlabelled_items_are_not_enumerated():
    problem = replace(CBCC_2.problem, n_items=4, gold={1: 1})
    assert problem.free == [0, 2]
    assert len(list(all_truths(problem))) == 4
