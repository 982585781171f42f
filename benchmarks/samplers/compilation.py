"""The first run of ``coterie aggregate --model hcbcc``: what compiling its kernels takes.

``python -m benchmarks.samplers.compilation``. The command runs with an empty cache and again with
the full one, a few times each, of which the shortest counts; then on crowds of other sizes and
types, which must compile nothing more.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import coterie
from benchmarks.samplers.report import Report, run

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
    """Crowds that differ in what a kernel might be compiled for."""
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


def seconds(source: Path, folder: Path, cache: Path, *options: str) -> Taken:
    """What the command takes."""
    out = ("--model", "hcbcc", "--out", str(folder / "result"))
    command = [sys.executable, "-W", "ignore", "-m", "coterie", "aggregate", str(source)]
    before = _now()
    done = subprocess.run(
        [*command, *out, *FEW, *options],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    now = _now()
    return Taken(now.wall - before.wall, now.processor - before.processor)


def _now() -> Taken:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(time.perf_counter(), usage.ru_utime + usage.ru_stime)


def compiled(cache: Path) -> int:
    return sum(1 for _ in cache.rglob("*.nbc"))


def main(report: Report, labels: int) -> None:
    report.table(
        "coterie aggregate --model hcbcc, seconds", "run", "on the clock", "processors", "compiled"
    )

    def row(what: str, source: Path, *options: str) -> Taken:
        before = compiled(cache)
        taken = seconds(source, folder, cache, *options)
        report.row(what, *(f"{one:.1f}" for one in taken), str(compiled(cache) - before))
        return taken

    with tempfile.TemporaryDirectory() as name:
        folder, firsts = Path(name), []
        demo = crowd(folder, "demo")
        for k in range(FIRST_RUNS):
            cache = folder / f"cache{k}"
            firsts.append(row("first", demo))
        first, count = min(firsts), compiled(cache)
        again = min(row("again", demo) for _ in range(WARM_RUNS))
        for what, (source, options) in others(folder).items():
            row(what, source, *options)
        more = compiled(cache) - count
    report.say(f"compilation: {first.processor - again.processor:.1f} s of processor time, once")
    report.ratio("compilation, seconds on the clock", first.wall - again.wall, "<= 15", 1)
    report.ratio("compilations for other crowds", more, "<= 0", 0)


if __name__ == "__main__":
    run(main)
