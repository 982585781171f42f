"""Known labels, where labels come from, and what is given back."""

import inspect
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

import coterie
from builders.frames import TRIPLES, frame_of
from coterie.data import annotations_from, frames, known_labels, truth_for, with_gold
from coterie.data.provenance import Form, Format, Gold, Provenance, Source
from coterie.errors import CoterieError, DataError

GOLD = {"q2": "no"}
FRAME = pd.DataFrame(
    {
        "task": ["q1", "q1", "q2"],
        "worker": ["ann", "bob", "ann"],
        "label": ["yes", "no", "no"],
        "truth": ["yes", "yes", None],
    }
)


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


def test_gold_from_a_column_may_be_blank_and_leaves_the_input_as_it_was():
    frame = frame_of("item", "annotator", "label").assign(gold=["yes", None, " ", ""])
    before = frame.copy(deep=True)
    annotations = annotations_from(frame, gold="gold")
    assert annotations.gold == {"q1": "yes"}
    assert annotations.origin.endswith("label 'label', gold 'gold'")
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[0, "label"] = "no"  # still writable


def test_gold_numbers_match_whatever_their_type():
    frame = pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 2, 1], "label": [0, 1, 1]})
    assert annotations_from(frame.assign(gold=[1, 1, np.nan]), gold="gold").gold == {1: 1}
    assert annotations_from(frame, gold={"1": "0"}).gold == {1: 0}
    assert annotations_from(frame.astype(str), gold={1: 0}).gold == {"1": "0"}


def test_contradictory_truth():
    with pytest.raises(DataError, match=r"^item 'q1' has several labels in gold; keep one$"):
        known_labels(pd.Series(["no", "yes"], index=["q1", "q1"]))


def test_truth_is_written_as_in_the_data():
    crowd = annotations_from([(1, "ann", "yes"), (1, "bob", "no"), (2, "bob", "no")])
    assert truth_for(crowd, {"2": "no", "9": "yes"}).to_dict() == {2: "no", "9": "yes"}


def test_annotations_pass_through():
    annotations = annotations_from(TRIPLES)
    assert annotations_from(annotations) is annotations
    assert annotations_from(annotations, gold=GOLD).gold == GOLD


def test_where_a_frame_was_taken_and_what_was_asked_is_kept():
    found = coterie.read(FRAME).provenance
    long = {"form": Form.LONG, "item": "task", "annotators": ("worker",), "label": "label"}
    assert found == Provenance(Source("the frame", Format.FRAME), **long, unread=("truth",))
    assert found.columns == ("task", "worker", "label")
    told = {"classes": ["no", "yes"], "extra_answers": ["unsure"], "duplicates": "last"}
    annotations = coterie.read(FRAME, gold="truth", **told)
    found = annotations.provenance
    assert (found.classes, found.extra_answers) == (("no", "yes"), ("unsure",))
    assert found.duplicates == "last"
    assert found.gold == Gold(column="truth")
    other = replace(annotations, provenance=replace(found, item="thing", gold=None, unread=()))
    assert other.columns == ("thing", "worker", "label")
    assert other.origin == "the frame: item 'thing', annotator 'worker', label 'label'"


def test_known_labels_in_memory_are_told_however_they_come():
    known = pd.DataFrame({"item": ["q2"], "label": "no"})
    frame, mapping = Source("the gold frame", Format.FRAME), Source("gold", Format.MAPPING)
    for gold, source in ((GOLD, mapping), (pd.Series(GOLD), mapping), (known, frame)):
        annotations = coterie.read(FRAME, gold=gold)
        assert annotations.provenance.gold == Gold(source=source)
    annotations = coterie.MajorityVote().fit(FRAME, {"q2": "yes"}).posterior_.annotations
    assert annotations.provenance.gold == Gold(source=mapping)
    crowd = coterie.read(FRAME)
    assert crowd.with_gold_codes([0, -1]).provenance.gold.source.format is Format.CODES
    assert replace(crowd, provenance=None).with_gold_codes([0, -1]).provenance is None


@pytest.mark.parametrize(
    ("name", "write", "format"),
    [
        ("a.csv", lambda path: FRAME.to_csv(path, index=False), Format.TEXT),
        ("a.parquet", lambda path: FRAME.to_parquet(path), Format.PARQUET),
        ("a.jsonl", lambda path: FRAME.to_json(path, orient="records", lines=True), Format.JSONL),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_is_named_as_the_user_named_it(tmp_path, monkeypatch, name, write, format):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / name)
    (tmp_path / "known.csv").write_text("item,label\nq2,no\n", "utf-8")
    annotations = coterie.read(f"./{name}", gold="known.csv")
    assert annotations.provenance.source == Source(name, format, f"./{name}")
    assert annotations.provenance.gold == Gold(source=Source("known.csv", Format.TEXT, "known.csv"))
    assert annotations.origin.endswith("label 'label', gold from known.csv")


def test_where_the_wide_form_was_taken():
    wide = pd.DataFrame({"task": [7, 8, 9], "ann": ["a", "b", "a"], "bob": ["a", None, "b"]})
    found = coterie.read(wide).provenance
    assert (found.form, found.item, found.annotators) == (Form.WIDE, "task", ("ann", "bob"))
    assert found.label is None
    indexed = coterie.read(wide.set_index("task").rename_axis(None)).provenance
    assert (indexed.item, indexed.columns) == (None, ("ann", "bob"))
    said = "the frame: item the index, one column per annotator: 'ann', 'bob'"
    assert indexed.sentence() == said


ROWS = [
    (i, name, "no" if (i + (name == "cy" and i % 2)) % 3 else "yes")
    for i in range(9)
    for name in ("ann", "bob", "cy")
]
TABLES = {
    "labels": {}, "probabilities": {}, "annotators": {}, "confusion": {}, "predict": {"more": ROWS},
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    frame = pl.DataFrame(ROWS, ["item", "annotator", "label"], orient="row")
    return coterie.DawidSkene().fit(frame)


@pytest.mark.parametrize("name", TABLES)
def test_polars_holds_what_pandas_holds(model, name):
    method = getattr(model.posterior_, name)
    ours, theirs = method(**TABLES[name]), method(**TABLES[name], to="polars")
    assert isinstance(theirs, pl.DataFrame)
    flat = ours if name in ("labels", "annotators", "predict") else ours.reset_index()
    assert theirs.columns == list(map(str, flat.columns))
    assert theirs.rows() == [tuple(row) for row in flat.itertuples(index=False)]
    assert inspect.signature(method).parameters["to"].default == "pandas"


def test_estimators_and_annotations_give_them_too(model, monkeypatch):
    assert model.predict(to="polars").columns == ["item", "label"]
    assert model.predict_proba(to="polars").columns == ["item", "no", "yes"]
    assert model.posterior_.annotations.to_frame(to="polars").height == 27
    assert isinstance(model.posterior_.labels(to="pyarrow"), pyarrow.Table)
    assert model.posterior_.readings(to="polars") is None
    with pytest.raises(CoterieError, match=r"to='polar' is not one .*did you mean 'polars'\?"):
        model.posterior_.labels(to="polar")
    monkeypatch.setattr(frames.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CoterieError, match="to='polars' needs polars: pip install polars"):
        model.posterior_.labels(to="polars")


def test_import_loads_nothing_heavy():
    heavy = {"numba", "pandas", "scipy", "narwhals", "pyarrow", "polars"}
    code = f"import sys, coterie; print(sorted(set(sys.modules) & {heavy})); "
    code += "import coterie.data.frames; print(sorted({'polars', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"
