"""The other commands, and how any command starts and ends."""

import ast
import subprocess
import sys

import pandas as pd
import pytest

from builders.command import coterie, coterie_process
from coterie.cli.options import PANELS


def scores_shown(done):
    """Accuracies by model, from the table on the screen."""
    lines = done.stdout.splitlines()
    start = lines.index("Against the truth of 300 items") + 2
    rows = [line.split() for line in lines[start : start + 2]]
    return {row[0]: float(row[1]) for row in rows}


def test_demo_beats_the_vote():
    done = coterie("demo")
    assert done.returncode == 0, done.stderr
    scores = scores_shown(done)
    assert scores["Consensus"] > scores["MajorityVote"]


def test_demo_shows_every_group_and_beats_the_vote(tmp_path):
    done = coterie("demo", "--model", "hcbcc", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    for role in ("expert", "novice", "biased towards c", "spammer", "adversary"):
        assert role in done.stdout
    coteries = pd.read_csv(tmp_path / "demo" / "coteries.csv")
    assert coteries["role"].tolist() == [
        "novice", "expert", "spammer", "biased towards c", "adversary",
    ]  # fmt: skip
    scores = scores_shown(done)
    assert scores["HCBCC"] > scores["MajorityVote"]


def test_simulate_writes_a_crowd_that_aggregate_reads(tmp_path):
    done = coterie("simulate", "unsure", "--out", tmp_path / "crowd", "--items", 20, "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "crowd").iterdir()) == [
        "groups.csv", "labels.csv", "truth.csv",
    ]  # fmt: skip
    labels = pd.read_csv(tmp_path / "crowd" / "labels.csv")
    assert set(labels["label"]) == {"a", "b", "c", "unsure"}
    done = coterie(
        "aggregate", tmp_path / "crowd" / "labels.csv", "--truth", tmp_path / "crowd" / "truth.csv",
        "--classes", "a,b,c", "--extra-answers", "unsure",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Against the truth" in done.stdout
    again = coterie("simulate", "unsure", "--out", tmp_path / "crowd")
    assert again.returncode == 1
    assert "already holds labels.csv, truth.csv, groups.csv" in again.stderr


def test_datasets_are_listed_with_licence_and_citation():
    done = coterie("datasets")
    assert done.returncode == 0, done.stderr
    for name in ("bluebird", "rte", "valence", "temp"):
        assert f"\n{name}: " in done.stdout
    assert done.stdout.count("licence: ") == done.stdout.count("cite: ") == 4


def test_version():
    import coterie as package

    assert coterie_process("--version").stdout == f"coterie {package.__version__}\n"


LIGHT = """
import sys
{what}
heavy = sorted({{"numba", "pandas", "scipy", "narwhals", "arviz_stats"}} & set(sys.modules))
assert not heavy, heavy
"""


@pytest.mark.parametrize(
    "what",
    [
        "import coterie",
        "from coterie.cli import main\nsys.argv = ['coterie', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0",
    ],
    ids=["import coterie", "coterie --help"],
)
def test_nothing_heavy_is_loaded(what):
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(what=what)], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr


INTERRUPTED = """
import signal, sys
from types import SimpleNamespace

def read(size=-1):
    signal.raise_signal(signal.SIGINT)
    return b""

signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a foreground job
sys.stdin = SimpleNamespace(buffer=SimpleNamespace(read=read))
sys.argv = ["coterie", "aggregate", "-"]
from coterie.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_ends_quietly():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_next_to_nothing_is_imported_before_ctrl_c_is_awaited():
    code = "import sys; before = {*sys.modules}; import coterie.cli; print({*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    found = ast.literal_eval(done.stdout)
    assert found <= {"__future__", "coterie", "coterie.version", "coterie.cli"}


def test_options_are_sorted_in_the_help(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = coterie("aggregate", "--help").stdout
    assert all(title in said for title in PANELS)
    assert len(said.splitlines()) < 130
