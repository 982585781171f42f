"""coterie aggregate of a pattern: through shards, part by part, all or nothing."""

import hashlib
import json

import pandas as pd
import pytest

import coterie as package
from builders.command import coterie
from coterie.posterior import sharded

CROWD = package.simulate("mixed", items=90, annotators=8, labels_per_item=4, random_state=2)


@pytest.fixture
def folder(tmp_path):
    frame = CROWD.annotations.to_frame().sample(frac=1, random_state=0, ignore_index=True)
    (tmp_path / "labels").mkdir()
    for k in range(3):
        frame[k::3].to_parquet(tmp_path / "labels" / f"{k}.parquet", index=False)
    frame.to_parquet(tmp_path / "whole.parquet", index=False)
    CROWD.truth.rename_axis("item").rename("label").to_csv(tmp_path / "truth.csv")
    return tmp_path


def test_a_pattern_gives_what_the_whole_file_does(folder, monkeypatch):
    monkeypatch.setattr("coterie.io.scan.scanning.SHARD_LABELS", 100)
    options = ("--model", "ds", "--truth", folder / "truth.csv")
    done = coterie("aggregate", folder / "labels/*.parquet", *options, "--out", folder / "scanned")
    assert done.returncode == 0, done.stderr
    assert "scanned 3 files in" in done.stdout
    assert "90 items x 8 annotators, 360 labels, 3 classes" in done.stdout
    for kind, run in (("csv", "read"), ("parquet", "typed")):
        whole = ("aggregate", folder / "whole.parquet", *options, "--format", kind)
        assert coterie(*whole, "--out", folder / run).returncode == 0
    assert sorted(path.name for path in (folder / "scanned").iterdir()) == [
        "annotators.csv", "confusion.csv", "labels", "report.html", "run.coterie", "run.json",
    ]  # fmt: skip
    tables = [pd.read_parquet(p) for p in sorted((folder / "scanned/labels").iterdir())]
    found = pd.concat(tables).sort_values("item", ignore_index=True)
    told = pd.read_parquet(folder / "typed/labels.parquet")
    pd.testing.assert_frame_equal(found, told, check_exact=True)
    for name in ("annotators.csv", "confusion.csv"):
        one, other = ((folder / run / name).read_bytes() for run in ("scanned", "read"))
        assert one == other, name
    records = [json.loads((folder / run / "run.json").read_text()) for run in ("scanned", "read")]
    assert records[0]["scores"] == records[1]["scores"]
    assert records[0]["truth"] == records[1]["truth"]
    assert set(records[1]) <= set(records[0])
    told = "\n".join(
        f"{(folder / 'labels' / name).stat().st_size} {name}"
        for name in ("0.parquet", "1.parquet", "2.parquet")
    )
    assert records[0]["input"]["sha256"] == hashlib.sha256(told.encode()).hexdigest()
    assert records[0]["input"]["sha256_of"] == "names and sizes of the files"
    pages = [(folder / run / "report.html").read_text("utf-8") for run in ("scanned", "read")]
    one, other = (page.split('id="truth"')[1].split("</section>")[0] for page in pages)
    assert one == other
    assert records[0]["run"] == records[1]["run"]
    saved = package.load(folder / "scanned/run.coterie")
    assert saved.annotators()["n_labels"].sum() == 360
    assert saved.annotations.n_items == 90


