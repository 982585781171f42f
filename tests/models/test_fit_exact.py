"""Whole fits against exact posteriors: chains, pooling and judging included."""

import numpy as np
import pytest

import coterie
from reference.exact import posterior_ibcc
from reference.problem import Problem

N_ITEMS, N_ANNOTATORS, N_SEEDS = 7, 3, 16
# All agree, and the prior barely says that people are right: the mirrored mode is nearly as good,
# so every item is near one half and the chains cross between the modes.
PROBLEM = Problem(
    N_ITEMS, N_ANNOTATORS, 2, 2,
    tuple((i, l, i % 2) for i in range(N_ITEMS) for l in range(N_ANNOTATORS)),
)  # fmt: skip
PRIOR = coterie.IBCCPrior(mean=0.505, strength=2.0, class_weights=[1.0, 1.3])


def exact():
    """Probability that the first item is what everybody says."""
    posterior = posterior_ibcc(PROBLEM, PRIOR.resolve(2, 2))
    return sum(p for truth, p in posterior.items() if truth[0] == 0)


@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
@pytest.mark.parametrize("early_stop", [True, False])
def test_an_item_near_one_half_is_not_pulled_towards_the_vote(early_stop):
    rows = [(f"q{i}", f"w{l}", "ab"[c]) for i, l, c in PROBLEM.labels]
    found = []
    for seed in range(N_SEEDS):
        model = coterie.IBCC(
            prior=PRIOR, chains=6, sweeps=2_000, burn_in=100, early_stop=early_stop,
            random_state=seed, n_jobs=1, thin=10,  # every sweep counts, few draws are kept
        )  # fmt: skip
        posterior = model.fit(rows).posterior_
        assert posterior.run["left_out"] == {}
        found.append(posterior.item_probability[0, 0])
    error = np.std(found, ddof=1) / np.sqrt(N_SEEDS)
    assert error < 0.02
    assert abs(np.mean(found) - exact()) <= 4 * error


@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
@pytest.mark.parametrize("vague", [0.1, 0.01, 0.001])
def test_a_vague_prior_of_the_spread_gives_finite_numbers(vague):
    prior = coterie.HCBCCPrior(strength=coterie.Gamma(vague, vague))
    crowd = coterie.simulate("mixed", items=6, annotators=5, random_state=1)
    model = coterie.HCBCC(prior=prior, sweeps=1_500, burn_in=100, random_state=0)
    posterior = model.fit(crowd.annotations).posterior_
    for array in (posterior.item_probability, posterior.confusion_mean, posterior.draws.confusion):
        assert np.isfinite(array).all()
    assert np.isfinite(posterior.draws.trace["log_likelihood"]).all()
    np.testing.assert_allclose(posterior.draws.confusion.sum(axis=-1), 1, atol=1e-5)
