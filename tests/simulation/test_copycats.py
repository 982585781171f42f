"""Copycats say what their source says, as often as they are told to."""

import numpy as np
import pytest

from coterie.errors import DataError
from coterie.simulation import Group, simulate

MATRIX = [[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.2, 0.1, 0.7]]
OWN = [[0.4, 0.3, 0.3], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]]
N = 20_000
PANEL = [Group("model", MATRIX, share=2), Group("copycat", OWN, copies=0.6, share=2)]


@pytest.fixture(scope="module")
def crowd():
    return simulate(PANEL, items=N, annotators=4, classes=["x", "y", "z"], random_state=0)


@pytest.fixture(scope="module")
def said(crowd):
    return crowd.annotations.to_frame().pivot(index="item", columns="annotator", values="label")


def test_who_copies_whom_is_told(crowd):
    source = crowd.copied["a3"]
    assert source in ("a1", "a2")
    assert crowd.copied.isna().tolist() == [True, True, False, False]
    assert crowd.copied["a4"] == source
    assert simulate("mixed", random_state=0).copied is None


def test_given_the_source_and_the_truth_a_copy_is_a_copy_as_often_as_told(crowd, said):
    source = said[crowd.copied["a3"]]
    for t, true in enumerate(["x", "y", "z"]):
        for c, answer in enumerate(["x", "y", "z"]):
            here = (crowd.truth.to_numpy() == true) & (source == answer).to_numpy()
            expected = 0.6 + 0.4 * OWN[t][c]
            error = np.sqrt(expected * (1 - expected) / here.sum())
            assert abs((said["a3"][here] == answer).mean() - expected) < 4 * error


def test_the_matrices_are_of_all_answers(crowd, said):
    np.testing.assert_allclose(
        crowd.confusion[3], 0.6 * np.array(MATRIX) + 0.4 * np.array(OWN), rtol=1e-12
    )
    for t, true in enumerate(["x", "y", "z"]):
        here = crowd.truth.to_numpy() == true
        share = (said["a4"][here] == "x").mean()
        expected = crowd.confusion[3, t, 0]
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / here.sum())


def test_copies_of_what_the_source_would_say_agree_where_it_is_silent():
    crowd = simulate(
        [Group("model", MATRIX, share=8), Group("copycat", MATRIX, copies=1.0, share=2)],
        items=400,
        annotators=10,
        labels_per_item=4,
        random_state=1,
    )
    table = crowd.annotations.to_frame().pivot(index="item", columns="annotator", values="label")
    both = table[["a09", "a10"]].dropna()
    assert len(both) > 20
    assert (both["a09"] == both["a10"]).all()


def test_nobody_to_copy_is_an_error():
    with pytest.raises(DataError, match="somebody must copy nobody; add a group"):
        simulate({"copycat": 1})
    with pytest.raises(DataError, match="must copy between 0 and 1, got 1"):
        simulate([Group("x", MATRIX), Group("y", MATRIX, copies=1.5)])
