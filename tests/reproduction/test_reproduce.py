"""The paper again from end to end, small: resumable, the same for any number of processes."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter

import pytest
from typer.testing import CliRunner

from builders.realdata import load
from coterie.cli.app import app
from coterie.errors import DataError
from reproduction import theory
from reproduction.__main__ import EXPERIMENTS, Folder, reproduce
from reproduction.settings import QUICK, Settings
from reproduction.work import load as cached

TINY = Settings(
    "tiny", sweeps=60, burn_in=20, databases=2, runs=1, chains=2, levels=(0.8, 0.9),
    real_levels=(0.95,), items=40, annotators=20, crowds=30, real_sets=("valence",),
)  # fmt: skip
SYNTHETIC = ["synthetic", "sparsity-synthetic", "cooccurrence-synthetic", "correlation", "limits"]
A_HANG = 3_600  # seconds: no machine is so busy
KILLED = """
import os, signal, sys
from pathlib import Path
from coterie.studies.journal import Journal
from reproduction.__main__ import reproduce
from reproduction.settings import Settings

if __name__ == "__main__":
    add = Journal.add
    def add_or_die(journal, line):
        add(journal, line)
        if len(journal.lines) == 8:
            os.kill(os.getpid(), signal.SIGKILL)
    Journal.add = add_or_die
    reproduce(sys.argv[3:], eval(sys.argv[2]), Path(sys.argv[1]), workers=2)
"""


def documents(folder):
    found = {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in (folder / "reproduction").glob("*.json")
    }
    return {name: found[name] for name in (*EXPERIMENTS, "claims") if name in found}


def numbers(document):
    """Give what a document says but for how long it took and which state of the files made it."""
    document.get("data", {}).pop("made", None)
    return {key: value for key, value in document.items() if key not in ("seconds", "code")}


def job_names(folder):
    """Give the names on whole lines: the last may have been cut off."""
    lines = (folder / "jobs.jsonl").read_bytes().split(b"\n")[:-1]
    return Counter(json.loads(line)["job"] for line in lines)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Everything that needs no real data, in one process."""
    folder = tmp_path_factory.mktemp("one") / "a" / "out"
    assert reproduce(SYNTHETIC, TINY, folder) == []
    return folder


def test_everything_is_written_and_says_what_made_it(whole):
    page = (whole / "reproduction.md").read_text("utf-8")
    found = documents(whole)
    assert list(found) == [*SYNTHETIC, "claims"]
    for name in SYNTHETIC:
        picture = whole / "reproduction" / f"{name}.png"
        assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert f"](reproduction/{name}.png)" in page
        for table in EXPERIMENTS[name].tables(found[name]["data"]):
            assert table.title in page
            assert table.markdown() in page
        assert (found[name]["settings"]["sweeps"], found[name]["seed"]) == (60, 0)
        assert found[name]["code"][0].startswith(found[name]["version"])
        assert "TINY RUN" in found[name]["data"]["made"]["words"]
    assert "TINY RUN, smaller than the paper's" in page
    assert len(found["claims"]["claims"]) == 4  # those of the synthetic sets
    for claim in found["claims"]["claims"]:
        assert f"| {claim['claim']} | {claim['verdict']} |" in page


@pytest.mark.slow
def test_a_killed_run_goes_on_and_does_nothing_twice(whole, tmp_path):
    """A kill in the middle, then two processes: the same numbers as one process, never killed."""
    folder, script = tmp_path / "out", tmp_path / "script.py"
    script.write_text(KILLED, "utf-8")
    command = [sys.executable, str(script), str(folder), repr(TINY), *SYNTHETIC]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # Its workers have the same output, which ends when the last of them does.
    killed = subprocess.run(command, stdout=subprocess.PIPE, timeout=A_HANG, env=paths)
    assert killed.returncode == -signal.SIGKILL
    assert 8 <= job_names(folder).total() < job_names(whole).total()
    reproduce(SYNTHETIC, TINY, folder, workers=2, mix=True)  # also if files were edited
    assert job_names(folder) == job_names(whole)
    ours, theirs = documents(folder), documents(whole)
    assert all(numbers(ours[name]) == numbers(theirs[name]) for name in theirs)
    reproduce(SYNTHETIC, TINY, folder, workers=2, mix=True)
    assert job_names(folder) == job_names(whole)