def test_the_default_model_takes_a_pattern(folder, monkeypatch):
    monkeypatch.setattr("coterie.io.scan.scanning.SHARD_LABELS", 100)
    short = ("--sweeps", 60, "--burn-in", 20, "--chains", 2, "--seed", 1)
    for run, shards in (("many", 100), ("one", 1_000)):
        monkeypatch.setattr("coterie.io.scan.scanning.SHARD_LABELS", shards)
        told = ("--truth", folder / "truth.csv", "--out", folder / run)
        done = coterie("aggregate", folder / "labels/*.parquet", *short, *told)
        assert "Fitted Consensus in" in done.stdout, done.stderr
        assert "Labels " in done.stdout
    names = ("annotators.csv", "confusion.csv", "coteries.csv", "diagnostics.csv")
    for name in names:
        assert (folder / "many" / name).read_bytes() == (folder / "one" / name).read_bytes(), name
    tables = [pd.read_parquet(p) for p in sorted((folder / "many/labels").iterdir())]
    assert len(tables) > 2
    assert "hardness" in tables[0]
    (one,) = (folder / "one/labels").iterdir()
    found, whole = pd.concat(tables), pd.read_parquet(one)
    pd.testing.assert_frame_equal(
        *(table.sort_values("item", ignore_index=True) for table in (found, whole)),
        check_exact=True,
    )
    saved = package.load(folder / "many/run.coterie")
    assert saved.method == "blocked gibbs"
    assert saved.annotators()["accuracy_low"].notna().all()
    assert "coterie" in (folder / "many/report.html").read_text("utf-8")


def test_a_truth_of_which_few_items_are_there_is_warned_of(folder):
    truth = CROWD.truth.rename_axis("item").rename("label").iloc[:20]
    truth.rename(index=lambda item: f"{item}x" if item != CROWD.truth.index[0] else item).to_csv(
        folder / "few.csv"
    )
    sentence = "only 1 items have both a prediction (90 items) and a truth (20 items)"
    for how in ((), ("--scan",)):
        told = ("--model", "majority", "--truth", folder / "few.csv")
        done = coterie("aggregate", folder / "whole.parquet", *told, *how)
        assert done.returncode == 0, done.stderr
        assert sentence in done.stderr


def test_a_folder_is_scanned_where_that_is_asked_for(folder):
    done = coterie("aggregate", folder / "labels", "--scan", "--model", "majority")
    assert done.returncode == 0, done.stderr
    assert "scanned 3 files" in done.stdout
    assert "add --out" in done.stdout


def test_results_are_replaced_whole_and_only_if_asked(folder, monkeypatch):
    out, pattern = folder / "out", folder / "labels/*.parquet"
    monkeypatch.setattr("coterie.io.scan.scanning.SHARD_LABELS", 50)
    many = ("aggregate", pattern, "--model", "majority", "--no-report", "--out", out)
    assert coterie(*many).returncode == 0
    monkeypatch.setattr("coterie.io.scan.scanning.SHARD_LABELS", 200)
    assert "already holds" in coterie(*many).stderr
    before = len(list((out / "labels").iterdir()))
    assert coterie(*many, "--force").returncode == 0
    after = list((out / "labels").iterdir())
    assert len(after) < before  # those of the run before are gone
    whole = ("aggregate", folder / "whole.parquet", "--model", "majority", "--no-report")
    assert coterie(*whole, "--out", out, "--force").returncode == 0
    assert (out / "labels.csv").exists()
    assert list((out / "labels").iterdir()) == []


def test_nothing_is_half_written(folder, monkeypatch):
    out = folder / "out"
    monkeypatch.setattr("coterie.io.scan.scanning.SHARD_LABELS", 60)
    whole = sharded.label_sheet
    seen = []

    def broken(part):
        seen.append(part)
        if len(seen) == 3:
            raise OSError(28, "No space left on device")
        return whole(part)

    monkeypatch.setattr("coterie.posterior.sharded.label_sheet", broken)
    done = coterie("aggregate", folder / "labels/*.parquet", "--model", "majority", "--out", out)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert [path for path in out.rglob("*") if path.is_file()] == []


def test_a_large_result_has_a_page_of_a_sample(folder, monkeypatch):
    monkeypatch.setattr("coterie.cli.scanned.MOST_ON_PAGE", 30)
    out = folder / "out"
    done = coterie("aggregate", folder / "labels/*.parquet", "--model", "ds", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "The report shows 30 of 90 items" in done.stdout
    assert not (out / "run.coterie").exists()
    assert "a sample of 30 items" in (out / "report.html").read_text("utf-8")
