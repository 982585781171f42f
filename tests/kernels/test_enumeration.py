"""Chains on small problems against the exact posterior."""

import numpy as np
import pytest

from ladder.cases import (
    CBCC_3,
    CBCC_FIXED,
    HCBCC_3,
    HCBCC_ONE_AUXILIARY,
    IBCC_3,
    LARGER,
    REPEATED,
    SMALL,
    name,
)
from ladder.marks import needs_compiler
from ladder.montecarlo import Chain, assert_means, check_enumeration
from ladder.sampler import real
from reference.exact import concentration_mean, item_probabilities, predictive

pytestmark = needs_compiler


@pytest.mark.slow
@pytest.mark.parametrize("case", SMALL + REPEATED + LARGER, ids=name)
def test_visited_states_have_the_exact_probabilities(case):
    check_enumeration(real(case), case)


@pytest.mark.slow
def test_a_fixed_concentration_stays_fixed():
    check_enumeration(real(CBCC_FIXED), CBCC_FIXED)
    chain = Chain(real(CBCC_FIXED), CBCC_FIXED, 1)
    _, trace = chain.sweep(50)
    np.testing.assert_allclose(trace.concentration, 0.6, rtol=1e-12)


@pytest.mark.slow
def test_one_auxiliary_is_enough():
    check_enumeration(real(HCBCC_ONE_AUXILIARY), HCBCC_ONE_AUXILIARY, thin=4)


@pytest.mark.parametrize("case", [IBCC_3, CBCC_3, HCBCC_3, HCBCC_ONE_AUXILIARY], ids=name)
def test_item_probabilities_are_averaged_conditionals(case):
    """Batch means: labelled, known and unlabelled items against enumeration."""
    posterior = case.posterior()
    problem = case.problem
    exact = item_probabilities(problem, posterior)
    unlabelled = np.setdiff1d(np.arange(problem.n_items), problem.counted)
    exact[unlabelled] = predictive(problem, posterior, case.prior.class_weights)
    chain = Chain(real(case), case, 2)
    batches = np.array([chain.sweep(200)[0].probability / 200 for _ in range(200)])
    for i in problem.gold:
        np.testing.assert_array_equal(batches[:, i], np.broadcast_to(exact[i], batches[:, i].shape))
    sites = [(i, t) for i in range(problem.n_items) for t in range(1, problem.n_classes)]
    assert_means({s: batches[:, *s] for s in sites}, {s: exact[s] for s in sites})


@pytest.mark.slow
@pytest.mark.parametrize("case", [CBCC_3, HCBCC_3, HCBCC_ONE_AUXILIARY], ids=name)
def test_clusters_and_concentration_have_the_exact_means(case):
    posterior = case.posterior()
    chain = Chain(real(case), case, 4)
    visited, n_coteries, _ = chain.visit(10_000, 2)
    partitions = np.array([q for _, q in visited])
    n = partitions.shape[1]
    pairs = [(a, b) for a in range(n) for b in range(a)]
    draws = {f"together {a} {b}": partitions[:, a] == partitions[:, b] for a, b in pairs}
    exact = {
        f"together {a} {b}": sum(p for (_, q), p in posterior.items() if q[a] == q[b])
        for a, b in pairs
    }
    draws["clusters"] = n_coteries
    exact["clusters"] = sum(p * len(set(q)) for (_, q), p in posterior.items())
    draws["concentration"] = chain.sweep(20_000)[1].concentration
    exact["concentration"] = concentration_mean(case.problem, posterior, case.prior.concentration)
    assert_means(draws, exact)
