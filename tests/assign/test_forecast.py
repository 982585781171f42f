"""The forecast: calibrated on crowds from the prior, and sentences for what cannot be."""

import numpy as np
import pytest

import coterie
from coterie.assign import forecast, stop

ITEMS, PEOPLE, FIRST, MORE = 60, 8, 2, 2
FIT = {"sweeps": 400, "burn_in": 100, "early_stop": False, "chains": 2, "n_jobs": 1}


def outcome(seed):
    """Whether the interval holds the accuracy after more labels, and how far the middle is off.

    The middle is compared with the probability of the labels then, which is that of their being
    right, as crowds come from the prior: the same on average, with less chance in it.
    """
    crowd = coterie.simulate(
        coterie.IBCCPrior(), items=ITEMS, annotators=PEOPLE, classes=2, labels_per_item=PEOPLE,
        random_state=seed,
    )  # fmt: skip
    frame = crowd.annotations.to_frame().sample(frac=1, random_state=seed)
    turn = frame.groupby("item").cumcount()
    model = coterie.IBCC(random_state=seed, progress=False, **FIT)
    now = model.fit(frame[turn < FIRST]).posterior_
    people = crowd.annotations.annotators
    found = forecast(
        now, labels=ITEMS * MORE, annotators=people, shared_mistakes=0, simulations=10,
        random_state=seed,
    )  # fmt: skip
    last = found.curve[found.curve["policy"] == "random"].iloc[-1]
    then = model.fit(frame[turn < FIRST + MORE]).posterior_
    right = then.score(crowd.truth).accuracy
    holds = last["accuracy_low"] - 0.5 / ITEMS <= right <= last["accuracy_high"] + 0.5 / ITEMS
    return holds, then.item_probability.max(axis=1).mean() - last["accuracy"]


def check(n_crowds):
    holds, off = zip(*(outcome(seed) for seed in range(n_crowds)), strict=True)
    assert abs(np.mean(holds) - 0.95) <= 4 * np.sqrt(0.95 * 0.05 / n_crowds)
    error = np.std(off, ddof=1) / np.sqrt(n_crowds)
    assert abs(np.mean(off)) <= 4 * error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_the_interval_holds_the_outcome_as_often_as_it_says():
    check(60)


@pytest.fixture(scope="module")
def posterior():
    crowd = coterie.simulate("mixed", items=40, annotators=8, labels_per_item=3, random_state=0)
    return coterie.IBCC(random_state=0, progress=False, **FIT).fit(crowd.annotations).posterior_


@pytest.mark.parametrize("n_items", [40, 500])
@pytest.mark.parametrize("gold", [0, 10])
def test_there_is_one_number_for_how_accurate_labels_are_now(n_items, gold):
    """Of more items than are simulated, too."""
    crowd = coterie.simulate(
        "mixed", items=n_items, annotators=8, labels_per_item=2, random_state=0
    )
    known = crowd.truth.iloc[:gold].to_dict() or None
    posterior = coterie.QuickConsensus().fit(crowd.annotations, known).posterior_
    found = forecast(posterior, labels=20, simulations=2)
    starts = found.curve[found.curve["labels"] == 0]
    rule = stop(posterior)
    np.testing.assert_allclose(starts["accuracy"], 1 - rule.expected_wrong, atol=1e-12)
    assert len(starts) == 2
    # The interval is of the same distribution: 95 % lie above what 97.5 % do.
    assert (starts["accuracy_low"] <= 1 - rule.at_most_wrong).all()


def test_choosing_is_better_than_chance_and_more_labels_are_better(posterior):
    curve = forecast(posterior, labels=100).curve
    best, random = (curve[curve["policy"] == name] for name in ("information", "random"))
    assert (
        best["labels"].tolist() == random["labels"].tolist() == [0, 2, 5, 10, 20, 35, 50, 75, 100]
    )
    assert (best["accuracy"].diff().dropna() > 0).all()
    assert best["accuracy"].iloc[4] > random["accuracy"].iloc[4]
    assert (curve["accuracy_low"] < curve["accuracy"]).all()
    assert (curve["accuracy"] < curve["accuracy_high"]).all()
    assert (curve["cost"] == curve["labels"]).all()


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
@pytest.mark.parametrize(
    "model",
    [
        coterie.QuickConsensus(),
        coterie.Consensus(random_state=0, progress=False, n_jobs=1, chains=2),
    ],
)
def test_more_labels_are_better_where_they_overlap_too(model):
    crowd = coterie.simulate("mixed", items=80, annotators=10, labels_per_item=4, random_state=0)
    curve = forecast(model.fit(crowd.annotations).posterior_, labels=300).curve
    for name in ("information", "random"):
        accuracy = curve.loc[curve["policy"] == name, "accuracy"]
        assert (accuracy.diff().dropna() > -0.002).all()
        assert accuracy.iloc[-1] > accuracy.iloc[0] + 0.01


def test_what_a_target_takes(posterior):
    now = forecast(posterior, labels=0).curve["accuracy"].iloc[0]
    found = forecast(posterior, target=now + 0.05, cost=0.5)
    assert 0 < found.needed["information"] < found.needed["random"]
    assert found.costs["information"] == pytest.approx(0.5 * found.needed["information"])
    assert "is expected to be reached with" in found.sentence
    assert "reached already" in forecast(posterior, target=now - 0.05, labels=10).sentence
    assert "cannot be reached with these people" in forecast(posterior, target=0.999).sentence
    assert "is not reached" in forecast(posterior, target=0.999, labels=20).sentence


def test_where_no_label_can_be_had_a_sentence_says_so(posterior):
    for given in ({"labels": 0}, {"annotators": []}):
        assert forecast(posterior, **given).sentence.startswith("No further label can be had")
    with pytest.raises(coterie.DataError, match="target must be"):
        forecast(posterior, target=2)
    with pytest.raises(coterie.DataError, match="simulations must be"):
        forecast(posterior, simulations=0)


def test_known_items_are_right_and_somebody_new_can_be_asked():
    crowd = coterie.simulate("mixed", items=20, annotators=6, labels_per_item=3, random_state=0)
    gold = crowd.truth.iloc[:10].to_dict()
    posterior = coterie.QuickConsensus().fit(crowd.annotations, gold).posterior_
    curve = forecast(posterior, labels=20, annotators=["new", "newer"]).curve
    assert curve["accuracy_low"].iloc[0] > 0.5
    assert curve["labels"].max() == 20
