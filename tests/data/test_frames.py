"""Dataframes and triples -> Annotations: columns, types, order, forms, gold, repeated labels."""

import datetime
import logging
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie.data import annotations_from, known_labels, with_gold
from coterie.data.annotations import Annotations
from coterie.errors import DataError, DataWarning, MissingExtraError

TRIPLES = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no"), ("q2", "bob", "no")]


def refused(*args, **kwargs) -> str:
    with pytest.raises(DataError) as caught:
        annotations_from(*args, **kwargs)
    return str(caught.value)


def frame_of(*names: str) -> pd.DataFrame:
    return pd.DataFrame(TRIPLES, columns=list(names))


def labels_of(annotations: Annotations) -> list[tuple]:
    return list(annotations.to_frame().itertuples(index=False, name=None))


# Which column is which -------------------------------------------------------------------------

HEADERS = [
    ("item", "annotator", "label"),
    ("task", "worker", "label"),
    ("task", "annotator", "label"),
    ("item", "rater", "rating"),
    ("item", "worker", "label"),
    ("example", "annotator", "value"),
    ("TaskID", "WorkerID", "WorkerLabel"),
    ("object", "worker", "label"),
    ("item", "coder", "label"),
    ("question", "worker", "answer"),
    ("HITId", "WorkerId", "Answer.category"),
    ("_unit_id", "_worker_id", "response"),
    ("orig_id", "!amt_worker_ids", "response"),
    ("ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "OUTPUT:result"),
    ("_input_hash", "_session_id", "answer"),
    ("id", "completed_by", "choice"),
    ("Task Id", "Rater Name", "Judgement"),
    ("itemId", "userId", "class"),
    ("sentence", "judge", "verdict"),
    ("image-id", "model", "category"),
]


@pytest.mark.parametrize("names", HEADERS, ids="-".join)
def test_the_names_people_use_are_understood(names):
    annotations = annotations_from(frame_of(*names))
    assert annotations.columns == names
    assert labels_of(annotations) == TRIPLES


@pytest.mark.parametrize("names", HEADERS, ids="-".join)
def test_the_order_of_columns_and_other_columns_do_not_matter(names):
    frame = frame_of(*names).assign(seconds=1.5, timestamp="now", AssignmentId="x", text="a")
    assert annotations_from(frame[frame.columns[::-1]]).columns == names


def test_what_was_taken_is_logged_and_kept(caplog):
    caplog.set_level(logging.INFO, "coterie")
    annotations = annotations_from(frame_of("task", "worker", "label").assign(gold="yes"))
    sentence = (
        "the frame: item 'task', annotator 'worker', label 'label' "
        "(not read: 'gold', named like known labels)"
    )
    assert [(r.name, r.levelname, r.message) for r in caplog.records] == [
        ("coterie", "INFO", sentence)
    ]
    assert annotations.origin == sentence


def test_of_a_thing_and_its_id_the_id_is_taken():
    frame = frame_of("question_id", "worker_name", "answer").assign(
        question="why?", worker_id=[*"abab"]
    )
    assert annotations_from(frame).columns == ("question_id", "worker_id", "answer")


def test_two_columns_that_fit_are_refused():
    frame = frame_of("item", "worker", "label").assign(rater="x")
    assert refused(frame) == (
        "2 columns of the frame fit the annotator equally well, 'worker' and 'rater'; "
        "pass annotator='worker' or annotator='rater'"
    )
    assert annotations_from(frame, annotator="worker").columns == ("item", "worker", "label")


def test_columns_named_by_the_user_are_taken():
    frame = frame_of("a", "b", "c")
    annotations = annotations_from(frame, item="a", annotator="b", label="c")
    assert labels_of(annotations) == TRIPLES
    frame = frame_of("item", "annotator", "label").assign(task=["z1", "z1", "z2", "z2"])
    assert annotations_from(frame, item="task").items.tolist() == ["z1", "z2"]


@pytest.mark.parametrize(
    ("names", "asked", "sentence"),
    [
        (
            "item annotator label",
            {"label": "answer"},
            "the frame has no column 'answer', which label= asks for; "
            "its columns are 'item', 'annotator', 'label'",
        ),
        (
            "item who label",
            {},
            "no column of the frame is named like the annotator (annotator, worker, ...); its "
            "columns are 'item', 'who', 'label'; pass annotator=, or annotator=[...] if there is "
            "one column per annotator",
        ),
        (
            "item worker said",
            {},
            "no column of the frame is named like the label (label, answer, ...); "
            "its columns are 'item', 'worker', 'said'; pass label=",
        ),
        (
            "thing worker label",
            {},
            "no column of the frame is named like the item (item, task, ...); "
            "its columns are 'thing', 'worker', 'label'; pass item=",
        ),
        (
            "a b c",
            {"item": "a", "annotator": "a", "label": "c"},
            "item, annotator and label must be three different columns of the frame, "
            "got 'a', 'a', 'c'",
        ),
        (
            "item label label",
            {"annotator": "item"},
            "the frame has 2 columns called 'label'; rename one",
        ),
        (
            "item label label",
            {"label": "label"},
            "the frame has 2 columns called 'label'; rename one",
        ),
    ],
)
def test_columns_that_cannot_be_found(names, asked, sentence):
    assert refused(frame_of(*names.split()), **asked) == sentence


# Sources and types -----------------------------------------------------------------------------

SOURCES = {
    "pandas": lambda frame: frame,
    "object": lambda frame: frame.astype(object),
    "nullable": lambda frame: frame.convert_dtypes(),
    "arrow dtypes": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "categorical": lambda frame: frame.astype("category"),
    "polars": pl.from_pandas,
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "pyarrow in chunks": lambda frame: pa.concat_tables(
        [pa.Table.from_pandas(part, preserve_index=False) for part in (frame[:1], frame[1:])]
    ),
    "numpy": lambda frame: np.array(frame.astype(object)),
    "triples": lambda frame: list(frame.itertuples(index=False, name=None)),
    "generator": lambda frame: (row for row in frame.itertuples(index=False, name=None)),
    "mapping": lambda frame: {
        item: dict(zip(rows["annotator"], rows["label"], strict=True))
        for item, rows in frame.groupby("item")
    },
    "index": lambda frame: frame.set_index(["item", "annotator"]),
}
LISTS = ("numpy", "triples", "generator")
DAY = datetime.date(2024, 2, 9)
VALUES = {
    "text": (["b", "a", "10"], ["10", "a", "b"]),
    "numerals": (["10", "9", "-2.5"], ["-2.5", "9", "10"]),
    "integers": ([10, 9, -2], [-2, 9, 10]),
    "far integers": ([2**60, 1, -(2**60)], [-(2**60), 1, 2**60]),
    "floats": ([1.0, 0.5, 10.0], [0.5, 1.0, 10.0]),
    "booleans": ([True, False, True], [False, True]),
    "dates": ([DAY, DAY.replace(day=1), DAY.replace(year=2023)],) * 2,
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", VALUES)
def test_every_source_gives_the_same_annotations(source, kind):
    labels, ordered = VALUES[kind]
    ordered = sorted(ordered) if kind == "dates" else ordered
    frame = pd.DataFrame({"item": [2, 10, 2], "annotator": ["x", "x", "w"], "label": labels})
    annotations = annotations_from(SOURCES[source](frame))
    assert annotations.items.tolist() == [2, 10]
    assert annotations.annotators.tolist() == ["w", "x"]
    assert annotations.classes.tolist() == ordered
    assert [type(value) for value in annotations.classes.tolist()] == [type(v) for v in ordered]
    assert labels_of(annotations) == [
        (2, "w", labels[2]),
        (2, "x", labels[0]),
        (10, "x", labels[1]),
    ]


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "mapping"])
@pytest.mark.parametrize("column", ["item", "annotator", "label"])
@pytest.mark.parametrize("blank", [None, " "])
def test_a_missing_cell_is_refused(source, column, blank):
    frame = frame_of("item", "annotator", "label").astype(object)
    frame.loc[2, column] = blank
    assert refused(SOURCES[source](frame)) == (
        f"row 2 of {'the list of triples' if source in LISTS else 'the frame'} "
        f"(the first is row 0) has a blank {column}; fill it in, or remove the row"
    )


