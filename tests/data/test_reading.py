"""Every kind of source, form and type of cell is read as the same labels, in the same order."""

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

from builders.frames import TRIPLES, WIDE, frame_of, labels_of, refused
from coterie.data import annotations_from
from coterie.errors import DataWarning, MissingExtraError

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
    said = [(2, "w", labels[2]), (2, "x", labels[0]), (10, "x", labels[1])]
    assert labels_of(annotations) == said


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "mapping"])
@pytest.mark.parametrize("blank", [None, " "])
def test_a_missing_cell_is_refused(source, blank):
    name = "list of triples" if source in ("numpy", "triples", "generator") else "frame"
    for column in ("item", "annotator", "label"):
        frame = frame_of("item", "annotator", "label").astype(object)
        frame.loc[2, column] = blank
        assert refused(SOURCES[source](frame)) == (
            f"row 2 of the {name} (the first is row 0) has a blank {column}; "
            "fill it in, or remove the row"
        )


def test_polars_without_pyarrow_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="reading a polars frame needs pyarrow: pip"):
        annotations_from(pl.DataFrame({"item": [1], "annotator": [1], "label": [1]}))


HEADERS = """item annotator label; task worker label; item rater rating; example annotator value
TaskID WorkerID WorkerLabel; object worker label; question worker answer; _unit_id _worker_id response
HITId WorkerId Answer.category; orig_id !amt_worker_ids response; _input_hash _session_id answer
ASSIGNMENT:task_id ASSIGNMENT:worker_id OUTPUT:result; id completed_by choice; itemId userId class
sentence judge verdict; image-id model category; Task-Id Rater-Name Judgement; item coder label
"""  # noqa: E501


@pytest.mark.parametrize("names", HEADERS.replace("\n", "; ").strip("; ").split("; "))
def test_the_names_people_use_are_understood_in_any_order(names):
    frame = frame_of(*names.split())
    annotations = annotations_from(frame)
    assert annotations.columns == tuple(names.split())
    assert labels_of(annotations) == TRIPLES
    more = frame.assign(seconds=1.5, timestamp="now", AssignmentId="x", text="a")
    assert annotations_from(more[more.columns[::-1]]).columns == tuple(names.split())


def test_what_was_taken_is_logged_and_kept(caplog):
    caplog.set_level(logging.INFO, "coterie")
    annotations = annotations_from(frame_of("task", "worker", "label").assign(gold="yes"))
    sentence = (
        "the frame: item 'task', annotator 'worker', label 'label' "
        "(not read: 'gold', named like known labels)"
    )
    said = [(r.name, r.levelname, r.message) for r in caplog.records]
    assert said == [("coterie", "INFO", sentence)]
    assert annotations.origin == sentence


def test_of_a_thing_and_its_id_the_id_is_taken_unless_the_user_names_one():
    frame = frame_of("question_id", "worker_name", "answer")
    frame = frame.assign(question="why?", worker_id=[*"abab"])
    assert annotations_from(frame).columns == ("question_id", "worker_id", "answer")
    named = annotations_from(frame_of("a", "b", "c"), item="a", annotator="b", label="c")
    assert labels_of(named) == TRIPLES
    frame = frame_of("item", "worker", "label").assign(task=[*"zzyy"], rater="x")
    assert annotations_from(frame, item="task", annotator="worker").items.tolist() == ["y", "z"]


WIDE_LABELS = [(t, who, said) for t, both in (("t10", ("no", "yes")), ("t2", ("yes", "no")))
               for who, said in zip(("ann", "bob"), both, strict=True)]  # fmt: skip


def test_the_wide_form_is_recognised_with_items_and_annotators_without_labels():
    annotations = annotations_from(WIDE, gold="truth")
    assert annotations_from(WIDE).origin == (
        "the frame: item 'task', one column per annotator: 'ann', 'bob', 'cy' "
        "(not read: 'truth', named like known labels)"
    )
    assert annotations.columns == ("task", "ann", "bob", "cy")
    assert labels_of(annotations) == WIDE_LABELS
    assert annotations.items.tolist() == ["t10", "t2", "t3"]
    assert annotations.labels_per_item.tolist() == [2, 2, 0]
    assert annotations.labels_per_annotator.tolist() == [2, 2, 0]
    assert annotations.gold == {"t2": "yes", "t3": "no"}
    frame = pl.DataFrame({"task": [1, 2], "ann": ["yes", "no"], "bob": ["no", "no"], "cy": None})
    assert annotations_from(frame).labels_per_annotator.tolist() == [2, 2, 0]


