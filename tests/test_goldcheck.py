"""A check by gold: honest about what is hidden, right about who is too sure, and no more."""

import numpy as np
import pytest

import coterie
from coterie.default import best_temperature, check_gold, compare, hidden_probabilities, tempered
from coterie.errors import DataError
from coterie.models import MajorityVote, QuickConsensus


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("mixed", items=120, annotators=15, random_state=1)


def known(crowd, n):
    return crowd.truth.iloc[:n]


def test_hidden_gold_is_predicted_as_if_it_were_not_known(crowd):
    """A vote learns nothing from gold: without its own, each item is what it is without any."""
    annotations = coterie.read(crowd.annotations, gold=known(crowd, 40))
    model = MajorityVote()
    places, found = hidden_probabilities(annotations, model, 5, np.random.default_rng(0))
    plain = MajorityVote().fit(crowd.annotations).posterior_
    assert annotations.items[places].tolist() == known(crowd, 40).index.tolist()
    np.testing.assert_allclose(found, plain.item_probability[places])


def test_wrong_gold_shows_though_it_is_clamped(crowd):
    """Were an item predicted with its own gold, wrong gold would always be right."""
    wrong = known(crowd, 12).map(lambda label: {"a": "b", "b": "c", "c": "a"}[label])
    check = check_gold(crowd.annotations, "quick", gold=wrong)
    assert check.right < 0.5
    assert check.significant
    assert check.surprise < 0
    assert "most labels are wrong, which no recalibration mends" in check.sentence


def test_claimed_and_right(crowd):
    annotations = coterie.read(crowd.annotations, gold=known(crowd, 4))
    places = np.arange(4)
    truth = annotations.codes.gold[:4]
    p = np.full((4, 3), 0.1)
    p[np.arange(4), truth] = 0.8
    p[0] = np.roll(p[0], 1)  # one of four is wrong
    check = compare(annotations, places, p)
    assert (check.claimed, check.right) == (pytest.approx(0.8), 0.75)
    assert check.surprise == pytest.approx((3 - 3.2) / np.sqrt(4 * 0.16))
    assert check.low < 0.75 < check.high
    assert not check.significant
    assert check.table["right"].tolist() == [False, True, True, True]
    assert check.more == int(np.ceil(1.96**2 * 0.7 * 0.3 / 0.03**2)) - 4


def test_ties_are_shared_and_are_no_surprise(crowd):
    annotations = coterie.read(crowd.annotations, gold=known(crowd, 4))
    truth = annotations.codes.gold[:4]
    p = np.zeros((4, 3))
    p[np.arange(4), truth] = p[np.arange(4), (truth + 1) % 3] = 0.4
    p[np.arange(4), (truth + 2) % 3] = 0.2
    check = compare(annotations, np.arange(4), p)
    assert check.table["right"].tolist() == [0.5] * 4
    assert check.right == 0.5
    # Each counts 1/2 with probability 0.8, else nothing: 0.4 on average, variance 0.2 - 0.16.
    assert check.surprise == pytest.approx((2 - 1.6) / np.sqrt(4 * 0.04))


@pytest.mark.parametrize("truth_at", [0.5, 2.0])
def test_the_temperature_is_found(truth_at):
    rng = np.random.default_rng(0)
    honest = rng.dirichlet([1.0, 1.0, 1.0], 20_000)
    truth = (honest.cumsum(axis=1) > rng.random((len(honest), 1))).argmax(axis=1)
    claimed = tempered(honest, 1 / truth_at)
    assert best_temperature(claimed, truth) == pytest.approx(truth_at, rel=0.05)


def test_recalibration_keeps_labels_gold_and_the_models_own(crowd):
    wrong = known(crowd, 12).map(lambda label: {"a": "b", "b": "c", "c": "a"}[label])
    annotations = coterie.read(crowd.annotations, gold=wrong)
    posterior = QuickConsensus().fit(annotations).posterior_
    check = check_gold(annotations, "quick")
    after = check.recalibrate(posterior)
    np.testing.assert_array_equal(after.label_code, posterior.label_code)
    np.testing.assert_array_equal(after.item_probability[:12], posterior.item_probability[:12])
    np.testing.assert_array_equal(after.raw_probability, posterior.raw_probability)
    assert after.item_probability[12:].max() < posterior.item_probability[12:].max()
    assert after.run["recalibrated"] > 1


def test_without_gold_there_is_a_sentence(crowd):
    with pytest.raises(DataError, match="needs two known items with labels and two folds, got 0"):
        check_gold(crowd.annotations, "quick")


def test_gold_that_says_the_opposite_is_not_for_recalibration():
    crowd = [(f"q{i:03}", f"w{l}", "yn"[(i + (l < 9)) % 2]) for i in range(60) for l in range(10)]
    gold = {f"q{i:03}": "yn"[i % 2] for i in range(20)}
    check = coterie.check_gold(crowd, "majority", gold=gold)
    assert check.right == 0
    assert check.reversed
    assert "most labels are wrong, which no recalibration mends" in check.sentence
    assert "temperature" not in check.sentence