@pytest.mark.parametrize("make", [SOURCES["pandas"], pl.from_pandas, SOURCES["triples"]])
def test_nan_is_missing_and_the_rest_are_counted(make):
    frame = pd.DataFrame({"item": range(9), "annotator": "a", "label": [0.0, *[np.nan] * 8]})
    assert refused(make(frame)).endswith(
        "(the first is row 0), and 5 more, have a blank label; fill them in, or remove the rows"
    )


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


def test_polars_without_pyarrow_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError) as caught:
        annotations_from(pl.DataFrame({"item": [1], "annotator": [1], "label": [1]}))
    assert str(caught.value) == (
        'reading a polars frame needs pyarrow: pip install "coterie[parquet]"'
    )


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            [*TRIPLES, ("q1", "ann")],
            "row 4 of the list of triples (the first is row 0) holds 2 values, ('q1', 'ann'); "
            "expected three, (item, annotator, label)",
        ),
        (
            iter(["abc"]),
            "row 0 of the list of triples (the first is row 0) holds one value, 'abc'; "
            "expected three, (item, annotator, label)",
        ),
        (
            [],
            "the list of triples has no rows, only the columns 'item', 'annotator', 'label'; "
            "expected one row per label",
        ),
        (3, "got 3, expected a dataframe or triples (item, annotator, label)"),
        (
            {"item": [1, 2]},
            "the mapping's value at 'item' is [1, 2], expected a mapping annotator -> label; "
            "for columns of equal length, pass pandas.DataFrame(...)",
        ),
        (
            pd.Series([1, 2]),
            "a single column came, expected a frame with item, annotator and label",
        ),
        (
            pd.DataFrame({"item": [1], "annotator": [2], "label": [[3]]}),
            "the column 'label' of the frame holds lists or the like (unhashable type: 'list'); "
            "expected text, numbers, dates or booleans",
        ),
        (
            pa.table({"item": [1], "annotator": [2], "label": [[3]]}),
            "the column 'label' of the frame holds lists or the like (Function "
            "'dictionary_encode' has no kernel matching input types (list<item: int64>)); "
            "expected text, numbers, dates or booleans",
        ),
        (
            pa.table({"item": [], "annotator": [], "label": []}),
            "the frame has no rows, only the columns 'item', 'annotator', 'label'; "
            "expected one row per label",
        ),
        (
            frame_of("item", "annotator", "label")[:0],
            "the frame has no rows, only the columns 'item', 'annotator', 'label'; "
            "expected one row per label",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table_is_refused(data, sentence):
    assert refused(data) == sentence


# Order -----------------------------------------------------------------------------------------

ids = st.one_of(
    st.integers(-30, 30),
    st.sampled_from(
        ["1", "01", "1.0", "2", "10", "1e1", "-3", "x", "X", "é", "zz ", "10000000000000000001"]
    ),
)


@st.composite
def tables(draw):
    rows = draw(
        st.lists(st.tuples(ids, ids, st.sampled_from(["yes", "no", "maybe", "3"])), min_size=1)
    )
    return [*rows, (0, 0, "yes"), (0, 1, "no")]


@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
@given(tables(), st.randoms())
def test_the_order_of_the_rows_changes_not_one_bit(rows, random):
    ours = annotations_from(rows, duplicates="keep")
    theirs = annotations_from(random.sample(rows, len(rows)), duplicates="keep")
    for name in ("items", "annotators", "classes"):
        one, other = getattr(ours, name), getattr(theirs, name)
        assert one.dtype == other.dtype
        assert list(map(repr, one.tolist())) == list(map(repr, other.tolist()))
    for one, other in zip(ours.codes[:7], theirs.codes[:7], strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
@given(tables())
def test_the_frame_of_annotations_gives_them_back(rows):
    ours = annotations_from(rows, duplicates="keep")
    assert sorted(map(repr, labels_of(ours))) == sorted(map(repr, rows))
    again = annotations_from(ours.to_frame(), duplicates="keep")
    assert again.items.tolist() == ours.items.tolist()
    for one, other in zip(ours.codes[:7], again.codes[:7], strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("given_labels", "ordered"),
    [
        ("10 9 2", "2 9 10"),
        ("1.5 -3 1e2", "-3 1.5 1e2"),
        ("1 01 1.0", "01 1 1.0"),
        ("20000000000000000001 20000000000000000000", "20000000000000000000 20000000000000000001"),
        ("10 9 nan", "10 9 nan"),
        ("10 9 1_0", "10 1_0 9"),
        ("b a B", "B a b"),
        ("- 3 20", "- 20 3"),
    ],
)
@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
def test_numerals_are_ordered_as_numbers_and_stay_as_written(given_labels, ordered):
    words = given_labels.split()
    triples = [(word, "ab"[i % 2], word) for i, word in enumerate(words)]
    annotations = annotations_from(triples)
    assert annotations.classes.tolist() == ordered.split()
    assert annotations.items.tolist() == ordered.split()


# Classes and extra answers ---------------------------------------------------------------------


def test_classes_stand_in_the_order_declared():
    annotations = annotations_from(TRIPLES, classes=["yes", "maybe", "no"])
    assert annotations.classes.tolist() == ["yes", "maybe", "no"]
    assert labels_of(annotations) == TRIPLES
    assert annotations_from(TRIPLES, classes={"yes", "no", "b"}).classes.tolist() == [
        "b",
        "no",
        "yes",
    ]


def test_extra_answers_are_said_and_never_true():
    annotations = annotations_from(
        [*TRIPLES, ("q3", "bob", "unsure")], extra_answers=["skip", "unsure"]
    )
    assert annotations.classes.tolist() == ["no", "yes"]
    assert annotations.answers.tolist() == ["no", "yes", "skip", "unsure"]
    assert annotations.codes.n_classes == 2
    assert annotations.codes.n_answers == 4
    assert labels_of(annotations)[-1] == ("q3", "bob", "unsure")


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (
            {"classes": ["yes", "maybe"]},
            "label 'no' in row 1 of the list of triples (the first is row 0) is not one of "
            "classes=['yes', 'maybe'] (nor are 2 more); correct it, or add it to classes= if it "
            "can be the truth, to extra_answers= if it never is",
        ),
        (
            {"classes": ["no", "maybe"], "extra_answers": ["skip"]},
            "label 'yes' in row 0 of the list of triples (the first is row 0) is not one of "
            "classes=['no', 'maybe'] or extra_answers=['skip']; correct it, or add it to classes= "
            "if it can be the truth, to extra_answers= if it never is",
        ),
        (
            {"classes": ["yes", "no"], "extra_answers": ["no"]},
            "'no' is in classes= and in extra_answers=; an extra answer is never true, "
            "so keep it in one of them",
        ),
        ({"classes": ["yes", "no", "yes"]}, "classes= names 'yes' 2 times; name it once"),
        (
            {"extra_answers": ["skip", "skip"]},
            "extra_answers= names 'skip' 2 times; name it once",
        ),
        ({"classes": "yes"}, "classes='yes' is a text; pass a list, classes=[...]"),
        ({"classes": ["yes"]}, "classes= needs at least two possible truths, got 'yes'"),
        (
            {"extra_answers": ["no"]},
            "the only class among the labels of the list of triples is 'yes', expected at least "
            "two; pass classes= with every possible truth",
        ),
        (
            {"extra_answers": ["no", "yes"]},
            "the only class among the labels of the list of triples is none, expected at least "
            "two; pass classes= with every possible truth",
        ),
        (
            {"duplicates": "drop"},
            "duplicates='drop' is not one of 'error', 'first', 'last', 'keep'",
        ),
    ],
)
def test_declarations_that_do_not_fit(told, sentence):
    assert refused(TRIPLES, **told) == sentence


