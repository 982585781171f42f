"""Simulation-based calibration of the whole estimators, with their start and warm-up.

A truth drawn from the prior, and data drawn from it, make the truth one more draw from the
posterior: its rank among the draws is uniform. Quantities do not depend on the numbers of clusters.

One bin of eight that gets half as many ranks again is noticed by 1,000 replicates (17 times of 20;
CI runs so many as a slow test), one that gets a third more by 3,000, which were run once by hand
and passed; the 100 of every test run are there for what is grossly wrong.
"""

import warnings

import numpy as np
import pytest

import coterie
from coterie.errors import CoterieWarning
from coterie.inference.chain import count_truth
from coterie.kernels.collapsed import log_marginal
from coterie.kernels.people import weight_of
from ladder.sbc import DRAWS, SETTINGS, THIN, assert_uniform, rank, unjudged

MEAN = [[0.6, 0.3, 0.1], [0.2, 0.65, 0.15]]  # the third answer is never true
SHARED = {"mean": MEAN, "class_weights": [2.0, 1.0]}
PRIORS = {
    "IBCC": coterie.IBCCPrior(**SHARED, strength=[4.0, 2.5]),
    "CBCC": coterie.CBCCPrior(**SHARED, strength=[4.0, 2.5], concentration=coterie.Gamma(2.0, 1.5)),
    "HCBCC": coterie.HCBCCPrior(
        **SHARED,
        mean_strength=[4.0, 2.5],
        strength=coterie.Gamma(6.0, 1.0),
        concentration=coterie.Gamma(2.0, 1.5),
        auxiliaries=2,
    ),
}


def true_quantities(kind, crowd, prior):
    codes = crowd.annotations.codes
    truth = crowd.annotations.classes.tolist().index
    z = np.array([truth(label) for label in crowd.truth], np.int32)
    quantities = {"class total": np.sum(z == 0), "a matrix": crowd.confusion[0, 0, 0]}
    if kind != "IBCC":
        groups = crowd.groups.to_numpy(np.int32)
        quantities["clusters"] = len(set(groups))
        quantities["pairs together"] = np.sum(groups[:, None] == groups)
        quantities["first two together"] = int(groups[0] == groups[1])
    if kind != "HCBCC":
        said = count_truth(z, codes, codes.n_classes)["said"]
        if kind == "CBCC":
            said = np.stack([said[groups == m].sum(axis=0) for m in np.unique(groups)])
        weight = weight_of(prior.resolve(2, 3))
        quantities["log likelihood"] = log_marginal(said, weight)
    return quantities


def drawn_quantities(kind, draws):
    quantities = {
        "class total": draws.trace["class_total"][0, THIN - 1 :: THIN, 0],
        "a matrix": draws.confusion[0, :, 0, 0, 0],
    }
    if kind != "IBCC":
        partition = draws.partition[0]
        quantities["clusters"] = draws.n_coteries[0]
        quantities["pairs together"] = (partition[:, :, None] == partition[:, None]).sum((1, 2))
        quantities["first two together"] = (partition[:, 0] == partition[:, 1]).astype(int)
    if kind != "HCBCC":
        quantities["log likelihood"] = draws.trace["log_likelihood"][0, THIN - 1 :: THIN]
    return quantities


def ranks(kind, replicates, fitted=None, **more):
    rng = np.random.default_rng(5)
    prior = PRIORS[kind]
    found = {}
    for number in range(replicates):
        crowd = coterie.simulate(
            prior, items=7, annotators=5, classes=["a", "b"], extra_answers=["unsure"],
            labels_per_item=3, random_state=number,
        )  # fmt: skip
        settings = {**SETTINGS, **more, "random_state": number}
        model = getattr(coterie, kind)(prior=fitted or prior, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoterieWarning)  # one chain may disagree with the vote
            drawn = drawn_quantities(kind, unjudged(model).fit(crowd.annotations).posterior_.draws)
        true = true_quantities(kind, crowd, prior)
        assert true.keys() == drawn.keys()
        for name, value in true.items():
            assert len(drawn[name]) == DRAWS
            found.setdefault(name, []).append(rank(value, drawn[name], rng))
    return found


def check(kind, replicates, fitted=None, **more):
    assert_uniform(ranks(kind, replicates, fitted, **more), kind)


@pytest.mark.parametrize("kind", PRIORS)
def test_ranks_are_uniform(kind):
    check(kind, 100)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRIORS)
def test_ranks_are_uniform_in_many_replicates(kind):
    check(kind, 1_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRIORS)
def test_ranks_of_blocked_fits_are_uniform(kind):
    check(kind, 300, sampler="blocked")


def test_a_wrong_prior_is_noticed():
    """The check itself can fail: data from one prior, a fit with another."""
    other = coterie.IBCCPrior(mean=0.9, strength=30.0, class_weights=[2.0, 1.0])
    with pytest.raises(AssertionError, match="p = "):
        check("IBCC", 100, fitted=other)
