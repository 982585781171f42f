"""Provenance: what was read, and how, as data; the sentence is made from it."""

from dataclasses import replace

import pandas as pd
import pytest

import coterie
from coterie.data.provenance import Form, Format, Gold, Provenance, Source

FRAME = pd.DataFrame(
    {
        "task": ["q1", "q1", "q2"],
        "worker": ["ann", "bob", "ann"],
        "label": ["yes", "no", "no"],
        "truth": ["yes", "yes", None],
    }
)
LONG = {"form": Form.LONG, "item": "task", "annotators": ("worker",), "label": "label"}


def test_a_frame():
    found = coterie.read(FRAME).provenance
    assert found == Provenance(Source("the frame", Format.FRAME), **LONG, unread=("truth",))
    assert found.columns == ("task", "worker", "label")


def test_what_was_asked_is_kept():
    annotations = coterie.read(
        FRAME, classes=["no", "yes"], extra_answers=["unsure"], duplicates="last", gold="truth"
    )
    found = annotations.provenance
    assert (found.classes, found.extra_answers) == (("no", "yes"), ("unsure",))
    assert found.duplicates == "last"
    assert found.gold == Gold(column="truth")
    assert annotations.origin.endswith("label 'label', gold 'truth'")


@pytest.mark.parametrize(
    ("gold", "source"),
    [
        ({"q2": "no"}, Source("gold", Format.MAPPING)),
        (pd.Series({"q2": "no"}), Source("gold", Format.MAPPING)),
        (pd.DataFrame({"item": ["q2"], "label": "no"}), Source("the gold frame", Format.FRAME)),
    ],
    ids=["mapping", "series", "frame"],
)
def test_known_labels_in_memory(gold, source):
    annotations = coterie.read(FRAME, gold=gold)
    assert annotations.provenance.gold == Gold(source=source)
    assert coterie.read(annotations, gold={"q1": "yes"}).gold == {"q1": "yes"}


def test_known_labels_given_to_fit_are_told_too():
    annotations = coterie.MajorityVote().fit(FRAME, {"q2": "yes"}).posterior_.annotations
    assert annotations.provenance.gold == Gold(source=Source("gold", Format.MAPPING))


def test_known_classes_given_as_codes():
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


def test_the_wide_form():
    wide = pd.DataFrame({"task": [7, 8, 9], "ann": ["a", "b", "a"], "bob": ["a", None, "b"]})
    found = coterie.read(wide).provenance
    assert (found.form, found.item, found.annotators) == (Form.WIDE, "task", ("ann", "bob"))
    assert found.label is None
    indexed = coterie.read(wide.set_index("task").rename_axis(None)).provenance
    assert indexed.item is None
    assert indexed.columns == ("ann", "bob")
    assert indexed.sentence() == (
        "the frame: item the index, one column per annotator: 'ann', 'bob'"
    )


def test_columns_and_origin_follow_the_provenance():
    crowd = coterie.read(FRAME)
    other = replace(crowd, provenance=replace(crowd.provenance, item="thing", unread=()))
    assert other.columns == ("thing", "worker", "label")
    assert other.origin == "the frame: item 'thing', annotator 'worker', label 'label'"