def test_one_label_for_all_needs_declared_classes_and_warns():
    triples = [("q1", "ann", "yes"), ("q2", "bob", "yes")]
    assert refused(triples) == (
        "the only class among the labels of the list of triples is 'yes', expected at least two; "
        "pass classes= with every possible truth"
    )
    with pytest.warns(DataWarning) as caught:
        annotations = annotations_from(triples, classes=["no", "yes"])
    assert [str(warning.message) for warning in caught] == [
        "every label of the list of triples is 'yes'; the other classes were never said"
    ]
    assert annotations.n_classes == 2


def test_one_annotator_works_with_a_warning():
    with pytest.warns(DataWarning) as caught:
        annotations = annotations_from(TRIPLES[::2])
    assert [str(warning.message) for warning in caught] == [
        "the list of triples has one annotator, 'ann': with nobody to compare, "
        "a result can only repeat the labels"
    ]
    assert annotations.n_annotators == 1


def test_labels_that_differ_by_case_or_blanks_are_shown():
    triples = [*TRIPLES, ("q3", "ann", "Yes"), ("q3", "bob", "yes "), ("q4", "ann", "NO")]
    with pytest.warns(DataWarning) as caught:
        annotations = annotations_from(triples)
    assert [str(warning.message) for warning in caught] == [
        "labels of the list of triples that differ only by case or surrounding blanks count as "
        "different (how often): 'NO' (1), 'no' (3); 'Yes' (1), 'yes' (1), 'yes ' (1); "
        "write them alike if they mean the same"
    ]
    assert annotations.n_classes == 5


