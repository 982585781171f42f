"""Known labels, and Annotations that pass through."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from builders.frames import TRIPLES, frame_of, refused
from coterie.data import annotations_from, known_labels, with_gold
from coterie.errors import DataError

GOLD = {"q2": "no"}


@pytest.mark.parametrize(
    "gold",
    [
        GOLD,
        {"q2": "no", "q1": None},
        pd.Series(GOLD),
        pd.Series({"q2": "no", "q1": np.nan}, name="truth"),
        pd.DataFrame({"task": ["q2"], "gold": ["no"], "note": ["x"]}),
        pd.DataFrame({"label": ["no", "no"], "item": ["q2", "q2"]}),
        pd.DataFrame({"a": ["q2"], "b": ["no"]}),
        pd.DataFrame({"said": ["no"]}, index=["q2"]),
        pl.DataFrame({"item": ["q2"], "truth": ["no"]}),
    ],
    ids=str,
)
def test_gold_comes_in_many_forms(gold):
    assert annotations_from(TRIPLES, gold=gold).gold == GOLD
    assert with_gold(annotations_from(TRIPLES, gold={"q1": "yes"}), gold).gold == GOLD
    assert known_labels(gold).to_dict() == GOLD


def test_gold_from_a_column_may_be_blank_in_some_rows():
    frame = frame_of("item", "annotator", "label").assign(gold=["yes", None, " ", ""])
    annotations = annotations_from(frame, gold="gold")
    assert annotations.gold == {"q1": "yes"}
    assert annotations.origin.endswith("label 'label', gold 'gold'")


def test_gold_numbers_match_whatever_their_type():
    frame = pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 2, 1], "label": [0, 1, 1]})
    assert annotations_from(frame.assign(gold=[1, 1, np.nan]), gold="gold").gold == {1: 1}
    assert annotations_from(frame, gold={"1": "0"}).gold == {1: 0}
    assert annotations_from(frame.astype(str), gold={1: 0}).gold == {"1": "0"}


@pytest.mark.parametrize(
    ("gold", "sentence"),
    [
        (
            {"q9": "no"},
            "item 'q9' of gold is not among the items labelled; "
            "remove it, or write the ids as in the labels",
        ),
        (
            pd.DataFrame({"item": ["q7", "q8", "q2"], "gold": "no"}),
            "item 'q7' of the gold frame (and 1 more) is not among the items labelled; "
            "remove it, or write the ids as in the labels",
        ),
        (
            {"q1": "maybe"},
            "the label 'maybe' of item 'q1' in gold is not one of the classes ['no', 'yes']; "
            "correct it, or pass classes= with every possible truth",
        ),
        (
            {"q1": "skip"},
            "the label 'skip' of item 'q1' in gold is an extra answer, which is never true; "
            "correct it",
        ),
        (
            pd.DataFrame({"item": ["q1", "q1"], "gold": ["no", "yes"]}),
            "item 'q1' has 2 gold labels in the gold frame, 'no' and 'yes'; keep one",
        ),
        (
            pd.Series(["no", "yes"], index=["q1", "q1"]),
            "item 'q1' has 2 gold labels in gold, 'no' and 'yes'; keep one",
        ),
        (
            pd.DataFrame({"item": ["q1", None], "gold": ["no", "yes"]}),
            "row 1 of the gold frame (the first is row 0) has a blank item; "
            "fill it in, or remove the row",
        ),
        (
            pd.DataFrame({"item": ["q1"], "gold": ["no"], "truth": ["no"]}),
            "2 columns of the gold frame fit the known label equally well, 'gold', 'truth'; "
            "keep one",
        ),
        (
            pd.DataFrame({"a": ["q1"], "b": ["no"], "c": ["no"]}),
            "the gold frame must have a column of items and one of known labels; "
            "its columns are 'a', 'b', 'c'; call them 'item' and 'label'",
        ),
        (
            "gold",
            "the list of triples has no column 'gold', which gold= asks for; "
            "its columns are 'item', 'annotator', 'label'",
        ),
    ],
    ids=str,
)
def test_gold_that_does_not_fit(gold, sentence):
    assert refused(TRIPLES, gold=gold, extra_answers=["skip"]) == sentence


def test_contradictory_gold_in_a_column():
    frame = frame_of("item", "annotator", "label").assign(gold=["yes", "no", "no", "no"])
    assert refused(frame, gold="gold") == (
        "item 'q1' has 2 gold labels in the frame, 'no' and 'yes'; keep one"
    )


def test_contradictory_truth():
    with pytest.raises(DataError, match=r"^item 'q1' has several labels in gold; keep one$"):
        known_labels(pd.Series(["no", "yes"], index=["q1", "q1"]))


def test_annotations_pass_through():
    annotations = annotations_from(TRIPLES)
    assert annotations_from(annotations) is annotations
    assert annotations_from(annotations, gold=GOLD).gold == GOLD
    assert refused(annotations, classes=["no", "yes"]) == (
        "classes= cannot change Annotations that were already made; "
        "pass classes= where the labels are read"
    )


def test_the_input_is_left_as_it_was():
    frame = frame_of("item", "annotator", "label").assign(gold=["yes", None, None, None])
    before = frame.copy(deep=True)
    annotations_from(frame, gold="gold")
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[0, "label"] = "no"  # still writable
