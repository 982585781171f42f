"""Scores of labels and probabilities against scikit-learn, hand-made values, and by invariance."""

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from coterie import metrics
from coterie.errors import DataError, DataWarning
from coterie.metrics.scores import chance_interval, pool_tables

CLASSES = ["ant", "bee", "cat"]


@pytest.fixture
def scored():
    """Give probabilities of 60 items, and the truth of 50 of them, in another order."""
    rng = np.random.default_rng(3)
    items = [f"q{number}" for number in range(60)]
    p = pd.DataFrame(rng.dirichlet([0.6, 0.9, 1.4], 60), index=items, columns=CLASSES)
    truth = pd.Series(rng.choice(CLASSES, 60, p=[0.2, 0.5, 0.3]), index=items)
    return p, truth.iloc[rng.permutation(60)[:50]]


def both(p, truth):
    """Give truth and probabilities as scikit-learn wants them: arrays in one order."""
    return truth.to_numpy(), p.loc[truth.index].to_numpy()


def test_label_scores_equal_sklearn(scored):
    p, truth = scored
    predicted = p.idxmax(axis=1)
    expected = (truth.to_numpy(), predicted.loc[truth.index].to_numpy())
    for given_as in (predicted, predicted.to_dict(), p):
        assert metrics.accuracy(given_as, truth) == pytest.approx(
            sklearn.metrics.accuracy_score(*expected), rel=1e-12
        )
        assert metrics.balanced_accuracy(given_as, truth) == pytest.approx(
            sklearn.metrics.balanced_accuracy_score(*expected), rel=1e-12
        )
        np.testing.assert_array_equal(
            metrics.confusion(given_as, truth.to_dict()),
            sklearn.metrics.confusion_matrix(*expected, labels=CLASSES),
        )


def test_probability_scores_equal_sklearn(scored):
    p, truth = scored
    true, probability = both(p, truth)
    assert metrics.log_loss(p, truth) == pytest.approx(
        sklearn.metrics.log_loss(true, probability, labels=CLASSES), rel=1e-12
    )
    assert metrics.brier_score(p, truth) == pytest.approx(
        sklearn.metrics.brier_score_loss(true, probability, labels=CLASSES, scale_by_half=False),
        rel=1e-12,
    )


def test_the_order_of_columns_does_not_matter(scored):
    p, truth = scored
    turned = p[CLASSES[::-1]]
    for score in (
        metrics.accuracy,
        metrics.balanced_accuracy,
        metrics.log_loss,
        metrics.brier_score,
        metrics.expected_calibration_error,
    ):
        assert score(turned, truth) == pytest.approx(score(p, truth), rel=1e-12)
    pd.testing.assert_frame_equal(
        metrics.confusion(turned, truth).loc[CLASSES, CLASSES], metrics.confusion(p, truth)
    )


def test_ties_are_shared():
    third = 1 / 3
    p = pd.DataFrame(
        [[third, third, third], [0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.2, 0.5, 0.3]],
        index=[1, 2, 3, 4],
        columns=CLASSES,
    )
    truth = {1: "cat", 2: "bee", 3: "cat", 4: "bee"}
    assert metrics.accuracy(p, truth) == pytest.approx((1 / 3 + 1 / 2 + 0 + 1) / 4, rel=1e-12)
    assert metrics.balanced_accuracy(p, truth) == pytest.approx(
        ((1 / 2 + 1) / 2 + (1 / 3 + 0) / 2) / 2, rel=1e-12
    )
    table = metrics.confusion(p, truth)
    np.testing.assert_allclose(
        table, [[0, 0, 0], [0.5, 1.5, 0], [1 / 3 + 0.5, 1 / 3 + 0.5, 1 / 3]], rtol=1e-12
    )
    assert table.index.name == "truth"
    assert table.columns.name == "prediction"


def test_a_tie_survives_rounding():
    p = pd.DataFrame([[0.2, 0.4, 0.4 - 1e-16]], columns=CLASSES)
    assert p.loc[0, "bee"] != p.loc[0, "cat"]
    assert metrics.accuracy(p, {0: "bee"}) == 0.5


