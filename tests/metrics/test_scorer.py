"""The one scorer: by hand, against the single measures, and what it leaves out and says so."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import coterie
from coterie import metrics
from coterie.errors import DataError, DataWarning

# q1 ties, q2 and q3 are sure, q4 has no truth; q9 is not in the data.
ROWS = [("q1", "a", "x"), ("q1", "b", "y"), ("q2", "a", "y"), ("q3", "a", "x"), ("q4", "a", "x")]
TRUTH = {"q1": "y", "q2": "y", "q3": "y", "q9": "y"}


def vote(rows=ROWS, gold=None):
    model = coterie.MajorityVote(probabilities="shares")
    return model.fit(coterie.read(rows, gold=gold)).posterior_


def test_by_hand():
    found = vote().score(TRUTH)
    assert isinstance(found, coterie.Score)
    assert found.items == 3
    assert found.right.to_dict() == {"q1": 0.5, "q2": 1, "q3": 0}
    assert found.accuracy == found.balanced_accuracy == pytest.approx(0.5, rel=1e-12)
    assert found.log_loss == pytest.approx((math.log(2) - math.log(1e-4)) / 3, rel=1e-12)
    assert found.brier_score == pytest.approx((0.5 + 0 + 2) / 3, rel=1e-12)
    # Bins: q1 is 0.5 sure and half right; q2 and q3 are sure and right once in two.
    assert found.calibration_error == pytest.approx(2 / 3 * 0.5, rel=1e-12)
    assert found.calibration["items"].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 2]
    assert found.confusion.to_numpy().tolist() == [[0, 0], [1.5, 1.5]]
    assert found.numbers() | {"accuracy": 0, "log_loss": 0, "brier_score": 0} == {
        "items": 3, "accuracy": 0, "balanced_accuracy": 0.5, "log_loss": 0, "brier_score": 0,
        "calibration_error": pytest.approx(1 / 3), "ties": "shared", "floor": 1e-4, "n_floored": 1,
        "n_not_a_class": 0, "n_gold": 0, "n_without_truth": 1, "n_not_in_data": 1,
    }  # fmt: skip


def test_ties_may_go_to_the_lowest_class():
    lowest = vote().score(TRUTH, ties="lowest")
    assert lowest.right.to_dict() == {"q1": 0, "q2": 1, "q3": 0}
    assert (lowest.accuracy, lowest.ties) == (pytest.approx(1 / 3, rel=1e-12), "lowest")
    assert lowest.confusion.to_numpy().tolist() == [[0, 0], [2, 1]]
    assert vote().score(TRUTH | {"q1": "x"}, ties="lowest").accuracy == pytest.approx(2 / 3)
    with pytest.raises(DataError, match=r"ties must be one of \['shared', 'lowest'\], got 'best'"):
        vote().score(TRUTH, ties="best")


def test_equal_but_for_rounding_is_a_tie():
    p = pd.DataFrame([[0.1 + 0.2, 0.3, 0.4 - 5e-17]], columns=list("xyz"), index=["q1"])
    assert p.loc["q1", "x"] > p.loc["q1", "y"]
    close = p[["y", "x"]].div(p[["y", "x"]].sum(axis=1), axis=0)
    assert metrics.score(close, {"q1": "y"}, ties="lowest").accuracy == 1
    assert metrics.score(close, {"q1": "y"}).accuracy == 0.5


def test_the_measures_are_those_of_the_module():
    rng = np.random.default_rng(8)
    p = pd.DataFrame(rng.dirichlet([0.4, 0.8, 1.2], 80), columns=list("xyz"))
    truth = pd.Series(rng.choice(list("xyz"), 80))
    found = metrics.score(p, truth, bins=7)
    assert found.accuracy == metrics.accuracy(p, truth)
    assert found.balanced_accuracy == metrics.balanced_accuracy(p, truth)
    assert found.log_loss == metrics.log_loss(p, truth, floor=1e-4)
    assert metrics.score(p, truth, floor=0).log_loss == metrics.log_loss(p, truth)
    assert found.brier_score == metrics.brier_score(p, truth)
    assert found.calibration_error == metrics.expected_calibration_error(p, truth, bins=7)
    pd.testing.assert_frame_equal(found.calibration, metrics.reliability(p, truth, bins=7))
    pd.testing.assert_frame_equal(found.confusion, metrics.confusion(p, truth))


@pytest.mark.parametrize("floor", [0.001, 0.2])
def test_the_floor_is_an_argument(floor):
    found = vote().score(TRUTH, floor=floor)
    assert found.log_loss == pytest.approx((math.log(2) - math.log(floor)) / 3, rel=1e-12)
    assert (found.floor, found.n_floored) == (floor, 1)
    assert f"(floor {floor})" in repr(found)


@pytest.mark.parametrize("floor", [-0.1, 1.0, math.nan])
def test_a_floor_is_a_probability(floor):
    with pytest.raises(DataError, match="floor must be at least 0 and less than 1"):
        vote().score(TRUTH, floor=floor)


def test_a_truth_that_nobody_gave_is_a_miss():
    with pytest.warns(DataWarning, match=r"^1 of 3 scored .* such as 'z'; they count as") as caught:
        found = vote().score(TRUTH | {"q2": "z"})
    assert caught[0].filename == __file__
    assert found.right.to_dict() == {"q1": 0.5, "q2": 0, "q3": 0}
    assert found.balanced_accuracy == pytest.approx((0.25 + 0) / 2, rel=1e-12)
    assert found.log_loss == pytest.approx((math.log(2) - 2 * math.log(1e-4)) / 3, rel=1e-12)
    assert found.brier_score == pytest.approx((0.5 + 2 + 2) / 3, rel=1e-12)
    assert (found.n_not_a_class, found.n_floored) == (1, 2)
    assert found.confusion.loc["z"].tolist() == [0, 1, 0]


def test_an_extra_answer_is_never_true():
    rows = [*ROWS, ("q2", "b", "unsure")]
    posterior = coterie.MajorityVote().fit(coterie.read(rows, extra_answers=["unsure"])).posterior_
    with pytest.warns(DataWarning, match="not among the classes, such as 'unsure'"):
        assert posterior.score(TRUTH | {"q2": "unsure"}).n_not_a_class == 1


def test_labels_that_are_written_in_another_way_are_an_error():
    with pytest.raises(DataError, match=r"'X' is not one of .*\['x', 'y'\].*nor is any other"):
        vote().score({"q1": "X", "q2": "Y"})


def test_gold_is_not_scored():
    found = vote(gold={"q2": "y", "q4": "x"}).score(TRUTH)
    assert found.right.to_dict() == {"q1": 0.5, "q3": 0}
    assert (found.items, found.n_gold, found.n_without_truth) == (2, 1, 1)


def test_nothing_but_gold_leaves_nothing_to_score():
    found = vote(gold={"q1": "y", "q2": "y"}).score({"q1": "y", "q2": "y"})
    assert (found.items, found.n_gold) == (0, 2)
    measures = [found.accuracy, found.balanced_accuracy, found.log_loss, found.brier_score]
    assert np.isnan([*measures, found.calibration_error]).all()


@pytest.mark.parametrize(
    "given",
    [
        pd.Series(TRUTH),
        pd.DataFrame({"item": list(TRUTH), "truth": list(TRUTH.values())}),
        pl.DataFrame({"task": list(TRUTH), "label": list(TRUTH.values())}),
        TRUTH | {"q4": None},
        {name.encode().decode(): "y" for name in reversed(TRUTH)},
    ],
    ids=["series", "pandas", "polars", "blank", "reversed"],
)
def test_truth_comes_in_many_forms(given):
    assert vote().score(given).numbers() == vote().score(TRUTH).numbers()


def test_ids_match_whatever_their_type():
    posterior = vote([(7, "a", 0), (7, "b", 0), (8, "a", 1)])
    assert posterior.score({"7": "0", "8": "0"}).right.to_dict() == {7: 1, 8: 0}


@pytest.mark.parametrize("given", ["truth.csv", None, [("q1", "x")], 3])
def test_what_is_no_truth_is_refused(given):
    with pytest.raises(
        DataError, match=r"^truth must be a Series or dict.*read_truth reads a file"
    ):
        vote().score(given)


def test_probabilities_are_insisted_on():
    with pytest.raises(DataError, match=r"needs probabilities.*Series"):
        metrics.score(pd.Series({"q1": "x"}), {"q1": "x"})


def test_a_boolean_is_no_number():
    p = pd.DataFrame({0: [0.2, 0.3], 1: [0.8, 0.7]}, index=["q1", "q2"])
    with pytest.raises(DataError, match=r"the true label True is not one of the classes \[0, 1\]"):
        metrics.score(p, {"q1": True, "q2": True})
    with pytest.warns(DataWarning, match="1 of 2 scored items .* such as True"):
        found = metrics.score(p, {"q1": True, "q2": 1})
    assert (found.items, found.accuracy, found.n_not_a_class) == (2, 0.5, 1)
    assert found.confusion.to_numpy().sum() == 2
    rows = [("q1", "ann", 0), ("q1", "bob", 1), ("q2", "ann", 1)]
    posterior = coterie.MajorityVote().fit(rows).posterior_
    with pytest.raises(DataError, match="the true label True is not one of the classes"):
        posterior.score({"q1": True})
    with pytest.raises(DataError, match="the label True of item 'q1' in gold is not one of"):
        coterie.read(rows, gold={"q1": True})
    with pytest.raises(DataError, match=r"True .* 1 are of different types"):
        metrics.accuracy({"q1": True}, {"q1": 1})
