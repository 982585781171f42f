"""The first run of ``coterie aggregate --model hcbcc``: what compiling its kernels takes.

``python -m benchmarks.samplers.compilation``. The command runs with an empty cache and again with
the full one; then on crowds of other sizes and types, which must compile nothing more.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import coterie
from benchmarks.samplers.report import Report, run

WARM_RUNS = 3
FEW = ("--sweeps", "20", "--burn-in", "10", "--chains", "2", "--no-early-stop", "--force")


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


def seconds(source: Path, folder: Path, cache: Path, *options: str) -> float:
    """The processor time of the command."""
    out = ("--model", "hcbcc", "--out", str(folder / "result"))
    command = [sys.executable, "-W", "ignore", "-m", "coterie", "aggregate", str(source)]
    before = _children()
    done = subprocess.run(
        [*command, *out, *FEW, *options],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compiled(cache: Path) -> int:
    return sum(1 for _ in cache.rglob("*.nbc"))


def main(report: Report, labels: int) -> None:
    report.table("coterie aggregate --model hcbcc, processor seconds", "run", "seconds", "compiled")
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Path(name, "cache")
        demo = crowd(folder, "demo")
        first, count = seconds(demo, folder, cache), compiled(cache)
        report.row("first", f"{first:.1f}", str(count))
        again = min(seconds(demo, folder, cache) for _ in range(WARM_RUNS))
        report.row("again", f"{again:.1f}", str(compiled(cache) - count))
        for what, (source, options) in others(folder).items():
            before = compiled(cache)
            taken = seconds(source, folder, cache, *options)
            report.row(what, f"{taken:.1f}", str(compiled(cache) - before))
        more = compiled(cache) - count
    report.say(f"compilation: {first - again:.1f} s of processor time, once")
    report.ratio("compilations for other crowds", more, "<= 0", 0)


if __name__ == "__main__":
    run(main)