def test_a_class_that_is_never_predicted_counts_as_wrong():
    predicted = {"q1": "ant", "q2": "ant", "q3": "bee"}
    truth = {"q1": "ant", "q2": "cat", "q3": "bee"}
    assert metrics.accuracy(predicted, truth) == pytest.approx(2 / 3)
    assert metrics.balanced_accuracy(predicted, truth) == pytest.approx(2 / 3)
    assert metrics.confusion(predicted, truth).loc["cat", "ant"] == 1


def test_a_class_that_is_never_true_does_not_dilute_balanced_accuracy():
    predicted = {"q1": "ant", "q2": "bee", "q3": "cat"}
    truth = {"q1": "ant", "q2": "ant", "q3": "cat"}
    assert metrics.balanced_accuracy(predicted, truth) == pytest.approx((1 / 2 + 1) / 2)


def test_confusion_of_numbers_is_in_numeric_order():
    table = metrics.confusion({"a": 10, "b": 2, "c": 2}, {"a": 9, "b": 2, "c": 10})
    assert table.index.tolist() == [2, 9, 10]
    assert table.to_numpy().tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]


def test_impossible_truth_has_infinite_log_loss():
    p = pd.DataFrame({"no": [1.0, 0.5], "yes": [0.0, 0.5]}, index=["q1", "q2"])
    assert metrics.log_loss(p, {"q1": "yes", "q2": "yes"}) == np.inf
    assert metrics.log_loss(p, {"q1": "no", "q2": "yes"}) == pytest.approx(np.log(2) / 2)


def test_items_without_truth_and_truths_without_item_are_left_out():
    predicted = pd.Series({"q1": "no", "q2": "yes", "q3": "yes"})
    truth = pd.Series({"q2": "yes", "q3": "no", "q9": "no", "q1": None})
    assert metrics.accuracy(predicted, truth) == 0.5


def test_few_matches_are_warned_of():
    predicted = dict.fromkeys(range(10), "no")
    with pytest.warns(DataWarning, match=r"only 1 items have both .*10 items.*5 items") as caught:
        metrics.accuracy(predicted, {9: "no", 10: "no", 11: "no", 12: "no", 13: "no"})
    assert caught[0].filename == __file__
    # Truth for a few items, or predictions for a few, is how it should be.
    metrics.accuracy(predicted, {3: "no"})
    metrics.accuracy({3: "no"}, predicted)


FRAME = pd.DataFrame({"no": [0.5, 0.2], "yes": [0.5, 0.8]}, index=["q1", "q2"])


@pytest.mark.parametrize(
    ("score", "predictions", "truth", "sentence"),
    [
        (metrics.accuracy, {1: "no"}, {"1": "no"}, "no item has both .* text or number"),
        (metrics.accuracy, {1: "0"}, {1: 0}, "labels such as '0' .* such as 0 .*types"),
        (metrics.accuracy, {1: None}, {1: "no"}, "item 1 has no predicted label"),
        (metrics.accuracy, {}, {1: "no"}, "there is no item in the predictions"),
        (metrics.accuracy, {1: "no"}, {1: None}, "there is no item in the truth"),
        (metrics.accuracy, ["no"], {1: "no"}, "predictions must be a Series or a dict.*list"),
        (metrics.accuracy, {1: "no"}, ["no"], "truth must be a Series or a dict.*list"),
        (metrics.accuracy, pd.Series(["a", "a"], index=[7, 7]), {7: "a"}, "item 7 is twice"),
        (metrics.log_loss, {1: "no"}, {1: "no"}, "needs probabilities.*dict"),
        (metrics.log_loss, FRAME, {"q1": "Yes"}, r"'Yes' is not one of .*\['no', 'yes'\]"),
        (metrics.log_loss, FRAME * 2, {"q2": "yes"}, "item 'q2' must be at least 0 and sum to 1"),
        (metrics.log_loss, FRAME * np.nan, {"q1": "yes"}, "item 'q1' must be at least 0"),
        (metrics.log_loss, FRAME.astype(str) + "%", {"q1": "yes"}, "must be numbers"),
        (metrics.accuracy, FRAME[["no", "no"]], {"q1": "no"}, "one column per class"),
    ],
)
def test_errors_say_what_to_do(score, predictions, truth, sentence):
    with pytest.raises(DataError, match=sentence):
        score(predictions, truth)


