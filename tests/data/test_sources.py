"""Every kind of source gives the same annotations, and what is no source is refused."""

import datetime
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from builders.frames import TRIPLES, frame_of, labels_of, refused
from coterie.data import annotations_from
from coterie.errors import MissingExtraError

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
            "the column 'label' of the frame holds lists or the like (unhashable type: 'list'); "
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
