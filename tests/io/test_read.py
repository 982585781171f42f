"""coterie.read: files of every kind give the same annotations."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coterie
from coterie.errors import DataWarning, MissingExtraError
from coterie.io.files import find
from coterie.io.read import read_truth

TEXT = "item,annotator,label\n007,ann,yes\n007,bob,no\n12,ann,no\n"
LABELS = [("007", "ann", "yes"), ("007", "bob", "no"), ("12", "ann", "no")]


def labels_of(annotations):
    return list(annotations.to_frame().itertuples(index=False, name=None))


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("a.csv", TEXT, ""),
        ("a.tsv", TEXT.replace(",", "\t"), ""),
        ("a.csv.gz", gzip.compress(TEXT.encode(), mtime=0), ""),
        ("zipped.csv", gzip.compress(TEXT.encode(), mtime=0), ""),
        ("a.tsv.gz", gzip.compress(TEXT.replace(",", "\t").encode(), mtime=0), ""),
        ("a.txt", TEXT.replace(",", "\t"), " (separated by '\\t')"),
        ("semicolon.csv", TEXT.replace(",", ";"), " (separated by ';')"),
        ("tab.csv", TEXT.replace(",", "\t"), " (separated by '\\t')"),
        ("pipe.csv", TEXT.replace(",", "|"), " (separated by '|')"),
        ("comma.tsv", TEXT, " (separated by ',')"),
        ("mark.csv", b"\xef\xbb\xbf" + TEXT.encode(), ""),
        ("wide characters.csv", TEXT.encode("utf-16"), " (UTF-16)"),
        ("big end.csv", b"\xfe\xff" + TEXT.encode("utf-16-be"), " (UTF-16)"),
        ("windows.csv", TEXT.replace("\n", "\r\n"), ""),
        ("mac.csv", TEXT.replace("\n", "\r"), ""),
        ("no end of line.csv", TEXT.rstrip(), ""),
        ("blank lines.csv", "\n" + TEXT.replace("\n", "\n\n") + " \n,,\n", ""),
        ("no suffix", TEXT, ""),
        ("quoted.csv", TEXT.replace("ann,", '"ann",'), ""),
    ],
)
def test_text_files(tmp_path, name, content, note):
    annotations = coterie.read(written(tmp_path, name, content))
    assert labels_of(annotations) == LABELS
    assert annotations.origin == (
        f"{name}{note}: item 'item', annotator 'annotator', label 'label'"
    )


def test_a_path_may_be_text_or_begin_at_home(tmp_path, monkeypatch):
    path = written(tmp_path, "a.csv", TEXT)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert labels_of(coterie.read(str(path))) == labels_of(coterie.read("~/a.csv")) == LABELS


def test_strings_stay_exactly_as_written(tmp_path):
    text = 'item,annotator,label\n" q, 1\nline two",1.0,é\n007,NA,"say ""no"""\n'
    assert labels_of(coterie.read(written(tmp_path, "a.csv", text))) == [
        (" q, 1\nline two", "1.0", "é"),
        ("007", "NA", 'say "no"'),
    ]


@pytest.mark.parametrize("content", [TEXT.encode(), gzip.compress(TEXT.encode(), mtime=0)])
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    annotations = coterie.read("-")
    assert labels_of(annotations) == LABELS
    assert annotations.origin.startswith("standard input: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TEXT,))
    writer.start()
    annotations = coterie.read(pipe)
    writer.join()
    assert labels_of(annotations) == LABELS


TYPED = pd.DataFrame(
    {"task": [7, 7, 12], "worker": ["ann", "bob", "ann"], "label": [True, False, False], "x": 0.5}
)


def test_parquet_keeps_types(tmp_path):
    TYPED.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").rename(tmp_path / "any name")
    annotations = coterie.read(tmp_path / "any name")
    assert annotations.items.dtype == np.int64
    assert labels_of(annotations) == labels_of(coterie.read(TYPED))
    assert annotations.columns == ("task", "worker", "label")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = written(tmp_path, "a.parquet", b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError) as caught:
        coterie.read(path)
    assert str(caught.value) == 'reading Parquet needs pyarrow: pip install "coterie[parquet]"'


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "no suffix"])
def test_jsonl_keeps_types(tmp_path, name):
    lines = [json.dumps(row) for row in TYPED.to_dict("records")]
    content = ("\n\n".join(lines) + "\n").encode()
    path = written(
        tmp_path, name, gzip.compress(content, mtime=0) if name.endswith("gz") else content
    )
    annotations = coterie.read(path)
    assert annotations.items.dtype == np.int64
    assert annotations.classes.tolist() == [False, True]
    assert labels_of(annotations) == labels_of(coterie.read(TYPED))


