"""Draws from the models' priors have the moments that the models imply.

The independent unit is the crowd: standard errors are those of the mean over crowds.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from coterie.errors import DataError
from coterie.priors import Beta, CBCCPrior, ConsensusPrior, Gamma, HCBCCPrior, IBCCPrior
from coterie.simulation import simulate
from coterie.simulation.crowd import draw_dirichlet, draw_log_dirichlet
from coterie.simulation.groups import draw_people
from ladder.marks import rest_slow
from reference.consensus_prior import draw_worlds

MEAN = {
    2: np.array([[0.8, 0.2], [0.35, 0.65]]),
    3: np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.25, 0.3, 0.45]]),
}
STRENGTH = {2: [1.5, 4.0], 3: [1.0, 3.0, 2.0]}
ALPHA = 0.8


def prior_of(model, n_classes):
    mean, strength = MEAN[n_classes], STRENGTH[n_classes]
    if model == "cbcc":
        return CBCCPrior(mean=mean, strength=strength, concentration=ALPHA)
    spread = Gamma(np.linspace(2, 6, n_classes), np.linspace(0.5, 1, n_classes))
    return HCBCCPrior(mean=mean, mean_strength=strength, strength=spread, concentration=ALPHA)


def assert_mean(values, expected):
    """Check the mean over crowds (axis 0) within 4 standard errors, 4.5 for many at once."""
    values = np.asarray(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    limit = 4 if np.size(expected) < 5 else 4.5
    np.testing.assert_array_less(np.abs(values.mean(axis=0) - expected), limit * error)


def correlation(n_classes, t):
    """Give the prior correlation of two annotators' answers a and b, shape (C, C)."""
    eta = MEAN[n_classes][t]
    equal = 1 / ((1 + ALPHA) * (1 + STRENGTH[n_classes][t]))
    odds = np.sqrt(eta / (1 - eta))
    table = -equal * np.outer(odds, odds)
    np.fill_diagonal(table, equal)
    return table


def answers_of(crowd):
    """Give the answers of a full crowd, shape (items, annotators)."""
    annotations = crowd.annotations
    return annotations.codes.item_answer.reshape(annotations.n_items, annotations.n_annotators)


def pair_products(answers, eta):
    """Give the standardised products of two annotators' answers, mean over items, (C, C)."""
    said = answers[..., None] == np.arange(len(eta))  # (items, annotators, C)
    score = (said - eta) / np.sqrt(eta * (1 - eta))
    both = np.einsum("ila,imb->ab", score, score) - np.einsum("ila,ilb->ab", score, score)
    n_items, n_annotators = answers.shape
    return both / (n_items * n_annotators * (n_annotators - 1))


@pytest.mark.parametrize("model", ["cbcc", "hcbcc"])
@pytest.mark.parametrize("n_classes", rest_slow([2, 3], 0))
def test_prior_correlation_of_two_annotators(model, n_classes):
    rng = np.random.default_rng([n_classes, len(model)])
    prior = prior_of(model, n_classes)
    t = n_classes - 1
    products = []
    for _ in range(1_200):
        crowd = simulate(
            prior,
            items=15,
            annotators=5,
            classes=n_classes,
            labels_per_item=5,
            class_balance=np.eye(n_classes)[t],  # every truth is t
            random_state=rng,
        )
        products.append(pair_products(answers_of(crowd), MEAN[n_classes][t]))
    assert_mean(products, correlation(n_classes, t))
    # The test can tell: without the clusters there would be none.
    with pytest.raises(AssertionError):
        assert_mean(products, np.zeros((n_classes, n_classes)))


