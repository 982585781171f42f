"""Predictions of labels that a result has not seen, against the formula written out."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import coterie
from builders.saved import example
from coterie.kernels.vote import Mixing


def by_hand(posterior, labels, start=None, tau=1.0):
    """Average over draws of pi[t] prod Psi[l, t, c]^tau, one loop at a time."""
    draws, a = posterior.draws, posterior.annotations
    total = np.zeros(a.n_classes)
    for chain in range(draws.confusion.shape[0]):
        for d in range(draws.confusion.shape[1]):
            balance = draws.class_balance[chain, d] if start is None else start
            for t in range(a.n_classes):
                joint = balance[t]
                for who, answer in labels:
                    psi = draws.confusion[chain, d].astype(float)
                    mean = psi.mean(axis=0)
                    row = mean[t] if who is None else psi[a.annotators.tolist().index(who), t]
                    joint *= max(row[a.answers.tolist().index(answer)], 1e-12) ** tau
                total[t] += joint
    return total / total.sum()


@pytest.fixture
def posterior():
    return example()


def shares(table):
    return table.filter(like="p(").to_numpy()


def test_a_new_item_is_what_the_matrices_in_all_draws_say(posterior):
    more = [("a", 7, True), ("a", 11, False), ("b", 11, "unsure"), ("c", 7, False)]
    table = posterior.predict(more)
    assert table["item"].tolist() == ["a", "b", "c"]
    given = {"a": [(7, True), (11, False)], "b": [(11, "unsure")], "c": [(7, False)]}
    for row, item in zip(shares(table), table["item"], strict=True):
        np.testing.assert_allclose(row, by_hand(posterior, given[item]), rtol=1e-5)
    assert table["n_labels"].tolist() == [2, 1, 1]
    assert table["label"].tolist() == [bool(row.argmax()) for row in shares(table)]
    assert table["runner_up"].tolist() == [not label for label in table["label"]]


def test_a_newcomer_answers_as_all_do(posterior):
    table = posterior.predict([("a", 7, True), ("a", 99, False), ("a", 98, False)])
    expected = by_hand(posterior, [(7, True), (None, False), (None, False)])
    np.testing.assert_allclose(shares(table)[0], expected, rtol=1e-5)
    assert table["n_newcomers"].tolist() == [2]


def test_an_item_of_the_run_starts_from_what_is_known_of_it(posterior):
    table = posterior.predict([("q1", 11, True)])
    expected = by_hand(posterior, [(11, True)], start=posterior.item_probability[0])
    np.testing.assert_allclose(shares(table)[0], expected, rtol=1e-5)


def test_labels_are_tempered_and_mixed_with_the_vote_as_in_the_fit(posterior):
    tempered = replace(posterior, mixing=Mixing(overlap=0.5, vote_share=0.25))
    table = tempered.predict([("a", 7, True), ("a", 11, True), ("q1", 7, True)])
    own = by_hand(posterior, [(7, True), (11, True)], tau=1 / 1.5)
    np.testing.assert_allclose(
        shares(table)[0], 0.75 * own + 0.25 * np.array([0.5, 2.5]) / 3, rtol=1e-5
    )
    start = posterior.item_probability[0]  # of two labels before
    known = by_hand(posterior, [(7, True)], start=start, tau=1 / 2)
    np.testing.assert_allclose(shares(table)[1], known, rtol=1e-5)


def test_the_quick_consensus_is_mixed_among_the_logs_and_never_certain(posterior):
    quick = replace(posterior, mixing=Mixing(overlap=0.3, vote_power=0.25, floor=0.02))
    own = by_hand(posterior, [(7, True), (11, True)], tau=1 / 1.3)
    mixed = own**0.75 * (np.array([0.5, 2.5]) / 3) ** 0.25
    expected = 0.98 * mixed / mixed.sum() + 0.01
    found = shares(quick.predict([("a", 7, True), ("a", 11, True)]))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_models_say_how_they_report():
    crowd = coterie.simulate("mixed", items=30, annotators=6, random_state=1)
    model = coterie.Consensus(
        design_effect=0.2, vote_share=0.25, sweeps=6, burn_in=2, chains=1, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coterie.ConvergenceWarning)
        assert model.fit(crowd.annotations).posterior_.mixing == Mixing(0.2, vote_share=0.25)
    found = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    overlap = min(0.75, 1.5 * found.run["correlation"])
    assert found.mixing == Mixing(overlap, vote_power=0.25, floor=0.02)
    assert coterie.DawidSkene().fit(crowd.annotations).posterior_.mixing == Mixing()


def test_a_share_of_a_skill_model_whose_skills_are_not_kept_is_refused(posterior):
    skilled = replace(posterior, model="Consensus", mixing=Mixing(skill_share=0.25))
    with pytest.raises(coterie.CoterieError, match=r"keeps no skills.*skill_share=0") as caught:
        skilled.predict([("a", 7, True)])
    assert caught.value.argument == "skill_share"


def test_blocks_change_nothing(posterior, monkeypatch):
    more = [(f"i{i}", (7, 11, 5)[k], bool((i + k) % 2)) for i in range(7) for k in range(1 + i % 3)]
    whole = shares(posterior.predict(more))
    monkeypatch.setattr("coterie.posterior.predict.ROOM", 20)
    np.testing.assert_array_equal(shares(posterior.predict(more)), whole)


def test_dawid_skene_says_of_its_own_items_what_it_said():
    crowd = coterie.simulate("mixed", items=60, annotators=10, random_state=1)
    model = coterie.DawidSkene(tol=1e-9, n_iter=2000).fit(crowd.annotations)
    again = crowd.annotations.to_frame()
    again["item"] = "new " + again["item"].astype(str)
    found = model.posterior_.predict(again)
    np.testing.assert_allclose(shares(found), model.posterior_.item_probability, atol=1e-5)


@pytest.mark.parametrize("model", [coterie.QuickConsensus(), coterie.IBCC(sweeps=80, burn_in=40)])
def test_predictions_are_probabilities_near_those_of_a_fit(model):
    crowd = coterie.simulate("experts", items=80, annotators=10, random_state=2)
    fitted = model.set_params(**({"random_state": 0} if "sweeps" in model.get_params() else {}))
    posterior = fitted.fit(crowd.annotations).posterior_
    again = crowd.annotations.to_frame()
    again["item"] = "new " + again["item"].astype(str)
    found = posterior.predict(again)
    np.testing.assert_allclose(shares(found).sum(axis=1), 1)
    assert (found["label"].to_numpy() == posterior.labels()["label"].to_numpy()).mean() >= 0.95


def test_gold_of_new_labels_is_certain(posterior):
    more = coterie.read(
        [("a", 7, False), ("b", 7, True), ("b", 11, True)],
        gold={"a": True},
        classes=[False, True],
        extra_answers=["unsure"],
    )
    assert posterior.predict(more)["p(True)"].iloc[0] == 1


def test_what_cannot_be_predicted_is_said(posterior):
    with pytest.raises(coterie.DataError, match="maybe"):
        posterior.predict([("a", 7, "maybe"), ("a", 11, True)])
    other = coterie.read([("a", 7, "maybe"), ("b", 11, "no")])
    with pytest.raises(coterie.DataError, match="no answer of this run"):
        posterior.predict(other)
    vote = coterie.MajorityVote().fit([("q1", "ann", "yes"), ("q2", "bob", "no")]).posterior_
    with pytest.raises(coterie.CoterieError, match="weighs everybody alike"):
        vote.predict([("q3", "ann", "yes")])
