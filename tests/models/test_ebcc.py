"""EBCC: sub-types of classes by variational Bayes; what it reduces to."""

from itertools import islice

import numpy as np
import pytest

import coterie
from coterie.data.codes import encode
from coterie.inference.ascent import ascend, in_memory
from coterie.kernels.expected import Model, weigh

CROWD = coterie.simulate("mixed", items=60, annotators=10, random_state=5)


def test_one_subtype_is_ibccvb():
    prior = {"mean": 0.8, "strength": 4.0, "class_weights": [1.0, 2.0, 3.0]}
    one = coterie.EBCC(prior=coterie.EBCCPrior(**prior, subtypes=1), random_state=1)
    other = coterie.IBCCVB(prior=coterie.IBCCPrior(**prior), random_state=1)
    one.fit(CROWD.annotations)
    other.fit(CROWD.annotations)
    assert one.bound_ == other.bound_
    np.testing.assert_array_equal(
        one.posterior_.item_probability, other.posterior_.item_probability
    )
    np.testing.assert_array_equal(one.posterior_.draws.confusion, other.posterior_.draws.confusion)


@pytest.mark.exact
def test_class_weights_of_a_are_one_flat_dirichlet_over_cells():
    rng = np.random.default_rng(0)
    item, annotator, answer = (rng.integers(0, n, 40) for n in (12, 5, 2))
    codes = encode(item, annotator, answer, sizes=(12, 5, 2, 2))
    shape, a, n_subtypes = np.array([[4.0, 1.0], [2.0, 3.0]]), 0.7, 3
    nested = Model(np.full(2, a), np.full(n_subtypes, a / n_subtypes), shape)
    flat = Model(np.full(6, a / n_subtypes), np.ones(1), np.repeat(shape, 3, axis=0))
    start, items = rng.dirichlet(np.ones(6), 12), in_memory(codes)
    cells = in_memory(codes._replace(n_classes=6))
    rounds = zip(ascend(items, nested, start), ascend(cells, flat, start), strict=True)
    for one, other in islice(rounds, 5):
        np.testing.assert_allclose(one.objective, other.objective, rtol=1e-12)
        found, alike = weigh(items.part(0), one.weights), weigh(cells.part(0), other.weights)
        np.testing.assert_allclose(found, alike, atol=1e-12)


@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
def test_a_matrix_is_over_the_subtypes_by_their_shares():
    model = coterie.EBCC(restarts=2, random_state=0).fit(CROWD.annotations)
    posterior = model.posterior_
    np.testing.assert_allclose(posterior.confusion_mean.sum(axis=2), 1, rtol=1e-12)
    drawn = posterior.draws.confusion[0].astype(float)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - posterior.confusion_mean) < 5 * error + 1e-6).all()


@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
def test_the_best_bound_is_kept_and_the_others_are_named():
    posterior = coterie.EBCC(restarts=5, random_state=0).fit(CROWD.annotations).posterior_
    run = posterior.run
    bounds = [mode["bound"] for mode in run["modes"]]
    assert len(bounds) == run["starts"] == 6
    assert run["bound"] == bounds[run["best_start"] - 1] == pytest.approx(max(bounds), rel=1e-8)
    poorer = {str(k + 1) for k, bound in enumerate(bounds) if max(bounds) - bound > 5}
    assert set(run["left_out"]) == poorer
    assert set(run["left_out"].values()) <= {"poorer", "mirrored"}


def test_subtypes_undo_a_mistake_that_most_annotators_share():
    # Half of the b's look like a to all but two annotators, who answer every item.
    rng = np.random.default_rng(1)
    truth = np.repeat(["a", "b", "b"], 60)
    hard = np.arange(180) >= 120
    rows = []
    for l in range(9):
        fooled = hard & (l >= 3)
        said = np.where(fooled, "a", truth)
        slip = rng.random(180) < 0.05
        said = np.where(slip, np.where(said == "a", "b", "a"), said)
        rows += [(i, l, c) for i, c in enumerate(said)]
    prior = coterie.EBCCPrior(mean=0.8, strength=5, subtypes=3)
    gold = {i: truth[i] for i in range(0, 180, 6)}
    model = coterie.EBCC(prior=prior, restarts=10, random_state=0).fit(rows, gold)
    assert model.posterior_.score(dict(enumerate(truth))).accuracy > 0.97
    vote = coterie.MajorityVote().fit(rows, gold).posterior_
    assert vote.score(dict(enumerate(truth))).accuracy < 0.7


def test_class_weights_are_numbers_or_votes():
    with pytest.raises(coterie.DataError, match="class_weights is 'guess'; give numbers, or 'vot"):
        coterie.EBCC(prior=coterie.EBCCPrior(class_weights="guess")).fit(CROWD.annotations)


def test_class_weights_by_votes_are_numbers_before_they_are_sampled_with():
    crowd = coterie.simulate("mixed", items=30, annotators=6, random_state=2)
    model = coterie.EBCCGibbs(prior=coterie.EBCCPrior(class_weights="votes"))
    weights = model.resolve_prior(crowd.annotations).class_weights
    np.testing.assert_allclose(weights.sum(), 30)