def test_the_wide_form_of_a_file(tmp_path):
    text = ",ann,bob,cy\nq1,yes,no,\nq2,,,\nq3,no,no,\n"
    annotations = coterie.read(written(tmp_path, "a.csv", text))
    assert labels_of(annotations) == [
        ("q1", "ann", "yes"),
        ("q1", "bob", "no"),
        ("q3", "ann", "no"),
        ("q3", "bob", "no"),
    ]
    assert annotations.items.tolist() == ["q1", "q2", "q3"]
    assert annotations.annotators.tolist() == ["ann", "bob", "cy"]
    assert annotations.origin == (
        "a.csv: item the index, one column per annotator: 'ann', 'bob', 'cy'"
    )


def test_gold_from_a_column_wins_over_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "truth", "item,label\n12,yes\n")
    text = "item,annotator,label,truth\nq1,ann,yes,no\nq1,bob,no,\n12,bob,yes,\n"
    path = written(tmp_path, "a.csv", text)
    assert coterie.read(path, gold="truth").gold == {"q1": "no"}
    assert coterie.read(LABELS, gold="truth").gold == {"12": "yes"}


@pytest.mark.parametrize("content", ["task,gold\n12,yes\n007,\n", "a;b\n12;yes\n"])
def test_gold_from_a_file(tmp_path, content):
    path = written(tmp_path, "gold.csv", content)
    labels = written(tmp_path, "a.csv", TEXT)
    assert coterie.read(labels, gold=path).gold == {"12": "yes"}
    assert coterie.read(labels, gold=str(path)).gold == {"12": "yes"}
    assert coterie.read(coterie.read(labels), gold=path).gold == {"12": "yes"}
    assert coterie.read(find(labels), gold=find(path)).gold == {"12": "yes"}
    assert read_truth(path).to_dict() == {"12": "yes"}


def test_gold_from_a_text_file_fits_typed_labels(tmp_path):
    path = written(tmp_path, "gold.csv", "task,gold\n12,False\n")
    assert coterie.read(TYPED, gold=path).gold == {12: False}


def test_annotations_pass_through():
    annotations = coterie.read(LABELS)
    assert coterie.read(annotations) is annotations


def test_warnings_name_the_file(tmp_path):
    path = written(tmp_path, "a.csv", TEXT + "12,bob,Yes\n")
    with pytest.warns(DataWarning) as caught:
        coterie.read(path)
    assert str(caught[0].message) == (
        "labels of a.csv that differ only by case or surrounding blanks count as different "
        "(how often): 'Yes' (1), 'yes' (1); write them alike if they mean the same"
    )


cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5
).filter(str.strip)


@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
@settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(cells, cells, cells)), st.sampled_from(",;\t|"))
def test_any_text_comes_back_from_a_file(tmp_path, rows, delimiter):
    rows = [*rows, ("i", "l", "0"), ("i", "m", "1")]
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, delimiter=delimiter).writerows([("item", "annotator", "label"), *rows])
    ours = coterie.read(rows, duplicates="keep")
    theirs = coterie.read(path, duplicates="keep")
    assert labels_of(ours) == labels_of(theirs)
    for one, other in zip(ours.codes[:7], theirs.codes[:7], strict=True):
        assert one.tobytes() == other.tobytes()


def test_reading_text_needs_neither_numba_nor_pyarrow(tmp_path):
    path = written(tmp_path, "a.csv", TEXT)
    code = (
        "import sys; sys.modules['pyarrow'] = None; sys.modules['numba'] = None; "
        f"import coterie; print(coterie.read({str(path)!r}).n_labels)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "3"
