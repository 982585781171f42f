"""What aggregate reads: options, standard input, forms; bad input is one sentence."""

import gzip
import hashlib
import json

import pytest

from builders.command import ROWS, coterie
from coterie.models import MODELS


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--format", "ods", "--out", "r"],
            "no format 'ods'; choose one of csv, parquet, json, xlsx",
        ),
        (["--model", "magic"], f"no model 'magic'; choose one of {', '.join(MODELS)}"),
        (["--out", "labels.csv"], "labels.csv is a file, not a folder; choose another --out"),
    ],
)
def test_bad_options_get_one_sentence(labels, arguments, sentence):
    done = coterie("aggregate", labels.name, *arguments, cwd=labels.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {sentence}")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in labels.parent.iterdir()] == ["labels.csv"]


def test_bad_data_get_one_sentence_and_nothing_is_written(tmp_path):
    (tmp_path / "bad.csv").write_text("item,annotator,label\nq1,ann,yes\nq2,,no\n", "utf-8")
    done = coterie("aggregate", "bad.csv", "--out", "result", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert "row 3" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_standard_input_and_gzip_give_the_same(labels, tmp_path):
    zipped = tmp_path / "labels.csv.gz"
    zipped.write_bytes(gzip.compress(labels.read_bytes()))
    results = []
    for name, source, stdin in (("a", labels, None), ("b", zipped, None), ("c", "-", ROWS)):
        done = coterie("aggregate", source, "--model", "ds", "--out", tmp_path / name, stdin=stdin)
        assert done.returncode == 0, done.stderr
        results.append((tmp_path / name / "labels.csv").read_bytes())
    assert results[0] == results[1] == results[2]
    record = json.loads((tmp_path / "c" / "run.json").read_text("utf-8"))
    assert record["input"]["sha256"] == hashlib.sha256(ROWS.encode()).hexdigest()


def test_classes_and_extra_answers(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(ROWS.replace("q3,cat,no", "q3,cat,unsure"), "utf-8")
    done = coterie("aggregate", path, "--classes", "yes,no")
    assert done.returncode == 1
    assert "'unsure'" in done.stderr
    done = coterie(
        "aggregate", path, "--model", "ds", "--classes", "yes,no", "--extra-answers", "unsure"
    )
    assert done.returncode == 0, done.stderr
    assert "2 classes, 1 extra answer" in done.stdout


def test_the_wide_form_can_be_asked_for(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("item,ann,bob,note\nq1,yes,no,x\nq2,no,,y\nq3,yes,yes,z\n", "utf-8")
    done = coterie("aggregate", path, "--model", "ds", "--annotator", "ann,bob")
    assert done.returncode == 0, done.stderr
    assert "3 items x 2 annotators, 5 labels, 2 classes" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["--seed", "-1", "--model", "ibcc"], ["--jobs", "0", "--model", "ibcc"]]
)
def test_impossible_numbers_are_refused_without_a_traceback(labels, arguments):
    done = coterie("aggregate", labels, *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