# Repeated labels -------------------------------------------------------------------------------

REPEATED = [*TRIPLES, ("q1", "ann", "no"), ("q3", "ann", "yes"), ("q1", "ann", "maybe")]


@pytest.mark.parametrize(
    ("duplicates", "said"),
    [("first", ["yes"]), ("last", ["maybe"]), ("keep", ["maybe", "no", "yes"])],
)
def test_repeated_labels_are_what_the_user_says(duplicates, said):
    annotations = annotations_from(REPEATED, duplicates=duplicates)
    kept = [
        label
        for item, annotator, label in labels_of(annotations)
        if (item, annotator) == ("q1", "ann")
    ]
    assert kept == said
    assert annotations.n_labels == 4 + len(said)
    assert annotations.n_repeated == len(said) - 1
    assert annotations.sparsity == pytest.approx(1 / 6)


def test_repeated_labels_are_refused_by_default():
    assert refused(REPEATED) == (
        "rows 4 and 6 of the list of triples (the first is row 0) repeat the item and annotator of "
        "an earlier label (2 in all; first item 'q1', annotator 'ann'); pass duplicates='first' "
        "or duplicates='last' to keep one label of each, or duplicates='keep' to count them all"
    )
    assert refused([*TRIPLES, TRIPLES[0]]).startswith(
        "row 4 of the list of triples (the first is row 0) repeats the item and annotator of an "
        "earlier label (1 in all; "
    )


# The wide form ---------------------------------------------------------------------------------

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
            "the frame has no column 'dan', which annotator= asks for; "
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
            "earlier label (2 in all; first item 't1', annotator 'ann'); pass duplicates='first' "
            "or duplicates='last' to keep one label of each, or duplicates='keep' to count them "
            "all",
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


# Gold ------------------------------------------------------------------------------------------

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


# Annotations pass through ----------------------------------------------------------------------


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


def test_classes_written_as_text_match_typed_labels():
    """As on the command line: ``--classes 1,0 --extra-answers 9`` on a typed source."""
    frame = pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 2, 1], "label": [0, 9, 1]})
    annotations = annotations_from(frame, classes=["1", "0"], extra_answers=["9"])
    assert annotations.classes.tolist() == ["1", "0"]
    assert annotations.codes.item_answer.tolist() == [1, 2, 0]
    guessed = annotations_from(frame, extra_answers=["9"])
    assert guessed.classes.tolist() == [0, 1]
    assert guessed.codes.item_answer.tolist() == [0, 2, 1]
