"""The order of rows changes nothing; values stand in one order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from builders.frames import labels_of
from coterie.data import annotations_from

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
