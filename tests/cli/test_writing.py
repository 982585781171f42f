"""What aggregate writes: never over something unasked, and all or nothing."""

import hashlib
import json
import subprocess
import sys

import pandas as pd
import pytest

from builders.command import coterie, coterie_process

READERS = {"parquet": pd.read_parquet, "json": pd.read_json, "xlsx": pd.read_excel}


def test_aggregate_writes_what_it_says(labels, tmp_path):
    out = tmp_path / "result"
    done = coterie_process("aggregate", labels, "--model", "majority", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "3 items x 3 annotators, 9 labels, 2 classes" in done.stdout
    assert "item 'task', annotator 'worker', label 'label'" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "annotators.csv", "confusion.csv", "labels.csv", "report.html", "run.coterie", "run.json",
    ]  # fmt: skip
    table = pd.read_csv(out / "labels.csv")
    assert table.columns.tolist() == [
        "item", "label", "probability", "entropy", "n_labels", "runner_up", "review", "p(no)",
        "p(yes)",
    ]  # fmt: skip
    assert table["label"].tolist() == ["yes", "no", "yes"]
    annotators = pd.read_csv(out / "annotators.csv")
    assert annotators["annotator"].tolist() == ["ann", "bob", "cat"]
    assert annotators["n_labels"].tolist() == [3, 3, 3]
    record = json.loads((out / "run.json").read_text("utf-8"))
    assert record["model"] == "MajorityVote"
    assert record["settings"]["ties"] == "lowest"
    assert record["seed"] == 0
    assert record["input"]["sha256"] == hashlib.sha256(labels.read_bytes()).hexdigest()
    assert record["input"]["labels"] == 9


def test_results_are_never_overwritten_unasked(labels, tmp_path):
    out = tmp_path / "result"
    assert coterie("aggregate", labels, "--model", "ds", "--out", out).returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    again = coterie("aggregate", labels, "--model", "ds", "--out", out, "--model", "majority")
    assert again.returncode == 1
    assert again.stderr == (
        f"Error: {out} already holds labels.csv, annotators.csv, confusion.csv, run.json,"
        " run.coterie, report.html; choose another --out, or pass --force\n"
    )
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    forced = coterie(
        "aggregate", labels, "--out", out, "--model", "majority", "--force", "--no-report"
    )
    assert forced.returncode == 0
    assert json.loads((out / "run.json").read_text("utf-8"))["model"] == "MajorityVote"
    assert not (out / "report.html").exists()  # it was about the other run


@pytest.mark.parametrize("format", ["parquet", "json", "xlsx"])
def test_other_formats(labels, tmp_path, format):
    out = tmp_path / "result"
    assert (
        coterie("aggregate", labels, "--model", "ds", "-o", out, "--format", format).returncode == 0
    )
    path = out / f"labels.{format}"
    table = READERS[format](path)
    assert table["item"].tolist() == ["q1", "q2", "q3"]


def test_a_reader_that_stops_early_loses_no_file(labels, tmp_path):
    command = f"{sys.executable} -m coterie aggregate {labels} -m ds --out result | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=tmp_path, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert (tmp_path / "result" / "run.json").exists()


def test_another_format_leaves_no_stale_table(labels, tmp_path):
    out = tmp_path / "result"
    assert coterie("aggregate", labels, "--model", "ds", "--out", out).returncode == 0
    refused = coterie("aggregate", labels, "--model", "ds", "--out", out, "--format", "json")
    assert refused.returncode == 1
    assert "already holds run.json, run.coterie, report.html, labels.csv," in refused.stderr
    forced = coterie(
        "aggregate", labels, "--model", "ds", "--out", out, "--format", "json", "--force"
    )
    assert forced.returncode == 0, forced.stderr
    assert sorted(path.name for path in out.iterdir()) == [
        "annotators.json", "confusion.json", "labels.json", "report.html", "run.coterie",
        "run.json",
    ]  # fmt: skip


def test_without_report(labels, tmp_path):
    coterie("aggregate", labels, "--model", "ds", "--no-report", "--out", tmp_path / "result")
    assert not (tmp_path / "result" / "report.html").exists()
    assert (tmp_path / "result" / "labels.csv").exists()


def test_the_saved_run_loads(labels, tmp_path):
    import coterie as package

    coterie("aggregate", labels, "--model", "ds", "--out", tmp_path / "result")
    posterior = package.load(tmp_path / "result" / "run.coterie")
    written = pd.read_csv(tmp_path / "result" / "labels.csv")
    labels = posterior.labels()
    pd.testing.assert_frame_equal(labels, written[labels.columns], check_dtype=False)
    folder = package.load(tmp_path / "result")
    pd.testing.assert_frame_equal(folder.labels(), labels)
