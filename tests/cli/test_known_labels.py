"""Known labels (--gold) and true ones (--truth), which never mix."""

import hashlib
import json

import pandas as pd
import pytest

from builders.command import ROWS, coterie
from coterie.simulation import simulate


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
