"""coterie compare as a user meets it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from builders.command import coterie, coterie_process
from coterie.cli.app import app
from coterie.studies.league_pages import NAMES
from coterie.studies.pool import perform


@pytest.fixture
def folder(tmp_path):
    """Two data sets with a truth, one without, one that is broken, and a folder of something."""
    rng = np.random.default_rng(3)
    for name in ("one", "two"):
        truth = rng.integers(0, 2, 60)
        right = rng.random((60, 5)) < [0.9, 0.85, 0.8, 0.3, 0.6]
        said = np.where(right, truth[:, None], 1 - truth[:, None])
        rows = [f"q{i},a{l},{said[i, l]}" for i in range(60) for l in range(5)]
        gold = [f"q{i},{truth[i]}" for i in range(60)]
        write(tmp_path / "data" / name, rows, gold)
    write(tmp_path / "data" / "mute", ["q1,a,0", "q1,b,1"], [])
    write(tmp_path / "data" / "torn", ["q1,a,0", "q1,b"], ["q1,0"])
    (tmp_path / "data" / "raw").mkdir()
    return tmp_path


def write(folder, rows, gold):
    folder.mkdir(parents=True)
    (folder / "labels.csv").write_text("\n".join(["item,annotator,label", *rows, ""]), "utf-8")
    (folder / "truth.csv").write_text("\n".join(["item,label", *gold, ""]), "utf-8")


def test_a_folder_gives_a_league_and_three_files(folder):
    done = coterie_process(
        "compare", "data", "--models", "ds,builders.models:Raises,builders.models:Talks",
        "--out", "out", "--jobs", 2, cwd=folder,
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if "fits are done" not in line]
    assert (done.returncode, told) == (0, [])  # a busy machine tells how far it is
    record = json.loads((folder / "out" / "compare.json").read_text("utf-8"))
    assert record["datasets"] == ["mute", "one", "torn", "two"]
    assert record["models"] == ["majority", "ds", "builders.models:Raises", "builders.models:Talks"]
    assert record["common"] == ["one", "two"]
    assert record["without_truth"] == ["mute"]
    assert record["passed_over"] == ["raw"]
    assert record["command"] == (
        "coterie compare data --models ds,builders.models:Raises,builders.models:Talks"
    )
    status = {(row["dataset"], row["model"]): row["status"] for row in record["rows"]}
    assert status["one", "ds"] == status["two", "builders.models:Talks"] == "ok"
    assert status["mute", "ds"] == "no truth"
    assert status["torn", "majority"] == status["one", "builders.models:Raises"] == "error"
    standings = {s["model"]: s for s in record["standings"]}
    assert standings["ds"]["accuracy"] > standings["majority"]["accuracy"]  # a3 answers inverted
    assert standings["builders.models:Talks"]["difference"]["mean"] == 0
    assert standings["builders.models:Raises"]["failed"] == 3
    assert "NOISE" not in done.stdout
    assert "row 3 of labels.csv" in done.stdout
    assert "ZeroDivisionError: one over zero" in done.stdout
    assert "no truth: there is no true label" in done.stdout
    assert "Means over the 2 data sets, of 3 with a truth" in done.stdout
    assert "Written to out: compare.json, compare.html, compare.md, compare-cal" in done.stdout
    page = (folder / "out" / "compare.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "not &lt;b&gt;converged&lt;/b&gt;" in page
    assert "# League of models" in (folder / "out" / "compare.md").read_text("utf-8")
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "compare-calibration.svg", "compare.html", "compare.json", "compare.md",
    ]  # fmt: skip


def test_one_file_and_the_same_numbers_again(folder, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = ["data/one/labels.csv", "--truth", "data/one/truth.csv", "--models", "ds"]
    assert (
        coterie_process("compare", *arguments, "--out", "out", "-j", 1, cwd=folder).returncode == 0
    )
    again = coterie("compare", *arguments, "--out", "again", "-j", "2")
    assert again.returncode == 0, again.stderr
    records = [
        json.loads((folder / name / "compare.json").read_text("utf-8")) for name in ("out", "again")
    ]
    for record in records:
        for row in [*record["rows"], *record["standings"]]:
            assert row.pop("seconds") >= 0
    assert records[0] == records[1]
    assert records[0]["datasets"] == ["labels"]
    refused = CliRunner().invoke(app, ["compare", *arguments, "--out", "out"])
    assert refused.exit_code == 1
    assert "out already holds compare.json, compare.html, compare.md, compare-cal" in refused.stderr
    assert refused.stdout == ""
    forced = CliRunner().invoke(app, ["compare", *arguments, "--out", "out", "--force"])
    assert forced.exit_code == 0, forced.output


def in_this_process(seen, most=99):
    """A pool of this process that is stopped after so many jobs; what it starts is noted."""

    def run(jobs, workers, limits, started):
        for job in jobs[:most]:
            seen.append(job.name)
            started(job)
            yield perform(job)
        if len(jobs) > most:
            raise KeyboardInterrupt

    return run


def without_seconds(path):
    record = json.loads(path.read_text("utf-8"))
    for row in (*record["rows"], *record["standings"]):
        del row["seconds"]
    return record


def test_a_run_that_was_stopped_goes_on(folder, monkeypatch):
    monkeypatch.chdir(folder)
    command = ["compare", "data", "--models", "ds,builders.models:Raises,builders.models:Talks"]
    pool = "coterie.studies.pool.run_jobs"
    whole, before, after, last = [], [], [], []
    monkeypatch.setattr(pool, in_this_process(whole))
    coterie(*command, "--out", "whole")
    monkeypatch.setattr(pool, in_this_process(before, 7))
    stopped = CliRunner().invoke(app, [*command, "--out", "out"])
    assert stopped.exit_code != 0
    assert "Stopped; the same command goes on from here." in stopped.stderr
    monkeypatch.setattr(pool, in_this_process(after))
    again = coterie(*command, "--out", "out")
    assert "Going on: 6 of 16 fits are done." in again.stderr
    assert sorted(before + after) == sorted([*whole, "one/builders.models:Raises"])  # failed: again
    paths = [folder / name / "compare.json" for name in ("whole", "out")]
    assert without_seconds(paths[0]) == without_seconds(paths[1])
    assert sorted(path.name for path in (folder / "out").iterdir()) == sorted(NAMES)
    monkeypatch.setattr(pool, in_this_process(last))
    coterie(*command, "--out", "out", "--force")
    assert last == whole  # nothing is left of the runs before


@pytest.mark.parametrize("change", ["data", "settings"])
def test_what_another_run_has_done_is_not_taken(folder, monkeypatch, change):
    monkeypatch.chdir(folder)
    command = ["compare", "data/one/labels.csv", "--truth", "data/one/truth.csv", "--models", "ds"]
    pool, seen = "coterie.studies.pool.run_jobs", []
    monkeypatch.setattr(pool, in_this_process([], 1))
    CliRunner().invoke(app, [*command, "--out", "out"])
    assert (folder / "out" / "jobs.jsonl").exists()
    monkeypatch.setattr(pool, in_this_process(seen))
    if change == "data":
        with (folder / "data" / "one" / "labels.csv").open("a", encoding="utf-8") as file:
            file.write("q99,a1,1\n")
    else:
        command += ["--duplicates", "keep"]
    coterie(*command, "--out", "out")
    assert seen == ["labels/majority", "labels/ds"]


def test_when_nothing_is_scored_the_command_says_so(folder):
    done = coterie("compare", "data", "--only", "mute,torn", "--models", "majority", cwd=folder)
    assert done.returncode == 1
    assert "Error: nothing was scored; the reasons are above" in done.stderr
    assert "No model was scored on any data set." in done.stdout
