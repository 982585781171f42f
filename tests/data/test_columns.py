"""Which column holds what: the names people use, and what is refused."""

import logging

import pytest

from builders.frames import TRIPLES, frame_of, labels_of, refused
from coterie.data import annotations_from

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
