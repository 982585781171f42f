"""End to end, aggregate reads each file once and computes everything once."""

import functools
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from builders.command import coterie
from coterie.data import annotations
from coterie.io import files
from coterie.models import MajorityVote
from coterie.posterior import items, people, posterior

TABLES = {
    posterior: ("diagnose",),
    items: ("runners_up",),  # of labels()
    people: ("annotator_accuracy", "coterie_table", "point_partition"),  # the first of annotators()
    annotations: ("count_votes",),
}


@pytest.fixture
def calls(monkeypatch):
    """How often what takes time was called, by name."""
    count = Counter()

    def counting(name, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            count[name] += 1
            return function(*args, **kwargs)

        return wrapper

    for owner, names in TABLES.items():
        for name in names:
            monkeypatch.setattr(owner, name, counting(name, getattr(owner, name)))
    monkeypatch.setattr(MajorityVote, "_fit", counting("vote", MajorityVote._fit))
    monkeypatch.setattr(posterior, "score", counting("score", posterior.score))
    return count


@pytest.fixture
def read_to_the_end(monkeypatch):
    """How often each table was read to its end, by name."""
    count = Counter()
    real = Path.open

    class Watched:
        def __init__(self, path, handle):
            self.path, self.handle, self.ended = path, handle, False

        def __enter__(self):
            return self

        def __exit__(self, *what):
            self.handle.close()

        def read(self, n=-1):
            block = self.handle.read(n)
            count[self.path.name] += not block and not self.ended
            self.ended = self.ended or not block  # the end may be asked for again
            return block

        def __getattr__(self, name):
            return getattr(self.handle, name)

    def opened(path, mode="r", *args, **kwargs):
        handle = real(path, mode, *args, **kwargs)
        return Watched(path, handle) if mode == "rb" and path.suffix == ".csv" else handle

    monkeypatch.setattr(Path, "open", opened)
    monkeypatch.setattr(files, "_HEAD", 64)  # so that a look at the beginning is no more than that
    monkeypatch.setattr(files, "_BLOCK", 64)
    return count


BLANK_LINES = "\n" * 20_000
"""More than anybody reads to see the names of the columns."""
ONCE = {name: 1 for names in TABLES.values() for name in names}


@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
def test_every_table_is_computed_once(labels, tmp_path, calls, read_to_the_end):
    labels.write_text(labels.read_text("utf-8") + BLANK_LINES, "utf-8")
    run = ("--model", "hcbcc", "--sweeps", "60", "--burn-in", "20", "--out", tmp_path / "result")
    done = coterie("aggregate", labels, *run)
    assert (tmp_path / "result" / "report.html").exists(), done.stderr
    assert calls == ONCE  # and no vote is fitted, because nobody asks for it
    assert read_to_the_end == {"labels.csv": 1}
    record = json.loads((tmp_path / "result" / "run.json").read_text("utf-8"))
    assert record["input"]["sha256"] == hashlib.sha256(labels.read_bytes()).hexdigest()


@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
def test_a_truth_adds_a_vote_and_two_scores(labels, tmp_path, calls, read_to_the_end):
    truth = tmp_path / "truth.csv"
    truth.write_text("task,label\nq1,yes\nq2,no\nq3,yes\n" + BLANK_LINES, "utf-8")
    labels.write_text(labels.read_text("utf-8") + BLANK_LINES, "utf-8")
    run = ("--model", "consensus", "--truth", truth, "--out", tmp_path / "result")
    done = coterie("aggregate", labels, *run)
    assert (tmp_path / "result" / "report.html").exists(), done.stderr
    assert calls == {**ONCE, "vote": 1, "score": 2}
    assert read_to_the_end == {"labels.csv": 1, "truth.csv": 1}
