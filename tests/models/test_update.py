"""model.update: what a fresh fit of all labels would find, from where the chains ended."""

import numpy as np
import pytest

import coterie
from coterie.models.update import carried_groups, joined


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("mixed", items=60, annotators=10, labels_per_item=5, random_state=0)


@pytest.fixture(scope="module")
def halves(crowd):
    frame = crowd.annotations.to_frame().sample(frac=1, random_state=0)
    return frame.iloc[:240], frame.iloc[240:]


def test_points_are_those_of_a_fresh_fit(crowd, halves):
    model = coterie.QuickConsensus().fit(halves[0]).update(halves[1])
    fresh = coterie.QuickConsensus().fit(crowd.annotations)
    np.testing.assert_array_equal(model.predict_proba(), fresh.predict_proba())


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_it_agrees_with_fresh_fits_within_monte_carlo_error(crowd, halves):
    settings = {"progress": False, "n_jobs": 1}
    fresh = [
        coterie.Consensus(random_state=seed, **settings).fit(crowd.annotations).predict_proba()
        for seed in range(1, 6)
    ]
    model = coterie.Consensus(random_state=0, **settings).fit(halves[0])
    model.update(halves[1])
    assert model.posterior_.run["sweeps"] < 0.4 * 300
    probabilities = np.stack([p.to_numpy() for p in fresh])
    mean, deviation = probabilities.mean(axis=0), probabilities.std(axis=0, ddof=1)
    # A third of the sweeps has sqrt(3) times the error; few fits know their own spread badly.
    error = np.sqrt(3 + 1 / 5) * np.maximum(deviation, np.median(deviation))
    off = np.abs(model.predict_proba().to_numpy() - mean) / error
    assert np.quantile(off, 0.95) < 4
    assert model.posterior_.verdicts.labels is not None


def test_new_items_and_annotators_join(halves):
    model = coterie.QuickConsensus().fit(halves[0])
    model.update([("brand new", "somebody", "a"), ("brand new", "else", "b")])
    assert "brand new" in model.predict().index
    assert {"somebody", "else"} <= set(model.posterior_.annotators()["annotator"])


def test_gold_stays_and_joins():
    old = coterie.read([("q1", "ann", "a"), ("q2", "bob", "b")], gold={"q1": "a"})
    more = coterie.read([("q2", "ann", "b"), ("q3", "bob", "a")], gold={"q3": "b"})
    assert joined(old, more, "error").gold == {"q1": "a", "q3": "b"}


def test_old_items_can_become_known(halves):
    model = coterie.QuickConsensus().fit(halves[0])
    item = (set(halves[0]["item"]) - set(halves[1]["item"])).pop()
    model.update(halves[1], {item: "a"})
    assert model.posterior_.annotations.gold == {item: "a"}
    assert model.predict()[item] == "a"


def test_what_does_not_fit_is_refused(halves):
    model = coterie.QuickConsensus()
    with pytest.raises(coterie.CoterieError, match="not fitted"):
        model.update(halves[1])
    model.fit(halves[0])
    with pytest.raises(coterie.DataError, match="zebra"):
        model.update([("q1", "new", "zebra")])
    with pytest.raises(coterie.DataError, match="duplicates"):
        model.update(halves[0].iloc[:1])


def test_those_who_are_new_join_the_largest_cluster():
    codes = coterie.simulate("experts", items=4, annotators=5, random_state=0).annotations.codes
    then, place = np.array([4, 4, 7, -1]), np.array([0, 1, 2, 3, -1])
    assert carried_groups(then, place, codes).tolist() == [0, 0, 1, 0, 0]
