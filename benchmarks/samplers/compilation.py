"""The first run of ``coterie demo`` and ``coterie aggregate``: what compiling takes.

``python -m benchmarks.samplers.compilation``. The commands run with an empty cache and again with
the full one, a few times each, of which the shortest counts; then on crowds of other sizes and
types, which must compile nothing more.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import coterie
from benchmarks.samplers.report import Report, run
from coterie.models.registry import DEFAULT

FIRST_RUNS, WARM_RUNS = 3, 3
FEW = ("--sweeps", "20", "--burn-in", "10", "--chains", "2", "--no-early-stop", "--force")


class Taken(NamedTuple):
    """Seconds on the clock, and of the processors."""

    wall: float
    processor: float


def crowd(folder: Path, name: str, **sizes: int) -> Path:
    """The demo's crowd, or one of another size, as a file."""
    path = folder / f"{name}.csv"
    coterie.simulate("mixed", random_state=0, **sizes).annotations.to_frame().to_csv(
        path, index=False
    )
    return path


def others(folder: Path) -> dict[str, tuple[Path, list[str]]]:
    """Crowds that differ in what a loop might be compiled for."""
    five = crowd(folder, "five", classes=5, items=80)
    numbers = pd.DataFrame(
        {"item": np.arange(300) // 3, "annotator": np.arange(300) % 7, "label": np.arange(300) % 4}
    )
    typed = folder / "typed.jsonl"
    numbers.to_json(typed, orient="records", lines=True)
    demo = pd.read_csv(folder / "demo.csv")
    known = folder / "known.csv"
    item, label = demo.columns[0], demo.columns[-1]
    demo[[item, label]].drop_duplicates(item).head(9).to_csv(known, index=False)
    return {
        "five classes": (five, []),
        "four classes, integer ids": (typed, []),
        "known labels": (folder / "demo.csv", ["--gold", str(known)]),
        "answers that are never true": (five, ["--classes", "a,b,c", "--extra-answers", "d,e"]),
    }


def seconds(words: Sequence[str], cache: Path, python: str = sys.executable) -> Taken:
    """What a command takes, of the package in this environment or another."""
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "coterie", *words],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return Taken(time.perf_counter() - start, spent)


def aggregate(source: Path, model: str, *options: str) -> list[str]:
    """The command on a file, with few sweeps."""
    out = ("--model", model, "--out", str(source.parent / "result"))
    return ["aggregate", str(source), *out, *FEW, *options]


def compiled(cache: Path) -> int:
    return sum(1 for _ in cache.rglob("*.nbc"))


class Rows:
    """Runs of commands, a row each, beside how many loops they add to a cache."""

    def __init__(self, report: Report, folder: Path, title: str) -> None:
        report.table(title, "run", "on the clock", "processors", "compiled")
        self.report, self.folder = report, folder

    def add(self, what: str, words: Sequence[str], cache: str) -> Taken:
        place = self.folder / cache
        before = compiled(place)
        taken = seconds(words, place)
        self.report.row(what, *(f"{one:.1f}" for one in taken), str(compiled(place) - before))
        return taken

    def first_and_again(self, words: Sequence[str], cache: str) -> None:
        """A command with empty caches, then with one of them."""
        firsts = [self.add("first", words, f"{cache}{k}") for k in range(FIRST_RUNS)]
        again = min(self.add("again", words, f"{cache}0") for _ in range(WARM_RUNS))
        least = min(one.processor for one in firsts) - again.processor
        self.report.ratio("the first run, seconds on the clock", min(firsts).wall, "<= 15", 1)
        self.report.say(f"compilation: {least:.1f} s of processor time, once")


def main(report: Report, labels: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Rows(report, folder, "coterie demo, seconds").first_and_again(["demo"], "demo")
        demo, rows = crowd(folder, "demo"), Rows(report, folder, "coterie aggregate, seconds")
        rows.first_and_again(aggregate(demo, DEFAULT), "cache")
        before = compiled(folder / "cache0")
        for what, (source, options) in others(folder).items():
            rows.add(what, aggregate(source, DEFAULT, *options), "cache0")
        more = compiled(folder / "cache0") - before
        report.say(f"compilations for other numbers of classes and other options: {more}")
        rows.add("first of hcbcc", aggregate(demo, "hcbcc"), "hcbcc")


if __name__ == "__main__":
    run(main)
