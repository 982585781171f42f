"""Posterior: tables read off known numbers."""

import numpy as np
import pandas as pd
import pytest

from coterie.annotations import Annotations, encode
from coterie.errors import CoterieError, DataError
from coterie.posterior import Draws, Posterior


@pytest.fixture
def annotations():
    codes = encode([0, 0, 1], [0, 1, 0], [0, 2, 1], sizes=(2, 3, 2, 3))
    return Annotations(
        np.array(["q1", "q2"], object),
        np.array(["ann", "bob", "cat"], object),
        np.array(["no", "yes"], object),
        np.array(["unsure"], object),
        codes,
    )


def confusion():
    """Asymmetric in every index, so that a transposed one is noticed."""
    return np.array(
        [
            [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]],
            [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]],
            [[0.1, 0.8, 0.1], [0.6, 0.4, 0.0]],
        ]
    )


def point(annotations, **more):
    return Posterior(
        annotations,
        np.array([[0.25, 0.75], [0.5, 0.5]]),
        np.array([0.4, 0.6]),
        confusion(),
        model="Point",
        **more,
    )


def test_labels(annotations):
    table = point(annotations).labels()
    assert table["item"].tolist() == ["q1", "q2"]
    assert table["label"].tolist() == ["yes", "no"]  # a tie goes to the lowest class
    assert table["probability"].tolist() == [0.75, 0.5]
    expected = [-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)), np.log(2)]
    np.testing.assert_allclose(table["entropy"], expected, rtol=1e-12)


def test_a_certain_item_has_entropy_zero(annotations):
    posterior = Posterior(
        annotations, np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2) / 2, confusion()
    )
    assert [f"{x}" for x in posterior.labels()["entropy"]] == ["0.0", "0.0"]


def test_a_chosen_label_overrides_the_lowest_of_a_tie(annotations):
    assert point(annotations, label=np.array([1, 1])).labels()["label"].tolist() == ["yes", "yes"]


def test_probabilities(annotations):
    table = point(annotations).probabilities()
    assert (table.index.name, table.columns.name) == ("item", "label")
    assert table.loc["q1"].to_dict() == {"no": 0.25, "yes": 0.75}


def test_annotators_of_a_point_estimate(annotations):
    table = point(annotations).annotators()
    assert table.columns.tolist() == ["annotator", "n_labels", "accuracy", "informativeness"]
    assert table["n_labels"].tolist() == [2, 1, 0]
    np.testing.assert_allclose(
        table["accuracy"], [0.4 * 0.9 + 0.6 * 0.7, 0.4 * 0.5 + 0.6 * 0.3, 0.4 * 0.1 + 0.6 * 0.4]
    )
    assert table["informativeness"][1] == pytest.approx(0, abs=1e-12)


def test_confusion_has_truth_in_rows_and_answers_in_columns(annotations):
    table = point(annotations).confusion("ann")
    assert (table.index.name, table.columns.name) == ("true", "answer")
    assert table.loc["yes", "unsure"] == 0.1
    assert table.loc["no", "yes"] == 0.1
    everybody = point(annotations).confusion()
    assert everybody.loc[("cat", "no"), "yes"] == 0.8
    pd.testing.assert_frame_equal(everybody.loc["ann"], table)


def test_an_unknown_annotator_is_named_with_its_neighbours(annotations):
    with pytest.raises(DataError) as error:
        point(annotations).confusion("bop")
    assert str(error.value) == "no annotator 'bop' among the 3 of this data; did you mean 'bob'?"


def test_a_point_estimate_says_that_it_has_no_draws(annotations):
    posterior = point(annotations)
    with pytest.raises(CoterieError, match="Point gives a point estimate without intervals"):
        posterior.confusion("ann", quantile=0.5)
    with pytest.raises(CoterieError, match="Point finds no coteries"):
        posterior.cooccurrence()
    with pytest.raises(CoterieError, match="Point finds no coteries"):
        _ = posterior.n_coteries


@pytest.fixture
def sampled(annotations):
    rng = np.random.default_rng(0)
    partition = np.array([[[0, 0, 1], [0, 1, 1]], [[0, 0, 0], [0, 1, 2]]], np.int32)
    draws = Draws(
        confusion=rng.dirichlet([3, 2, 1], size=(2, 2, 3, 2)).astype(np.float32),
        class_balance=rng.dirichlet([3, 2], size=(2, 2)),
        partition=partition,
        n_coteries=np.array([[2, 2], [1, 3]]),
    )
    return point(annotations, draws=draws)


def test_cooccurrence_is_the_share_of_draws(sampled):
    table = sampled.cooccurrence()
    expected = [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]
    np.testing.assert_array_equal(table, expected)
    part = sampled.cooccurrence(["cat", "ann"])
    assert part.index.tolist() == ["cat", "ann"]
    assert part.loc["cat", "ann"] == 0.25
    assert sampled.n_coteries.shape == (2, 2)


def test_intervals_are_equal_tailed_over_all_chains(sampled):
    draws = sampled.draws
    accuracy = np.array(
        [
            [
                sum(draws.class_balance[k, d, t] * draws.confusion[k, d, l, t, t] for t in range(2))
                for l in range(3)
            ]
            for k in range(2)
            for d in range(2)
        ]
    )
    table = sampled.annotators()
    np.testing.assert_allclose(table["accuracy"], accuracy.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(table["accuracy_low"], np.quantile(accuracy, 0.025, axis=0))
    np.testing.assert_allclose(table["accuracy_high"], np.quantile(accuracy, 0.975, axis=0))
    low = sampled.confusion("bob", quantile=0.025)
    expected = np.quantile(draws.confusion[:, :, 1].reshape(4, 2, 3), 0.025, axis=0)
    np.testing.assert_allclose(low, expected)
