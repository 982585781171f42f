"""Values keep their types; those that are equal are one, those that are not are two."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from builders.frames import frame_of, labels_of, refused
from coterie.data import annotations_from
from coterie.errors import DataWarning


def test_timestamps_and_unused_categories():
    frame = frame_of("item", "annotator", "label")
    days = pd.to_datetime(["2020-02-01", "2020-01-01", "2020-02-01", "2020-01-01"])
    assert annotations_from(frame.assign(label=days)).classes.tolist() == sorted(set(days))
    words = pd.Categorical(frame["label"], categories=["yes", "maybe", "no"], ordered=True)
    assert annotations_from(frame.assign(label=words)).classes.tolist() == ["no", "yes"]


def test_unsigned_and_small_integers_stay_what_they_are():
    frame = pd.DataFrame(
        {
            "item": np.array([2**64 - 1, 3, 3], np.uint64),
            "annotator": np.array([127, -128, 127], np.int8),
            "label": np.array([1, 0, 0], np.uint8),
        }
    )
    assert labels_of(annotations_from(frame)) == [(3, -128, 0), (3, 127, 0), (2**64 - 1, 127, 1)]


def test_a_thousand_classes():
    frame = pd.DataFrame({"item": np.arange(2000) // 2, "annotator": np.arange(2000) % 2})
    frame["label"] = [f"c{row % 1000}" for row in range(2000)]
    with pytest.warns(DataWarning, match="1,000 different labels among 2,000"):
        assert annotations_from(frame).n_classes == 1000
    assert refused(frame, classes=range(1000)).startswith(
        "label 'c0' in row 0 of the frame (the first is row 0) is not one of "
        "classes=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (988 more)] (nor are 1,999 more); "
    )


def test_values_of_two_types_count_as_different_with_a_warning():
    triples = [(1, "a", "x"), ("1", "a", "y"), (2, "b", "y")]
    with pytest.warns(DataWarning) as caught:
        annotations = annotations_from(triples)
    assert str(caught[0].message) == (
        "the item column of the list of triples holds 1 (int) and '1' (str), which count as "
        "different; give the column one type if they mean the same"
    )
    assert annotations.items.tolist() == [1, "1", 2]


@pytest.mark.parametrize("labels", [(1, 1.0, np.int8(1), 0), (1.0, 0, np.float32(1), 1)])
def test_equal_numbers_of_different_types_are_one_label_whatever_comes_first(labels):
    triples = [(i, "ab"[i % 2], label) for i, label in enumerate(labels)]
    assert list(map(repr, annotations_from(triples).classes.tolist())) == ["0.0", "1.0"]


@pytest.mark.parametrize("labels", [(1, True, 0), (True, 2, 1.0), (0, np.False_, 5), (0.0, False)])
def test_a_boolean_and_a_number_that_are_equal_are_refused(labels):
    triples = [(f"q{i}", "ab"[i % 2], label) for i, label in enumerate(labels)]
    sentence = refused(triples)
    assert sentence.startswith("the column 'label' of the list of triples holds ")
    assert sentence.endswith(
        ", a boolean and a number that Python takes for equal; write them as one type, or as text"
    )
    assert refused(pd.DataFrame(triples, columns=["item", "annotator", "label"])).startswith(
        "the column 'label' of the frame holds "
    )


def test_which_boolean_and_which_number_is_said():
    assert refused([(1, "a", 0), (2, "a", 1), (3, "b", True)]) == (
        "the column 'label' of the list of triples holds True and 1, a boolean and a number that "
        "Python takes for equal; write them as one type, or as text"
    )


def test_a_boolean_stays_one_beside_other_numbers():
    classes = annotations_from([(1, "a", True), (1, "b", 2), (2, "a", 3.0)]).classes
    assert list(map(repr, classes.tolist())) == ["True", "2.0", "3.0"]


def test_a_boolean_column_beside_a_column_of_numbers_is_refused_in_the_wide_form():
    wide = pl.DataFrame({"item": [1, 2, 3], "ann": [True, False, True], "bob": [1, 0, 1]})
    assert refused(wide, annotator=["ann", "bob"]) == (
        "the annotators' columns of the frame hold False and 0, a boolean and a number that Python "
        "takes for equal; write them as one type, or as text"
    )


def test_known_booleans_are_no_numbers():
    frame = pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 2, 1], "label": [0, 1, 1]})
    assert refused(frame, gold={1: True}) == (
        "the label True of item 1 in gold is not one of the classes [0, 1]; correct it, or pass "
        "classes= with every possible truth"
    )
    assert refused(frame.astype({"label": bool}), classes=[0, 1]).startswith(
        "label False in row 0 of the frame (the first is row 0) is not one of classes=[0, 1] "
    )


def test_integers_of_any_size_may_be_ids():
    triples = [(2**70 + 1, "ann", "yes"), (2**70, "bob", "no"), (-1, "bob", "no")]
    assert annotations_from(triples).items.tolist() == [-1, 2**70, 2**70 + 1]


def test_tuples_may_be_ids():
    triples = [((1, 2), "ann", "yes"), ((1, 10), "bob", "no")]
    assert set(annotations_from(triples).items.tolist()) == {(1, 2), (1, 10)}
