"""Limits in which one model becomes another."""

import numba
import numpy as np
import pytest

from coterie.priors import CBCCPrior, Gamma, IBCCPrior
from ladder.cases import CBCC_2, MEAN_2, RATES_2, Case, case, hierarchical
from ladder.montecarlo import Chain, assert_means
from ladder.sampler import real
from reference.exact import item_probabilities
from reference.problem import TWO_CLASSES

needs_jit = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="long chains need the compiled kernels"
)
IBCC = case("ibcc", TWO_CLASSES, IBCCPrior(MEAN_2, **RATES_2))
LONERS = case("cbcc", TWO_CLASSES, CBCCPrior(MEAN_2, **RATES_2, concentration=1e12))
# beta -> infinity: the members of a cluster are copies, (phi, gamma) is their (beta, eta)
COPIES = case("hcbcc", TWO_CLASSES, hierarchical(MEAN_2, RATES_2, strength=Gamma(1e8, 1e2)))
# phi, a, b -> infinity with a/b fixed: every cluster has beta = a/b and eta = gamma
STRENGTH = Gamma([3e7, 2e7], [1e7, 1e7])
ALIKE = case(
    "hcbcc",
    TWO_CLASSES,
    hierarchical(MEAN_2, RATES_2, mean_strength=1e7, strength=STRENGTH),
)

PAIRS = {
    "cBCC with many clusters is iBCC": (LONERS, IBCC),
    "hcBCC with strong clusters is cBCC": (COPIES, CBCC_2),
    "hcBCC with one kind of cluster is iBCC": (ALIKE, IBCC),
}
pairs = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


@pairs
def test_exact_posteriors_meet(pair: tuple[Case, Case]):
    got, want = (item_probabilities(TWO_CLASSES, one.posterior()) for one in pair)
    np.testing.assert_allclose(got, want, atol=1e-5)


@needs_jit
@pairs
def test_chains_meet_the_exact_limit(pair: tuple[Case, Case]):
    limiting, limit = pair
    exact = item_probabilities(TWO_CLASSES, limit.posterior())
    chain = Chain(real(limiting), limiting, 6)
    batches = np.array([chain.sweep(100)[0].probability / 100 for _ in range(200)])
    items = range(TWO_CLASSES.n_items)
    assert_means({i: batches[:, i, 1] for i in items}, {i: exact[i, 1] for i in items})


@needs_jit
def test_clusters_meet_the_exact_limit():
    posterior = CBCC_2.posterior()
    _, trace = Chain(real(COPIES), COPIES, 7).sweep(20_000)
    exact = sum(p * len(set(q)) for (_, q), p in posterior.items())
    assert_means({"clusters": trace.n_coteries}, {"clusters": exact})


def test_an_infinite_concentration_leaves_nobody_together():
    _, trace = Chain(real(LONERS), LONERS, 8).sweep(50)
    assert (trace.n_coteries == 3).all()


def test_the_limits_are_not_all_one_model():
    """The exact limits differ from one another: the tests above can fail."""
    ibcc, cbcc = (item_probabilities(TWO_CLASSES, one.posterior()) for one in (IBCC, CBCC_2))
    assert np.abs(ibcc - cbcc).max() > 0.02
