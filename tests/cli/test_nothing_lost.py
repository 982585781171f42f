"""Nothing is lost at the end: --out is tried before the fit, and a result is saved somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import coterie as package
from builders.command import coterie
from coterie.cli import aggregate
from coterie.models import MajorityVote


@pytest.fixture
def full(monkeypatch, tmp_path):
    """A disk that is full when results are written, and a place for what is saved all the same."""
    monkeypatch.setattr(aggregate.tempfile, "gettempdir", lambda: str(tmp_path))

    def refuse(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(aggregate, "write_set", refuse)


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

    monkeypatch.setattr(aggregate, "write", slip)
    with pytest.raises(RuntimeError, match="slip") as caught:
        coterie("aggregate", labels, "-m", "majority", "--out", tmp_path / "out")
    assert "the result is saved in" in caught.value.__notes__[0]


def test_where_nothing_can_be_saved_that_is_said(labels, tmp_path, full, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(aggregate.tempfile, "mkdtemp", refuse)
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
