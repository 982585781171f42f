"""What aggregate reads: options, standard input, forms; bad input is one sentence."""

import gzip
import hashlib
import json

from builders.command import ROWS, coterie


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
