"""posterior.dependence(): an uncertain truth, coteries, models that know more."""

from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie.errors import CoterieError
from coterie.posterior import DrawnArray
from coterie.posterior.dependence import mean_dependence
from coterie.simulation import Group

EVEN = [[0.75, 0.25], [0.35, 0.65]]
COLUMNS = ["first", "second", "dependence", "low", "high"]


def quick(crowd):
    return coterie.QuickConsensus().fit(crowd.annotations).posterior_


def crowd_of(groups, seed, **sizes):
    return coterie.simulate(groups, classes=["no", "yes"], random_state=seed, **sizes)


@pytest.fixture(scope="module")
def sampled():
    crowd = crowd_of("copycats", 0, items=60, annotators=6)
    model = coterie.Consensus(random_state=0, chains=2, sweeps=60, burn_in=30)
    with pytest.warns(coterie.ConvergenceWarning):
        return model.fit(crowd.annotations).posterior_


def test_intervals_of_independent_annotators_cover_zero_though_nobody_knows_the_truth():
    covered, means = [], []
    for seed in range(25):
        posterior = quick(crowd_of([Group("one", EVEN)], seed, items=100, annotators=7))
        table = posterior.dependence()
        covered += ((table["low"] <= 0) & (table["high"] >= 0)).tolist()
        mean = mean_dependence(posterior)
        means.append(mean.low <= 0 <= mean.high)
    assert len(covered) == 25 * 21
    assert np.mean(covered) >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(covered))
    assert np.mean(means) >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(means))


def test_copies_are_found_and_told_from_the_others():
    groups = [Group("model", EVEN, share=6), Group("copycat", EVEN, copies=0.8, share=2)]
    held = []
    for seed in range(10):
        crowd = crowd_of(groups, seed, items=200, annotators=8, labels_per_item=8)
        table = quick(crowd).dependence().set_index(["first", "second"])
        source = crowd.copied["a7"]
        copies = table.loc[[tuple(sorted((source, name))) for name in ("a7", "a8")]]
        held += ((copies["low"] <= 0.8) & (copies["high"] >= 0.8)).tolist()
        others = table.drop(copies.index).drop([("a7", "a8")])
        assert copies["dependence"].min() > others["dependence"].max()
    assert np.mean(held) >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(held))


def test_with_gold_for_all_items_there_is_one_truth():
    crowd = crowd_of("copycats", 1, items=120, annotators=5)
    known = coterie.read(crowd.annotations, gold=crowd.truth)
    models = (coterie.QuickConsensus(), coterie.MajorityVote())
    one, other = (model.fit(known).posterior_.dependence()[COLUMNS[2:]] for model in models)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_one_row_per_pair_with_enough_items(sampled):
    table = sampled.dependence()
    assert table.columns.tolist() == COLUMNS
    assert len(table) == 15
    assert (table["low"] <= table["dependence"]).all()
    assert (table["dependence"] <= table["high"]).all()
    assert table[COLUMNS[2:]].abs().to_numpy().max() <= 1
    lonely = coterie.read([(i, "ann", "yes") for i in range(9)] + [(0, "bob", "no")])
    assert coterie.QuickConsensus().fit(lonely).posterior_.dependence().empty


def test_coteries_are_compared_within_and_between(sampled):
    table = sampled.dependence(by="coterie")
    assert table.columns.tolist() == COLUMNS
    sizes = sampled.coteries().set_index("coterie")["size"]
    for first, second in zip(table["first"], table["second"], strict=True):
        assert first <= second
        assert first < second or sizes[first] > 1
    with pytest.raises(CoterieError, match="by='pair' is neither 'annotator' nor 'coterie'"):
        sampled.dependence(by="pair")


def test_a_model_that_knows_more_has_its_own_values(sampled):
    shape = (*sampled.draws.confusion.shape[:2], 6, 6)
    values = np.random.default_rng(0).uniform(0.2, 0.4, shape)
    values[..., 0, 1] = 0.7
    draws = replace(sampled.draws, extra={"dependence": DrawnArray(("annotator", "other"), values)})
    table = replace(sampled, draws=draws).dependence()
    assert table.iloc[0].tolist()[:2] == ["a1", "a2"]
    np.testing.assert_allclose(table.iloc[0][COLUMNS[2:]].tolist(), 0.7)
    assert table["dependence"].iloc[1:].between(0.2, 0.4).all()


def test_no_item_with_two_labels_has_no_mean():
    alone = coterie.read([("q1", "ann", "yes"), ("q2", "bob", "no")])
    assert mean_dependence(coterie.MajorityVote().fit(alone).posterior_) is None