@pytest.mark.parametrize("make", [list, tuple, pd.Index])
def test_the_wide_form_can_be_asked_for(make):
    frame = WIDE.assign(text=["one", "two", "three"]).rename(columns={"task": "thing"})
    annotations = annotations_from(frame, item="thing", annotator=make(["bob", "ann"]))
    assert labels_of(annotations) == WIDE_LABELS
    assert annotations.annotators.tolist() == ["ann", "bob"]


def test_a_nameless_index_names_the_items_of_the_wide_form():
    frame = pd.DataFrame({7: [0, 1, np.nan], 8: [1, 1, 0]}, index=["k", "i", "j"])
    for annotations in (annotations_from(frame), annotations_from(frame, annotator=[7, 8])):
        assert annotations.items.tolist() == ["i", "j", "k"]
        assert annotations.annotators.tolist() == [7, 8]
        assert annotations.classes.tolist() == [0, 1]
        assert annotations.origin == "the frame: item the index, one column per annotator: 7, 8"


def test_types_of_cells_stay_what_they_are():
    frame = frame_of("item", "annotator", "label")
    days = pd.to_datetime(["2020-02-01", "2020-01-01", "2020-02-01", "2020-01-01"])
    assert annotations_from(frame.assign(label=days)).classes.tolist() == sorted(set(days))
    words = pd.Categorical(frame["label"], categories=["yes", "maybe", "no"], ordered=True)
    assert annotations_from(frame.assign(label=words)).classes.tolist() == ["no", "yes"]
    small = {
        "item": np.array([2**64 - 1, 3, 3], np.uint64),
        "annotator": np.array([127, -128, 127], np.int8),
        "label": np.array([1, 0, 0], np.uint8),
    }
    said = [(3, -128, 0), (3, 127, 0), (2**64 - 1, 127, 1)]
    assert labels_of(annotations_from(pd.DataFrame(small))) == said
    triples = [(2**70 + 1, "ann", "yes"), (2**70, "bob", "no"), (-1, "bob", "no")]
    assert annotations_from(triples).items.tolist() == [-1, 2**70, 2**70 + 1]
    triples = [((1, 2), "ann", "yes"), ((1, 10), "bob", "no")]
    assert set(annotations_from(triples).items.tolist()) == {(1, 2), (1, 10)}
    with pytest.warns(DataWarning, match="which count as different"):
        assert annotations_from([(1, "a", "x"), ("1", "a", "y"), (2, "b", "y")]).n_items == 3


@pytest.mark.parametrize("labels", [(1, 1.0, np.int8(1), 0), (1.0, 0, np.float32(1), 1)])
def test_equal_numbers_of_different_types_are_one_label_whatever_comes_first(labels):
    triples = [(i, "ab"[i % 2], label) for i, label in enumerate(labels)]
    assert list(map(repr, annotations_from(triples).classes.tolist())) == ["0.0", "1.0"]


@pytest.mark.parametrize("labels", [(1, True, 0), (True, 2, 1.0), (0, np.False_, 5), (0.0, False)])
def test_a_boolean_and_a_number_that_are_equal_are_refused(labels):
    triples = [(f"q{i}", "ab"[i % 2], label) for i, label in enumerate(labels)]
    frame = pd.DataFrame(triples, columns=["item", "annotator", "label"])
    for data, name in ((triples, "list of triples"), (frame, "frame")):
        assert refused(data).startswith(f"the column 'label' of the {name} holds ")


def test_a_boolean_stays_one_beside_other_numbers():
    classes = annotations_from([(1, "a", True), (1, "b", 2), (2, "a", 3.0)]).classes
    assert list(map(repr, classes.tolist())) == ["True", "2.0", "3.0"]