def test_another_run_is_not_mixed_in(whole, tmp_path):
    with pytest.raises(DataError, match=r"other settings \(name: tiny, sweeps: 60, .* --out"):
        Folder(whole, Settings("other", sweeps=61))
    (tmp_path / "letter.txt").write_text("mine", "utf-8")
    with pytest.raises(DataError, match="holds other files"):
        Folder(tmp_path, TINY)
    other = tmp_path / "other"
    reproduce(["correlation"], TINY, other)
    path = other / "jobs.jsonl"
    lines = path.read_text("utf-8").splitlines()
    lines[0] = re.sub(r'"code":"\w+"', '"code":"0123456789ab"', lines[0])
    path.write_text("\n".join(lines[:3]) + "\n", "utf-8")
    with pytest.raises(DataError, match=r"results of other code \(0123456789ab; .*--mix"):
        reproduce(["correlation"], TINY, other)
    reproduce(["correlation"], TINY, other, mix=True)
    assert len(documents(other)["correlation"]["code"]) == 2
    assert "(mixed!)" in (other / "reproduction.md").read_text("utf-8")


def test_without_the_real_data_a_sentence_says_so_and_the_rest_goes_on(tmp_path, monkeypatch):
    cached.cache_clear()
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path / "empty"))
    said = []
    names = ["datasets", "confusion", "synthetic"]
    assert reproduce(names, TINY, tmp_path / "out", say=said.append) == []
    assert said[0].startswith("valence is left out: data set 'valence' should be in")
    page = (tmp_path / "out" / "reproduction.md").read_text("utf-8")
    assert "- valence is left out" in page
    assert "## The synthetic sets" in page
    assert documents(tmp_path / "out")["datasets"]["left_out"]
    cached.cache_clear()
    with pytest.raises(DataError, match=r"nothing can be made: data set 'valence' should be in"):
        reproduce(["datasets"], TINY, tmp_path / "none")


def test_real_data_from_end_to_end(tmp_path, monkeypatch):
    load("valence")  # or skip
    from builders.realdata import BESIDE

    if not os.environ.get("COTERIE_DATA"):
        monkeypatch.setenv("COTERIE_DATA", str(BESIDE))
    names = ["datasets", "accuracy", "confusion", "cooccurrence-real", "sparsity-real"]
    assert reproduce(names, TINY, tmp_path / "out", workers=2) == []
    found = {name: one.get("data", one) for name, one in documents(tmp_path / "out").items()}
    assert found["datasets"]["sets"]["valence"]["agrees"]
    vote = found["accuracy"]["sets"]["valence"]["majority"]
    assert (vote["right"], vote["items_from_paper"]) == ([80], [0])
    levels = found["sparsity-real"]["sets"]["valence"]
    assert [level["databases"] for level in levels] == [1, 2]
    coteries = found["confusion"]["sets"]["valence"]["coteries"]
    assert sum(one["share"] for one in coteries) == pytest.approx(1)
    assert sum(one["size"] for one in coteries) == 38
    assert len(found["claims"]["claims"]) == 5


def test_a_job_that_fails_takes_nothing_else_with_it(tmp_path, monkeypatch):
    def breaks(settings, seed, **told):
        raise ZeroDivisionError("by zero")

    breaks.__name__ = "limit"
    monkeypatch.setattr(theory, "limit", breaks)
    (sentence,) = reproduce(["limits", "synthetic"], TINY, tmp_path / "out")
    assert "limits is left out: limit limit=alpha" in sentence
    assert "ZeroDivisionError: by zero" in sentence
    assert set(documents(tmp_path / "out")) == {"synthetic", "claims"}


def test_the_command_line(tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "reproduction", *words]
        paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=paths)

    listed = run("--list")
    assert all(f"{name} " in listed.stdout for name in EXPERIMENTS)
    wrong = run("nothing", "--out", "out")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("Error: there is no experiment 'nothing'; there are datasets,")
    assert not (tmp_path / "out").exists()
    done = run("synthetic", "--quick")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("begin with result/paper-quick/reproduction.md\n")
    made = documents(tmp_path / "result" / "paper-quick")["synthetic"]
    assert made["settings"]["sweeps"] == QUICK.sweeps
    assert made["data"]["made"]["command"] == 'make paper ARGS="--quick"'


@pytest.mark.parametrize("words", [[], ["--quick", "accuracy", "--jobs", "2"]])
def test_the_package_says_where_the_paper_is(words):
    done = CliRunner().invoke(app, ["reproduce", *words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith("take the project's source and run: make paper\n")
