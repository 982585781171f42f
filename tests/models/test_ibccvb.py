"""IBCCVB: iBCC by variational Bayes, as an estimator."""

import numpy as np
import pytest

import coterie

CROWD = coterie.simulate("mixed", items=80, annotators=12, random_state=3)


def fitted(data=CROWD.annotations, **settings):
    return coterie.IBCCVB(random_state=0, **settings).fit(data)


def test_it_stops_when_the_bound_stands():
    model = fitted(tol=1e-7)
    history = np.array(model.loss_history_)
    assert model.converged_
    assert model.posterior_.converged
    assert model.n_iter_ == len(history) == model.posterior_.run["iterations"]
    assert 0 <= history[-1] - history[-2] <= 1e-7
    assert (np.diff(history)[:-1] > 1e-7).all()
    np.testing.assert_allclose(model.bound_, history[-1] * CROWD.annotations.n_labels, rtol=1e-14)


def test_it_warns_with_numbers_when_it_has_not_converged():
    with pytest.warns(coterie.ConvergenceWarning, match="3 iterations the bound a label") as caught:
        model = coterie.IBCCVB(n_iter=3).fit(CROWD.annotations)
    assert not model.posterior_.converged
    assert caught[0].message.numbers["rise"] == np.diff(model.loss_history_)[-1]
    assert caught[0].filename == __file__


def test_an_item_without_labels_gets_the_predictive_and_changes_nobody():
    wide = CROWD.annotations.to_frame().pivot(index="item", columns="annotator", values="label")
    people = [str(name) for name in wide.columns]
    blank = wide.reset_index()
    blank.loc[len(blank)] = ["zz", *[None] * len(people)]
    one = fitted(coterie.read(wide.reset_index(), item="item", annotator=people)).posterior_
    other = fitted(coterie.read(blank, item="item", annotator=people)).posterior_
    np.testing.assert_array_equal(other.item_probability[:-1], one.item_probability)
    np.testing.assert_allclose(other.item_probability[-1], one.class_balance, rtol=1e-14)


def test_draws_come_from_the_approximation():
    posterior = fitted().posterior_
    draws = posterior.draws
    assert draws.confusion.shape[:2] == (1, 1000)
    assert not draws.trace
    confusion, balance = draws.confusion[0].astype(float), draws.class_balance[0]
    error = confusion.std(axis=0) / np.sqrt(len(confusion))
    assert (np.abs(confusion.mean(axis=0) - posterior.confusion_mean) < 5 * error + 1e-6).all()
    error = balance.std(axis=0) / np.sqrt(len(balance))
    assert (np.abs(balance.mean(axis=0) - posterior.class_balance) < 5 * error).all()
    with pytest.raises(coterie.CoterieError, match=r"^IBCCVB has no chains, and so no diagnostics"):
        posterior.diagnostics()


def test_gold_for_everything_is_the_exact_posterior():
    """Reduces: with every truth known q is iBCC's own posterior, rows and all."""
    posterior = coterie.IBCCVB(random_state=0).fit(CROWD.annotations, CROWD.truth).posterior_
    a = posterior.annotations
    counts = np.full((a.n_annotators, 3, 3), 0.45) + 1.65 * np.eye(3)
    frame = a.to_frame()
    truth = CROWD.truth.reindex(frame["item"])
    for l, t, c in zip(frame["annotator"], truth, frame["label"], strict=True):
        place = a.annotators.tolist().index(l), *(a.classes.tolist().index(x) for x in (t, c))
        counts[place] += 1
    expected = counts / counts.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(posterior.confusion_mean, expected, rtol=1e-12)


def test_a_strong_prior_leaves_the_matrices_where_they_are():
    """Reduces: beta and class weights to infinity, rho is Bayes' rule with known matrices."""
    prior = coterie.IBCCPrior(mean=0.8, strength=1e12, class_weights=1e12)
    posterior = fitted(prior=prior).posterior_
    votes = posterior.annotations.votes
    weight = np.exp(votes * np.log(0.8 / 0.1))
    expected = weight / weight.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior.item_probability, expected, rtol=1e-6)


def test_restarts_are_told_in_the_words_of_modes():
    posterior = fitted(restarts=3).posterior_
    run = posterior.run
    assert run["starts"] == len(run["modes"]) == 4
    bounds = [mode["bound"] for mode in run["modes"]]
    assert run["bound"] == bounds[run["best_start"] - 1] == pytest.approx(max(bounds), rel=1e-8)
    assert posterior.verdicts.labels.settled
    said = posterior.verdicts.labels.sentence
    assert said.startswith("Labels settled: 4 of 4 starts reach the best bound, and give one label")


def test_a_mirrored_prior_makes_starts_that_end_elsewhere():
    # A flat prior: exchanging the classes costs nothing, so that both modes have one bound.
    rows = [(i, l, "xy"[(i + (l == 0)) % 2]) for i in range(8) for l in range(2)]
    prior = coterie.IBCCPrior(mean=0.5, strength=2.0)
    with pytest.warns(coterie.ConvergenceWarning, match=r"^Labels not settled: .* starts reach"):
        model = coterie.IBCCVB(prior=prior, restarts=12, random_state=2).fit(rows)
    noted = model.posterior_.verdicts.labels.numbers
    assert model.converged_
    assert not model.posterior_.converged
    assert noted["starts"] == 13
    assert not model.posterior_.verdicts.labels.settled
    assert "start" in model.posterior_.verdicts.labels.sentence