def test_declared_classes_and_extra_answers():
    annotations = annotations_from(TRIPLES, classes=["yes", "maybe", "no"])
    assert annotations.classes.tolist() == ["yes", "maybe", "no"]
    assert labels_of(annotations) == TRIPLES
    as_set = annotations_from(TRIPLES, classes={"yes", "no", "b"})
    assert as_set.classes.tolist() == ["b", "no", "yes"]
    rows = [*TRIPLES, ("q3", "bob", "unsure")]
    annotations = annotations_from(rows, extra_answers=["skip", "unsure"])
    assert annotations.answers.tolist() == ["no", "yes", "skip", "unsure"]
    assert (annotations.codes.n_classes, annotations.codes.n_answers) == (2, 4)
    assert labels_of(annotations)[-1] == ("q3", "bob", "unsure")


def test_classes_written_as_text_match_typed_labels():
    """As on the command line: ``--classes 1,0 --extra-answers 9`` on a typed source."""
    frame = pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 2, 1], "label": [0, 9, 1]})
    annotations = annotations_from(frame, classes=["1", "0"], extra_answers=["9"])
    assert annotations.classes.tolist() == ["1", "0"]
    assert annotations.codes.item_answer.tolist() == [1, 2, 0]
    guessed = annotations_from(frame, extra_answers=["9"])
    assert guessed.classes.tolist() == [0, 1]
    assert guessed.codes.item_answer.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("duplicates", "said"),
    [("first", ["yes"]), ("last", ["maybe"]), ("keep", ["maybe", "no", "yes"])],
)
def test_repeated_labels_are_what_the_user_says(duplicates, said):
    rows = [*TRIPLES, ("q1", "ann", "no"), ("q3", "ann", "yes"), ("q1", "ann", "maybe")]
    annotations = annotations_from(rows, duplicates=duplicates)
    assert [c for i, l, c in labels_of(annotations) if (i, l) == ("q1", "ann")] == said
    assert (annotations.n_labels, annotations.n_repeated) == (4 + len(said), len(said) - 1)
    assert annotations.sparsity == pytest.approx(1 / 6)


@pytest.mark.parametrize("word", ["unsure", " Skip", "don't know", "N/A", "nan", "None", "?"])
def test_what_reads_like_no_answer_is_asked_about(word, recwarn):
    rows = [(i, w, "yes" if (i + w) % 3 else "no") for i in range(6) for w in range(4)]
    annotations_from(rows)
    rows += [(0, 9, word), (1, 9, word)]
    annotations_from(rows, extra_answers=[word])
    annotations_from(rows, classes=["yes", "no", word])
    annotations_from([(f" {i}", w, "yes" if w else "no") for i in range(3) for w in range(3)])
    annotations_from([(i, w, f"class {i % 30}") for i in range(120) for w in range(3)])
    assert not recwarn.list
    with pytest.warns(DataWarning) as caught:
        annotations_from(rows)
    assert f"{word!r} (2); pass extra_answers=[{word!r}]" in str(caught[0].message)


WORDS = ["1", "01", "1.0", "2", "10", "1e1", "-3", "x", "X", "é", "zz ", "10000000000000000001"]
ids = st.one_of(st.integers(-30, 30), st.sampled_from(WORDS))


@st.composite
def tables(draw):
    label = st.sampled_from(["yes", "no", "maybe", "3"])
    rows = draw(st.lists(st.tuples(ids, ids, label), min_size=1))
    return [*rows, (0, 0, "yes"), (0, 1, "no")]


@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
@given(tables(), st.randoms())
def test_the_order_of_the_rows_changes_not_one_bit_and_the_frame_gives_them_back(rows, random):
    ours = annotations_from(rows, duplicates="keep")
    theirs = annotations_from(random.sample(rows, len(rows)), duplicates="keep")
    for name in ("items", "annotators", "classes"):
        one, other = getattr(ours, name), getattr(theirs, name)
        assert one.dtype == other.dtype
        assert list(map(repr, one.tolist())) == list(map(repr, other.tolist()))
    for one, other in zip(ours.codes[:7], theirs.codes[:7], strict=True):
        assert one.tobytes() == other.tobytes()
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
    annotations = annotations_from([(word, "ab"[i % 2], word) for i, word in enumerate(words)])
    assert annotations.classes.tolist() == ordered.split()
    assert annotations.items.tolist() == ordered.split()
