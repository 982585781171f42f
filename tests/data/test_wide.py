"""The wide form: one row per item, one column per annotator."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from builders.frames import labels_of, refused
from coterie.data import annotations_from

WIDE = pd.DataFrame(
    {
        "task": ["t2", "t10", "t3"],
        "ann": ["yes", "no", None],
        "bob": ["no", "yes", " "],
        "cy": [None, None, None],
        "truth": ["yes", None, "no"],
    }
)
WIDE_LABELS = [
    ("t10", "ann", "no"),
    ("t10", "bob", "yes"),
    ("t2", "ann", "yes"),
    ("t2", "bob", "no"),
]


def test_the_wide_form_is_recognised_and_said():
    annotations = annotations_from(WIDE)
    assert annotations.origin == (
        "the frame: item 'task', one column per annotator: 'ann', 'bob', 'cy' "
        "(not read: 'truth', named like known labels)"
    )
    assert annotations.columns == ("task", "ann", "bob", "cy")
    assert labels_of(annotations) == WIDE_LABELS


def test_items_and_annotators_without_labels_are_kept():
    annotations = annotations_from(WIDE)
    assert annotations.items.tolist() == ["t10", "t2", "t3"]
    assert annotations.labels_per_item.tolist() == [2, 2, 0]
    assert annotations.annotators.tolist() == ["ann", "bob", "cy"]
    assert annotations.labels_per_annotator.tolist() == [2, 2, 0]


def test_a_column_of_nothing_in_polars_is_an_annotator_without_labels():
    frame = pl.DataFrame({"task": [1, 2], "ann": ["yes", "no"], "bob": ["no", "no"], "cy": None})
    assert annotations_from(frame).labels_per_annotator.tolist() == [2, 2, 0]


def test_gold_of_the_wide_form_reaches_items_without_labels():
    assert annotations_from(WIDE, gold="truth").gold == {"t2": "yes", "t3": "no"}


@pytest.mark.parametrize("make", [list, tuple, pd.Index])
def test_the_wide_form_can_be_asked_for(make):
    frame = WIDE.assign(text=["one", "two", "three"])
    annotations = annotations_from(frame, annotator=make(["bob", "ann"]))
    assert labels_of(annotations) == WIDE_LABELS
    assert annotations.annotators.tolist() == ["ann", "bob"]


def test_the_items_of_the_wide_form_can_be_named():
    frame = WIDE.rename(columns={"task": "thing"})
    for asked in ({}, {"annotator": ["ann", "bob", "cy"]}):
        annotations = annotations_from(frame, item="thing", **asked)
        assert labels_of(annotations) == WIDE_LABELS
        assert annotations.columns == ("thing", "ann", "bob", "cy")


def test_a_nameless_index_names_the_items_of_the_wide_form():
    frame = pd.DataFrame({7: [0, 1, np.nan], 8: [1, 1, 0]}, index=["k", "i", "j"])
    for annotations in (annotations_from(frame), annotations_from(frame, annotator=[7, 8])):
        assert annotations.items.tolist() == ["i", "j", "k"]
        assert annotations.annotators.tolist() == [7, 8]
        assert annotations.classes.tolist() == [0, 1]
        assert annotations.origin == "the frame: item the index, one column per annotator: 7, 8"


NOT_WIDE = (
    "the frame has no columns named like annotator and label, and is not one row per item with one "
    "column per annotator; its columns are {}; pass item=, annotator= and label=, or "
    "annotator=[...] with the annotators' columns"
)


@pytest.mark.parametrize(
    ("frame", "asked", "sentence"),
    [
        (
            WIDE[["task", "ann"]].assign(text=["one", "two", "three"]),
            {},
            NOT_WIDE.format("'task', 'ann', 'text'"),
        ),
        (
            WIDE[["task"]].assign(age=[30, 41, 52], height=[171, 182, 193]),
            {},
            NOT_WIDE.format("'task', 'age', 'height'"),
        ),
        (
            WIDE,
            {"annotator": ["ann", "bob"], "label": "cy"},
            "annotator= lists columns, one per annotator, whose cells are the labels: "
            "label='cy' has no place; leave it out, or pass one annotator column",
        ),
        (
            WIDE,
            {"annotator": ["ann", "ann"]},
            "annotator= must list each annotator's column once, and at least one",
        ),
        (
            WIDE,
            {"annotator": []},
            "annotator= must list each annotator's column once, and at least one",
        ),
        (
            WIDE,
            {"annotator": ["ann", "dan"]},
            "the frame has no column 'dan', which annotator= asks for (did you mean 'ann'?); "
            "its columns are 'task', 'ann', 'bob', 'cy', 'truth'",
        ),
        (
            WIDE.assign(task=["t1", None, "t2"]),
            {"annotator": ["ann", "bob"]},
            "row 1 of the frame (the first is row 0) has a blank item; "
            "fill it in, or remove the row",
        ),
        (
            WIDE[["task", "cy"]],
            {"annotator": ["cy"]},
            "the frame holds no label, every cell is blank; expected some labels",
        ),
        (
            WIDE.assign(task="t1"),
            {"annotator": ["ann", "bob"]},
            "row 1 of the frame (the first is row 0) repeats the item and annotator of an "
            "earlier label (2 in all, none of which says the same; first item 't1', annotator "
            "'ann'); pass duplicates='first' or duplicates='last' to keep one label of each, or "
            "duplicates='keep' to count them all",
        ),
    ],
)
def test_wide_forms_that_do_not_fit(frame, asked, sentence):
    assert refused(frame, **asked) == sentence


def test_a_wide_table_without_items_is_refused():
    table = pa.table({"ann": ["yes", "no"], "bob": ["no", "no"]})
    assert refused(table) == NOT_WIDE.format("'ann', 'bob'")
    assert refused(table, annotator=["ann", "bob"]) == (
        "no column of the frame is named like the item; its columns are 'ann', 'bob'; pass item="
    )
