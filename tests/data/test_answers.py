"""Classes and extra answers: as declared, or every label seen."""

import pandas as pd
import pytest

from builders.frames import TRIPLES, labels_of, refused
from coterie.data import annotations_from
from coterie.errors import DataWarning


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


def test_classes_written_as_text_match_typed_labels():
    """As on the command line: ``--classes 1,0 --extra-answers 9`` on a typed source."""
    frame = pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 2, 1], "label": [0, 9, 1]})
    annotations = annotations_from(frame, classes=["1", "0"], extra_answers=["9"])
    assert annotations.classes.tolist() == ["1", "0"]
    assert annotations.codes.item_answer.tolist() == [1, 2, 0]
    guessed = annotations_from(frame, extra_answers=["9"])
    assert guessed.classes.tolist() == [0, 1]
    assert guessed.codes.item_answer.tolist() == [0, 2, 1]
