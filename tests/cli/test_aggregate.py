"""coterie aggregate: what it reads, what it writes and never overwrites, known labels, updates."""

import gzip
import hashlib
import json
import subprocess
import sys

import pandas as pd
import pytest

import coterie as package
from builders.command import ROWS, coterie, coterie_process
from coterie.simulation import simulate

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


def test_the_saved_run_loads(labels, tmp_path):
    coterie("aggregate", labels, "--model", "ds", "--out", tmp_path / "result")
    posterior = package.load(tmp_path / "result" / "run.coterie")
    written = pd.read_csv(tmp_path / "result" / "labels.csv")
    labels = posterior.labels()
    pd.testing.assert_frame_equal(labels, written[labels.columns], check_dtype=False)
    folder = package.load(tmp_path / "result")
    pd.testing.assert_frame_equal(folder.labels(), labels)


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
    told = ("--classes", "yes,no", "--extra-answers", "unsure")
    done = coterie("aggregate", path, "--model", "ds", *told)
    assert done.returncode == 0, done.stderr
    assert "2 classes, 1 extra answer" in done.stdout


def test_the_wide_form_can_be_asked_for(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("item,ann,bob,note\nq1,yes,no,x\nq2,no,,y\nq3,yes,yes,z\n", "utf-8")
    done = coterie("aggregate", path, "--model", "ds", "--annotator", "ann,bob")
    assert done.returncode == 0, done.stderr
    assert "3 items x 2 annotators, 5 labels, 2 classes" in done.stdout


def test_more_labels_join_a_saved_run(tmp_path):
    crowd = package.simulate("mixed", items=40, annotators=8, labels_per_item=4, random_state=0)
    frame = crowd.annotations.to_frame().sample(frac=1, random_state=0)
    frame.iloc[:120].to_csv(tmp_path / "labels.csv", index=False)
    frame.iloc[120:].to_csv(tmp_path / "more.csv", index=False)
    short = ("--sweeps", "90", "--burn-in", "30", "--chains", "2", "--no-report")
    first = coterie("aggregate", "labels.csv", *short, "--out", "result", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    options = ("--update", "result/run.coterie", "--out", "updated", "--no-report")
    done = coterie("aggregate", "more.csv", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Updated result/run.coterie in" in done.stdout
    assert "the fit before it took" in done.stdout
    posterior = package.load(tmp_path / "updated/run.coterie")
    assert posterior.annotations.n_labels == len(frame)
    assert posterior.run["sweeps"] == 40 * posterior.run["rounds"]
    assert len(pd.read_csv(tmp_path / "updated/labels.csv")) == 40


def test_old_items_become_known(tmp_path):
    (tmp_path / "labels.csv").write_text("item,annotator,label\nq1,ann,a\nq1,bob,b\nq2,ann,b\n")
    (tmp_path / "more.csv").write_text("item,annotator,label\nq2,bob,b\n")
    (tmp_path / "gold.csv").write_text("item,label\nq1,b\n")
    quick = ("--model", "quick", "--out", "result", "--no-report")
    assert coterie("aggregate", "labels.csv", *quick, cwd=tmp_path).returncode == 0
    options = ("--update", "result", "--out", "updated", "--no-report")
    done = coterie("aggregate", "more.csv", *options, "--gold", "gold.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert package.load(tmp_path / "updated/run.coterie").annotations.gold == {"q1": "b"}


def test_a_repeated_label_is_refused_and_the_remedy_that_is_named_works(tmp_path):
    rows = [(f"q{i}", a, "yes" if i % 2 else "no") for i in range(6) for a in ("ann", "bob")]
    package.QuickConsensus().fit(rows).posterior_.save(tmp_path / "run.coterie")
    (tmp_path / "more.csv").write_text("item,annotator,label\nq1,ann,no\nq6,ann,no\n")
    options = ("--update", "run.coterie", "--out", "updated", "--no-report")
    refused = coterie("aggregate", "more.csv", *options, cwd=tmp_path)
    assert refused.returncode == 1
    assert "pass --duplicates first or --duplicates last" in refused.stderr
    assert "row 12 of the earlier labels with the new ones (in this order;" in refused.stderr
    done = coterie("aggregate", "more.csv", *options, "--duplicates", "last", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    frame = package.load(tmp_path / "updated").annotations.to_frame()
    assert frame.query("item == 'q1' and annotator == 'ann'")["label"].tolist() == ["no"]
    assert len(frame) == len(rows) + 1


def test_gold_is_clamped_and_truth_only_scores(labels, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("item,label\nq1,no\n", "utf-8")
    with_gold = coterie(
        "aggregate", labels, "--gold", known, "--out", tmp_path / "gold", "--model", "majority"
    )
    assert with_gold.returncode == 0, with_gold.stderr
    assert pd.read_csv(tmp_path / "gold" / "labels.csv")["label"].tolist() == ["no", "no", "yes"]
    with_truth = coterie(
        "aggregate", labels, "--truth", known, "--out", tmp_path / "truth", "--model", "majority"
    )
    assert with_truth.returncode == 0, with_truth.stderr
    assert pd.read_csv(tmp_path / "truth" / "labels.csv")["label"].tolist() == ["yes", "no", "yes"]
    record = json.loads((tmp_path / "truth" / "run.json").read_text("utf-8"))
    assert record["scores"]["items"] == 1
    assert record["scores"]["accuracy"] == 0
    both = coterie("aggregate", labels, "--gold", known, "--truth", known, "--model", "majority")
    assert "is known (gold): nothing is left to score" in both.stdout
    assert "Against the truth" not in both.stdout


def test_the_record_says_whether_known_labels_are_a_column_or_a_file(labels, tmp_path):
    text = "\n".join(f"{row},{'' if k else 'known'}" for k, row in enumerate(ROWS.split()))
    labels.write_text(text.replace("q2,ann,no,", "q2,ann,no,yes"), "utf-8")
    (tmp_path / "known").write_text("item,label\nq1,no\n", "utf-8")  # named like the column
    command = ["aggregate", labels, "--model", "majority", "--no-report", "--force", "--out"]
    done = coterie(*command, tmp_path / "a", "--gold", "known", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "a" / "run.json").read_text("utf-8"))
    assert record["gold"] == {"column": "known", "items": 1}
    assert pd.read_csv(tmp_path / "a" / "labels.csv")["label"].tolist() == ["yes", "yes", "yes"]
    done = coterie(*command, tmp_path / "a", "--gold", "./known", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "a" / "run.json").read_text("utf-8"))
    digest = hashlib.sha256((tmp_path / "known").read_bytes()).hexdigest()
    assert record["gold"] == {"path": "./known", "sha256": digest, "items": 1}


def test_typed_ids_match_a_truth_written_as_text(tmp_path):
    frame = pd.DataFrame({"item": [7, 7, 8], "annotator": [1, 2, 1], "label": [0, 0, 1]})
    frame.to_parquet(tmp_path / "labels.parquet")
    (tmp_path / "truth.csv").write_text("item,label\n7,0\n8,0\n", "utf-8")
    done = coterie(
        "aggregate", "labels.parquet", "--model", "majority", "--truth", "truth.csv", "--out", "r",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "r" / "run.json").read_text("utf-8"))
    assert (record["scores"]["items"], record["scores"]["accuracy"]) == (2, 0.5)
    digest = hashlib.sha256((tmp_path / "truth.csv").read_bytes()).hexdigest()
    assert record["truth"] == {"path": "truth.csv", "sha256": digest}
    assert record["gold"] is None


@pytest.fixture
def checked(tmp_path):
    crowd = simulate("mixed", items=80, annotators=12, random_state=0)
    crowd.annotations.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    crowd.truth.iloc[:30].rename("label").to_csv(tmp_path / "gold.csv")

    def run(*options):
        return coterie("aggregate", "labels.csv", "--gold", "gold.csv", *options, cwd=tmp_path)

    return run


def test_a_quick_model_is_checked_by_gold_and_mended_on_request(checked, tmp_path):
    done = checked("--model", "quick", "--out", "out")
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("Gold: ")]
    record = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["run"]["gold_check"]
    assert record["items"] == 30
    offer = " Mend them with --recalibrate." if record["significant"] else ""
    assert said == f"Gold: {record['sentence']}{offer}"
    assert f"By gold: {record['sentence']}" in (tmp_path / "out" / "report.html").read_text("utf-8")
    again = "run again with --recalibrate, which mends probabilities that gold refutes"
    assert (again in done.stdout) == record["significant"]
    mended = checked("--model", "quick", "--recalibrate", "--out", "mended")
    assert ("Recalibrated." in mended.stdout) == record["significant"]
    assert again not in mended.stdout
    page = (tmp_path / "mended" / "report.html").read_text("utf-8")
    assert "The probabilities on this page are mended by that." in page
    assert f"right, of 30 known ({100 * record['claimed']:.0f}" in page
    assert "Gold: " not in checked("--model", "quick", "--no-check-gold").stdout


def test_probabilities_that_gold_does_not_refute_stay_and_that_is_said(tmp_path):
    crowd = simulate("mixed", items=40, annotators=12, random_state=1)
    crowd.annotations.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    crowd.truth.iloc[:8].rename("label").to_csv(tmp_path / "gold.csv")
    words = ("aggregate", "labels.csv", "--gold", "gold.csv", "--model", "quick", "--recalibrate")
    said = coterie(*words, cwd=tmp_path).stdout
    assert "no more than chance apart" in said
    assert "--recalibrate: gold does not refute the probabilities, which stay as they are" in said


def test_a_sampler_of_many_labels_is_checked_on_request(checked, monkeypatch):
    short = ("--sweeps", "20", "--burn-in", "10", "--chains", "2")
    said = checked(*short).stdout
    assert "Five more fits see how far probabilities hold on 30 known items" in said
    assert "Gold: claimed " in said
    monkeypatch.setattr("coterie.cli.aggregate.FEW_LABELS", 100)
    said = checked(*short).stdout
    assert "Try --check-gold." in said
    assert "Gold: claimed " not in said
