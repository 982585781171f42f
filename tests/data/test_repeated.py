"""An annotator's repeated labels of one item."""

import pytest

from builders.frames import TRIPLES, labels_of, refused
from coterie.data import annotations_from

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
        "an earlier label (2 in all, none of which says the same; first item 'q1', annotator "
        "'ann'); pass duplicates='first' or duplicates='last' to keep one label of each, or "
        "duplicates='keep' to count them all"
    )
    assert refused([*TRIPLES, TRIPLES[0]]).startswith(
        "row 4 of the list of triples (the first is row 0) repeats the item and annotator of an "
        "earlier label (1 in all, which says the same; "
    )
