"""Traps that agreeing chains do not show: classes and kinds that trade places, a saddle."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.inference.ascent import Limits, in_memory, rise
from coterie.inference.verdicts import Evidence
from coterie.models.paper import Span, judge_in_time, swallowed, turn

SHORT = {"random_state": 0, "progress": False, "early_stop": False, "chains": 2}


def labels_of(accuracy, n_annotators, seed):
    """Give labels of two classes, all of all items; accuracy of every item, shape (items,)."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, len(accuracy))
    right = rng.random((n_annotators, len(accuracy))) < accuracy
    said = np.where(right, truth, 1 - truth)
    rows = [
        (f"q{i:03}", f"a{l}", "xy"[said[l, i]], i)
        for i in range(len(accuracy))
        for l in range(n_annotators)
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "label", "time"])


def heard_by(model, data):
    """Fit, and give the result and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        posterior = model.fit(data).posterior_
    return posterior, [warning.message for warning in caught]


def test_a_kind_that_swallows_a_class_is_told():
    """A kind is what a class should be: with a prior that expects nothing of annotators, it is."""
    data = labels_of(np.full(200, 0.75), 8, seed=0)[["item", "annotator", "label"]]
    flat = coterie.IBCCPrior(mean=0.5, strength=2.0)
    n_told = 0
    for seed in range(8):
        settings = {**SHORT, "random_state": seed, "chains": 1}
        model = coterie.IBCC(prior=flat, kinds=2, sweeps=600, burn_in=300, **settings)
        posterior, said = heard_by(model, data)
        told = [one for one in said if "taken the place of a class" in str(one)]
        kind = posterior.item_numbers["kind"].values.argmax(axis=1)
        clear = np.diff(posterior.annotations.votes, axis=1)[:, 0]
        low, high = sorted((kind[clear < 0].mean(), kind[clear > 0].mean()))
        assert len(told) == (low <= 0.2 and high >= 0.8)
        if told:
            numbers = told[0].numbers
            assert (numbers["others"], numbers["own"]) in {(low, high), (1 - high, 1 - low)}
        n_told += len(told)
    assert n_told > 0


def test_a_kind_that_is_no_class_is_not_told():
    crowd = coterie.simulate("kinds", items=200, annotators=8, labels_per_item=8, random_state=5)
    model = coterie.IBCC(kinds=2, sweeps=300, burn_in=100, **SHORT)
    _, said = heard_by(model, crowd.annotations)
    assert not any("place of a class" in str(one) for one in said)


class Turned(coterie.DynamicIBCC):
    """Chains, all or all but the first, start with the classes exchanged in the second half."""

    first = 1

    def _sampler(self, annotations):
        sampler = super()._sampler(annotations)

        def turned(number, state):
            truth = annotations.votes.argmax(axis=1)
            if number >= self.first:
                truth[len(truth) // 2 :] = 1 - truth[len(truth) // 2 :]
            said, item = np.zeros_like(state["said"]), annotations.item_of_label
            np.add.at(said, (sampler.people.rows, annotations.codes.item_answer, truth[item]), 1)
            return {**state, "said": said}

        return replace(sampler, ended=turned)


class AllTurned(Turned):
    """No chain is left that does not turn."""

    first = 0


def test_a_chain_that_flips_half_way_along_time_is_left_out():
    """Some of the votes agree with it, and its log joint has no density of walks to show it."""
    data = coterie.read(labels_of(np.full(300, 0.85), 6, seed=0), time="time")
    posterior, _ = heard_by(Turned(sweeps=100, burn_in=50, **SHORT), data)
    assert posterior.run["left_out"] == {"2": "mirrored"}
    assert posterior.run["modes"][1]["vote_agreement"] > 0.25
    assert (posterior.drift()["changed"] < 0.5).all()
    voted = data.votes.argmax(axis=1)
    assert (posterior.item_probability.argmax(axis=1) == voted).mean() > 0.95
    posterior, said = heard_by(AllTurned(sweeps=100, burn_in=50, **SHORT), data)
    (told,) = [one for one in said if "annotators all turn at once" in str(one)]
    low, high = sorted(told.numbers.values())
    assert low < 0.3
    assert high > 0.7
    assert posterior.run["left_out"] == {}


def evidence(courses, agreement):
    agreement = np.repeat(np.array(agreement)[:, None], 50, axis=1)
    drawn = {"accuracy_at": np.array(courses)}
    return Evidence(
        np.zeros_like(agreement), agreement, None, 2, np.full(3, 10), drawn, np.zeros((2, 0))
    )


@pytest.mark.parametrize(
    ("course", "agreement", "late", "left_out"),
    [
        (([0.9] * 5 + [0.1] * 5) * 3, 0.5, 0, {1: "mirrored"}),
        ([0.1] * 30, 0.1, 0, {1: "mirrored"}),
        ([0.9] * 25 + [0.1] * 5, 0.9, 0, {}),
        ([0.9] * 20 + [0.1] * 10, 0.8, 20, {}),
    ],
    ids=["all turn", "mirrored", "one turns", "an adversary comes late"],
)
def test_chains_are_judged_by_whether_everybody_turns(course, agreement, late, left_out):
    time = np.tile(np.arange(10.0), 3) + np.repeat([0, 0, late], 10)
    span = Span(np.repeat([0, 1, 2], 10), time, np.ones(30))
    found = judge_in_time(span, evidence([[0.9] * 30, course], [0.9, agreement]))
    assert found.left_out == left_out


def test_the_saddle_of_a_flat_prior_is_left_from_the_votes_and_told_where_they_tie():
    flat = coterie.IBCCPrior(mean=0.5, strength=2.0)
    data = coterie.read(labels_of(np.full(60, 0.8), 5, seed=1)[["item", "annotator", "label"]])
    model = coterie.IBCCVB(prior=flat, random_state=0).fit(data)
    even = np.full((60, 2), 0.5)
    saddle = rise(in_memory(data.codes), model.model(data), even, Limits(1_000, 1e-9))
    np.testing.assert_allclose(saddle.probability, 0.5, atol=1e-9)  # it would have stayed
    assert saddle.top.converged
    assert model.bound_ > saddle.bound + 10
    voted = data.votes.argmax(axis=1)
    assert (model.posterior_.item_probability.argmax(axis=1) == voted).mean() > 0.8

    tied = [(i, l, "xy"[(i + (l == 0)) % 2]) for i in range(8) for l in range(2)]
    with pytest.warns(coterie.ConvergenceWarning, match="has not left the even start") as caught:
        stuck = coterie.IBCCVB(prior=flat, random_state=2).fit(tied)
    assert caught[0].filename == __file__
    with pytest.warns(coterie.ConvergenceWarning, match="Labels not settled"):
        free = coterie.IBCCVB(prior=flat, random_state=2, restarts=12).fit(tied)
    assert free.bound_ > stuck.bound_ + 1


def test_easy_and_hard_items_that_change_places_under_a_weak_prior_are_told():
    accuracy = np.where(np.arange(200) < 100, 0.95, 0.6)
    data = labels_of(accuracy, 8, seed=2)[["item", "annotator", "label"]]
    weak = coterie.EasyHardPrior(easy_mean=0.7, easy_strength=3.0, mean=0.95, strength=20.0)
    short = {"sweeps": 300, "burn_in": 150, **SHORT}
    posterior, said = heard_by(coterie.EasyHardBCC(prior=weak, **short), data)
    hardness = posterior.item_numbers["hardness"].values[:, 0]
    assert hardness[:100].mean() > hardness[100:].mean() + 0.3  # the easy ones
    (told,) = [one for one in said if "have changed places" in str(one)]
    assert told.numbers["easy"] < told.numbers["hard"] - 0.1

    posterior, said = heard_by(coterie.EasyHardBCC(**short), data)  # its prior names them
    assert not any("have changed places" in str(one) for one in said)
    hardness = posterior.item_numbers["hardness"].values[:, 0]
    assert hardness[:100].mean() < hardness[100:].mean() - 0.3


def test_a_kind_that_has_swallowed_a_class_is_seen():
    voted = np.repeat([0, 1], 20)
    assert swallowed(voted, voted) == (0, 1.0, 0.0)
    assert swallowed(np.tile([0, 1], 20), voted) is None


def test_a_turn_is_looked_for_where_accuracies_differ_most():
    span = Span(np.repeat([0, 1], 4), np.tile(np.arange(4.0), 2), np.ones(8))
    accuracy = np.array([0.75, 0.75, 0.25, 0.25, 1.0, 1.0, 0.5, 0.5])
    assert turn(accuracy, span) == (0.875, 0.375)
