"""Nothing is lost at the end: --out is tried before the fit, and a result is saved somewhere."""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import pytest

import coterie as package
from builders.command import coterie
from coterie.cli import results, scanned
from coterie.models import MajorityVote
from ladder.marks import rest_slow


@pytest.fixture
def full(monkeypatch, tmp_path):
    """A disk that is full when results are written, and a place for what is saved all the same."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))

    def refuse(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "write_set", refuse)


def test_out_is_tried_before_the_fit(labels, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    def fit(*args, **kwargs):
        raise AssertionError("fitted")

    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(MajorityVote, "fit", fit)
    done = coterie("aggregate", labels, "-m", "majority", "--out", tmp_path / "a" / "b")
    assert done.returncode == 1
    assert done.stderr == f"Error: {tmp_path / 'a' / 'b'} cannot be written: Permission denied\n"


def test_a_result_that_cannot_be_written_is_shown_and_saved(labels, tmp_path, full):
    done = coterie("aggregate", labels, "-m", "majority", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "MajorityVote calls 3 items" in done.stdout
    assert "Written to" not in done.stdout
    found = re.fullmatch(
        r"Error: No space left on device; the result is saved in (.*), which coterie report and "
        r"coterie\.load read\n",
        done.stderr,
    )
    assert package.load(found[1]).labels()["label"].tolist() == ["yes", "no", "yes"]


def test_a_slip_of_ours_saves_the_result_too(labels, tmp_path, full, monkeypatch):
    def slip(*args, **kwargs):
        raise RuntimeError("slip")

    monkeypatch.setattr(results, "write", slip)
    with pytest.raises(RuntimeError, match="slip") as caught:
        coterie("aggregate", labels, "-m", "majority", "--out", tmp_path / "out")
    assert "the result is saved in" in caught.value.__notes__[0]


def test_labels_in_parts_are_shown_and_saved_too(tmp_path, full, monkeypatch):
    frame = package.simulate("mixed", items=40, annotators=6, random_state=0).annotations.to_frame()
    frame.to_parquet(tmp_path / "labels.parquet")

    def refuse(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scanned, "write_set", refuse)
    pattern, out = tmp_path / "*.parquet", tmp_path / "out"
    done = coterie("aggregate", pattern, "-m", "majority", "--out", out)
    assert done.returncode == 1
    assert "MajorityVote calls 40 items" in done.stdout
    assert "Written to" not in done.stdout
    found = re.search(r"the result is saved in (.*), which holds the labels in parts", done.stderr)
    assert len(pd.read_parquet(found[1])) == 40
    assert not out.exists() or not list(out.iterdir())


def test_where_nothing_can_be_saved_that_is_said(labels, tmp_path, full, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    done = coterie("aggregate", labels, "-m", "majority", "--out", tmp_path / "out")
    assert "the result could not be saved anywhere else either" in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["aggregate", "--help"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_help_on_a_full_disk_is_a_sentence(words):
    start = f"import sys; sys.argv = ['coterie', *{words!r}]; from coterie.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", start], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "Error: standard output cannot be written: No space left on device\n"


FILES = {
    "aggregate": ["labels.csv", "run.coterie", "report.html"],
    "judges": ["judges.html"],
    "compare": ["compare.json"],
    "replay": ["replay.json"],
}


def in_a_shell(words, folder):
    """Run the command line in a shell, with where its streams lead."""
    command = f"{shlex.quote(sys.executable)} -m coterie {words}"
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)


def asked(labels, command):
    """Words of a command that writes results, and prints a lot."""
    truth = labels.parent / "truth.csv"
    items = sorted({line.split(",")[0] for line in labels.read_text("utf-8").splitlines()[1:]})
    first = labels.read_text("utf-8").splitlines()[1].split(",")[2]
    truth.write_text("item,label\n" + "".join(f"{i},{first}\n" for i in items), "utf-8")
    more = {
        "aggregate": "-m quick",
        "judges": "-m quick",
        "compare": "--truth truth.csv --models majority,quick --jobs 1",
        "replay": "--truth truth.csv --policies random --seeds 1 --batch 99",
    }
    return f"{command} {labels.name} {more[command]} --out out"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", rest_slow(FILES, 0))
def test_what_cannot_be_printed_is_written_all_the_same(labels, command):
    folder = labels.parent
    done = in_a_shell(f"{asked(labels, command)} >/dev/full", folder)
    assert done.returncode == 1
    assert done.stderr.endswith("standard output cannot be written: No space left on device\n")
    assert "Traceback" not in done.stderr
    assert {path.name for path in (folder / "out").iterdir()} >= set(FILES[command])


@pytest.mark.parametrize("streams", rest_slow([">&- 2>&-", "2>&-", "<&- >&- 2>&-"], 2))
@pytest.mark.parametrize("command", rest_slow(FILES, 0))
def test_closed_streams_stop_nothing_and_nothing_takes_their_place(labels, command, streams):
    folder = labels.parent
    done = in_a_shell(f"{asked(labels, command)} {streams}", folder)
    assert done.returncode == 0
    assert {path.name for path in (folder / "out").iterdir()} >= set(FILES[command])
    assert b"Written to" not in b"".join(path.read_bytes() for path in (folder / "out").iterdir())


@pytest.mark.parametrize(
    "words", rest_slow(["export --help", "datasets", "--help", "aggregate --help"], 1, 2)
)
def test_a_reader_who_has_left_is_no_error(words, tmp_path):
    done = in_a_shell(f"{words} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.stdout, done.stderr) == ("0\n", "")