def slow_calibration(p, truth, bins):
    """Give the bins' (items, confidence, accuracy) with a loop over items, no ties."""
    rows = [[] for _ in range(bins)]
    for item, label in truth.items():
        confidence = p.loc[item].max()
        which = next(b for b in range(bins) if confidence <= (b + 1) / bins)
        rows[which].append((confidence, p.loc[item].idxmax() == label))
    return [(len(row), *np.mean(row, axis=0)) if row else (0, np.nan, np.nan) for row in rows]


@pytest.mark.parametrize("bins", [1, 7, 10])
def test_reliability_equals_a_slow_twin(scored, bins):
    p, truth = scored
    table = metrics.reliability(p, truth, bins=bins)
    slow = np.array(slow_calibration(p, truth, bins))
    np.testing.assert_allclose(table[["items", "confidence", "accuracy"]], slow, rtol=1e-12)
    gap = np.nansum(slow[:, 0] * np.abs(slow[:, 2] - slow[:, 1])) / 50
    assert metrics.expected_calibration_error(p, truth, bins=bins) == pytest.approx(gap, rel=1e-12)


def test_confidence_on_an_edge_belongs_to_the_lower_bin():
    p = pd.DataFrame({"no": [0.5, 0.0], "yes": [0.5, 1.0]}, index=["q1", "q2"])
    table = metrics.reliability(p, {"q1": "no", "q2": "no"}, bins=2)
    assert table["items"].tolist() == [1, 1]
    assert table["accuracy"].tolist() == [0.5, 0.0]


def test_calibrated_probabilities_have_a_small_error():
    rng = np.random.default_rng(5)
    n_items = 20_000
    p = pd.DataFrame(rng.dirichlet([1, 1, 1], n_items), columns=CLASSES)
    u = rng.random((n_items, 1))
    truth = pd.Series(np.array(CLASSES)[(u > p.to_numpy().cumsum(axis=1)).sum(axis=1)])
    # Each of 10 bins adds at most sd / sqrt(items) * sqrt(2 / pi) in the mean.
    assert metrics.expected_calibration_error(p, truth) < 4 * 0.5 * np.sqrt(10 / n_items)
    sharper = (p**3).div((p**3).sum(axis=1), axis=0)
    assert metrics.expected_calibration_error(sharper, truth) > 0.1


def test_data_sets_count_alike_in_a_pooled_table():
    few, many = (
        pd.DataFrame({"low": [0.0], "high": [1.0], "items": [n], "confidence": 0.8, "accuracy": x})
        for n, x in ((10, 1.0), (990, 0.7))
    )
    (row,) = pool_tables([few, many]).to_dict("records")
    assert (row["items"], row["weight"]) == (1_000, 1)
    assert (row["confidence"], row["accuracy"]) == (pytest.approx(0.8), pytest.approx(0.85))


def test_the_interval_of_a_share_is_jeffreys():
    low, high = chance_interval(pd.DataFrame({"items": [4, 4], "accuracy": [0.5, 1.0]}))
    assert low.round(2).tolist() == [0.12, 0.56]
    assert high.round(2).tolist() == [0.88, 1.0]


def test_bins_must_be_positive():
    with pytest.raises(DataError, match="bins must be between 1 and 10,000, got 0"):
        metrics.reliability(FRAME, {"q1": "no"}, bins=0)


@given(st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), min_size=1))
def test_confusion_adds_up(pairs):
    predicted = dict(enumerate(said for said, _ in pairs))
    truth = dict(enumerate(true for _, true in pairs))
    table = metrics.confusion(predicted, truth)
    assert table.to_numpy().sum() == len(pairs)
    assert np.trace(table) / len(pairs) == pytest.approx(metrics.accuracy(predicted, truth))


def test_items_may_be_tuples():
    assert metrics.accuracy({("doc", 1): "a", ("doc", 2): "b"}, {("doc", 2): "b"}) == 1.0