def draw_many(prior, n_crowds, n_annotators, sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [draw_people(prior, n_annotators, sizes, rng) for _ in range(n_crowds)]


@pytest.mark.parametrize("model", ["cbcc", "hcbcc"])
def test_groups_follow_the_chinese_restaurant(model):
    crowds = draw_many(prior_of(model, 2), 2_000, 7, (2, 2))
    groups = np.array([people.groups for people in crowds])
    assert_mean(groups[:, 2] == groups[:, 5], 1 / (1 + ALPHA))
    n_groups = groups.max(axis=1) + 1
    assert_mean(n_groups, sum(ALPHA / (ALPHA + l) for l in range(7)))
    assert_mean(groups.max(axis=1) == 0, np.prod([l / (l + ALPHA) for l in range(1, 7)]))
    # Numbered as they appear: 0 first, and no number is skipped.
    assert all(sorted(set(row)) == list(range(max(row) + 1)) for row in groups.tolist())


def test_concentration_may_have_a_prior():
    gamma = Gamma(2.0, 0.5)
    prior = CBCCPrior(concentration=gamma)
    groups = np.array([people.groups for people in draw_many(prior, 2_000, 2, (2, 2))])
    density = stats.gamma(2.0, scale=2.0).pdf
    expected, _ = integrate.quad(lambda alpha: density(alpha) / (1 + alpha), 0, np.inf)
    assert_mean(groups[:, 0] == groups[:, 1], expected)


@pytest.mark.parametrize("model", ["cbcc", "hcbcc"])
def test_annotators_of_a_cluster_share_their_matrix_in_cbcc_only(model):
    crowd = simulate(prior_of(model, 3), annotators=20, random_state=1)
    group = crowd.groups.to_numpy()
    assert 1 < len(set(group)) < 20
    equal = (crowd.confusion[:, None] == crowd.confusion[None]).all(axis=(2, 3))
    np.testing.assert_array_equal(
        equal, group[:, None] == group if model == "cbcc" else np.eye(20, dtype=bool)
    )


def test_annotators_of_ibcc_are_independent_dirichlets():
    prior = IBCCPrior(mean=MEAN[3], strength=STRENGTH[3], class_weights=[1.0, 2.0, 0.5])
    crowds = draw_many(prior, 2_000, 2, (3, 3))
    confusion = np.array([people.confusion for people in crowds])
    assert crowds[0].groups == [0, 1]
    assert_mean(confusion[:, 0], MEAN[3])
    scale = (1 + np.array(STRENGTH[3]))[:, None]
    assert_mean((confusion[:, 1] - MEAN[3]) ** 2, MEAN[3] * (1 - MEAN[3]) / scale)
    product = (confusion[:, 0] - MEAN[3]) * (confusion[:, 1] - MEAN[3])
    assert_mean(product, np.zeros((3, 3)))


def test_class_proportions_are_dirichlet():
    weights = np.array([1.0, 2.0, 0.5])
    crowds = draw_many(IBCCPrior(class_weights=weights), 2_000, 1, (3, 3))
    balance = np.array([people.balance for people in crowds])
    share = weights / weights.sum()
    assert_mean(balance, share)
    assert_mean((balance - share) ** 2, share * (1 - share) / (1 + weights.sum()))


def test_annotators_of_hcbcc_scatter_around_their_cluster():
    prior = prior_of("hcbcc", 3)
    crowds = draw_many(prior, 2_000, 2, (3, 3))
    confusion = np.array([people.confusion for people in crowds])
    phi = np.array(STRENGTH[3])[:, None]
    shape, rate = np.asarray(prior.strength.shape), np.asarray(prior.strength.rate)
    beta = stats.gamma(shape, scale=1 / rate)
    inverse, _ = integrate.quad_vec(lambda x: beta.pdf(x) / (1 + x), 0, np.inf)  # E[1/(1+beta)]
    # Var(psi) = Var(eta) + E[eta (1 - eta) / (1 + beta)]
    variance = MEAN[3] * (1 - MEAN[3]) * (1 + phi * inverse[:, None]) / (1 + phi)
    assert_mean(confusion[:, 0], MEAN[3])
    assert_mean((confusion[:, 0] - MEAN[3]) ** 2, variance)


@pytest.mark.parametrize("prior", [IBCCPrior(), CBCCPrior(), HCBCCPrior()])
def test_prior_draws_with_extra_answers_and_names(prior):
    crowd = simulate(prior, classes=["x", "y"], extra_answers=["?"], items=9, random_state=3)
    assert crowd.confusion.shape == (30, 2, 3)
    assert crowd.annotations.answers.tolist() == ["x", "y", "?"]
    assert crowd.groups.dtype == np.int64
    assert repr(crowd).endswith(("group>", "groups>"))


def test_the_priors_fields_are_checked():
    with pytest.raises(DataError, match=r"CBCCPrior.mean has shape \(2, 2\)"):
        simulate(CBCCPrior(mean=MEAN[2]), classes=3)


@pytest.mark.parametrize(
    "prior",
    [
        IBCCPrior(strength=1e-3, class_weights=1e-3),
        CBCCPrior(strength=1e-6, class_weights=1e-6),
        HCBCCPrior(mean_strength=1e-3, strength=Gamma(0.05, 1.0), class_weights=1e-3),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 60])
def test_tiny_shapes_do_not_underflow(prior, n_classes):
    for seed in range(20):
        people = draw_people(prior, 10, (n_classes, n_classes), np.random.default_rng(seed))
        np.testing.assert_allclose(people.confusion.sum(axis=2), 1, rtol=1e-9)
        assert people.balance.sum() == pytest.approx(1, rel=1e-9)


def test_tiny_shapes_keep_their_mean():
    shape = np.array([1e-4, 3e-4, 6e-4])
    draws = draw_dirichlet(np.broadcast_to(shape, (4_000, 3)), np.random.default_rng(0))
    assert_mean(draws, [0.1, 0.3, 0.6])


def test_dirichlet_equals_numpys_in_distribution():
    rng = np.random.default_rng(0)
    shape = np.array([0.3, 1.0, 4.0])
    ours = np.exp(draw_log_dirichlet(np.broadcast_to(shape, (5_000, 3)), rng))
    for c in range(3):
        marginal = stats.beta(shape[c], shape.sum() - shape[c])
        assert stats.kstest(ours[:, c], marginal.cdf).pvalue > 1e-4


CONSENSUS = ConsensusPrior(
    class_weights=[3.0, 1.0], guess_weights=[1.0, 2.0, 0.5], knowledge=Beta(2.0, 1.0),
    mean_strength=4.0, strength=Gamma(6.0, 2.0), guessing=(0.1, 0.6), kind_weights=(1.0, 2.0),
    hard_guess_weights=[0.5, 1.0, 3.0], concentration=ALPHA,
)  # fmt: skip


def test_the_people_of_consensus_are_those_of_the_reference():
    n, rng = 3_000, np.random.default_rng(5)
    worlds = draw_worlds(CONSENSUS.resolve(2, 3), n, 4, 2, rng)
    crowds = draw_many(CONSENSUS, n, 4, (2, 3))
    ours = np.array([people.confusion for people in crowds])
    for power in (1, 2):
        assert_same_mean(ours**power, worlds.psi**power)
    assert_same_mean(ours[:, 0] * ours[:, 3], worlds.psi[:, 0] * worlds.psi[:, 3])  # coteries
    assert_same_mean(ours[:, :, 0] * ours[:, :, 1], worlds.psi[:, :, 0] * worlds.psi[:, :, 1])
    assert_same_mean([people.balance for people in crowds], worlds.pi)
    assert_same_mean([people.hard.share for people in crowds], worlds.rho)
    assert_same_mean([people.hard.guess for people in crowds], worlds.v)


def assert_same_mean(values, others):
    """Two means of independent draws are within 4.5 standard errors."""
    values, others = np.asarray(values), np.asarray(others)
    error = np.sqrt(values.var(axis=0) / len(values) + others.var(axis=0) / len(others))
    assert (np.abs(values.mean(axis=0) - others.mean(axis=0)) < 4.5 * error).all()


def test_hard_items_are_answered_by_guesses():
    rng = np.random.default_rng(6)
    prior = replace(CONSENSUS, hard_guess_weights=[1e-6, 1e-6, 1e6], guess_weights=[1.0, 1.0, 1e-6])
    share = []
    for _ in range(1_000):
        crowd = simulate(
            prior, items=10, annotators=3, classes=2, extra_answers=["?"], labels_per_item=3,
            random_state=rng,
        )  # fmt: skip
        share.append((answers_of(crowd) == 2).mean())  # only guesses on hard items say so
    assert_mean(share, 0.1 / 3 + 0.6 * 2 / 3)


def test_the_default_prior_of_consensus_needs_no_votes():
    crowd = simulate(ConsensusPrior(), items=40, annotators=8, classes=3, random_state=0)
    assert crowd.confusion.shape == (8, 3, 3)
    again = simulate(ConsensusPrior(), items=40, annotators=8, classes=3, random_state=0)
    np.testing.assert_array_equal(
        crowd.annotations.codes.item_answer, again.annotations.codes.item_answer
    )
