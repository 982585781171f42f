"""The first run of ``coterie demo`` and ``coterie aggregate``: what compiling takes.

``python -m benchmarks.samplers.compilation``; with the word ``demo`` only the demo's first run.
The commands run with an empty cache and again with the full one, a few times each, of which the
shortest counts; then on crowds of other sizes and types, which must compile nothing more.

Two things are there for the first run only, and are shown by doing without them: on one core no
second process compiles ahead (``coterie.cli.compile_early``), and the plain mode does without
numba's private parts (``coterie.numeric.fast``), for which sweeps pay too.
"""

from __future__ import annotations

import json
import os
import resource
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
SWEPT = 10_000  # labels
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


class Way(NamedTuple):
    """How a command is run: ``COTERIE_NUMBA``, on one core or all, and the model."""

    mode: str = "fast"
    one_core: bool = False
    model: str = DEFAULT


USUAL, ALONE, FAST, PLAIN = (
    Way(),
    Way(one_core=True),
    Way(model="hcbcc"),
    Way("plain", model="hcbcc"),
)


def seconds(words: Sequence[str], cache: Path, way: Way) -> Taken:
    """What a command takes."""
    before = _now()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "coterie", *words],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "COTERIE_NUMBA": way.mode},
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=_stay_on_one_core if way.one_core else None,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    now = _now()
    return Taken(now.wall - before.wall, now.processor - before.processor)


def aggregate(source: Path, way: Way, *options: str) -> list[str]:
    """The command on a file, with few sweeps."""
    out = ("--model", way.model, "--out", str(source.parent / "result"))
    return ["aggregate", str(source), *out, *FEW, *options]


def _stay_on_one_core() -> None:
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def _now() -> Taken:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(time.perf_counter(), usage.ru_utime + usage.ru_stime)


def compiled(cache: Path) -> int:
    return sum(1 for _ in cache.rglob("*.nbc"))


def sweeps(mode: str, cache: Path) -> dict[str, float]:
    """Seconds of a sweep by model, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.samplers.compilation", "sweeps"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "COTERIE_NUMBA": mode},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def time_sweeps() -> dict[str, float]:
    from benchmarks.samplers import problems
    from benchmarks.samplers.adapters import NAMES, Sampler, vote
    from benchmarks.samplers.timing import in_turns

    data = problems.synthetic(SWEPT)
    samplers = {
        name: Sampler(model, data, (vote(data), problems.groups())) for model, name in NAMES.items()
    }
    return dict(zip(samplers, in_turns([one.run for one in samplers.values()]), strict=True))


class Rows:
    """Runs of commands, a row each, beside how many kernels they add to a cache."""

    def __init__(self, report: Report, folder: Path, title: str) -> None:
        report.table(title, "run", "on the clock", "processors", "compiled")
        self.report, self.folder = report, folder

    def add(self, what: str, words: Sequence[str], cache: str, way: Way) -> Taken:
        place = self.folder / cache
        before = compiled(place)
        taken = seconds(words, place, way)
        self.report.row(what, *(f"{one:.1f}" for one in taken), str(compiled(place) - before))
        return taken


def first_demo(report: Report, folder: Path) -> None:
    """The whole of a first run of the default model, as somebody sees it who tries the package."""
    rows = Rows(report, folder, "coterie demo, seconds")
    firsts = [rows.add("first", ["demo"], f"demo{k}", USUAL) for k in range(FIRST_RUNS)]
    again = min(rows.add("again", ["demo"], "demo0", USUAL) for _ in range(WARM_RUNS))
    first = min(firsts)
    report.ratio("the first run, seconds on the clock", first.wall, "<= 15", 1)
    least = min(one.processor for one in firsts)
    report.say(f"compilation: {least - again.processor:.1f} s of processor time, once")


def first_run(report: Report, folder: Path) -> None:
    rows, demo, firsts = Rows(report, folder, "coterie aggregate, seconds"), folder / "demo.csv", []
    usual, hcbcc = aggregate(demo, USUAL), aggregate(demo, FAST)
    alone = rows.add(f"first of {DEFAULT}, on one core", usual, "alone", ALONE)
    for k in range(FIRST_RUNS):
        firsts.append(rows.add(f"first of {DEFAULT}", usual, f"cache{k}", USUAL))
    first, count = min(firsts), compiled(folder / "cache0")
    again = min(rows.add("again", usual, "cache0", USUAL) for _ in range(WARM_RUNS))
    for what, (source, options) in others(folder).items():
        rows.add(what, aggregate(source, USUAL, *options), "cache0", USUAL)
    more = compiled(folder / "cache0") - count
    rows.add("first of hcbcc", hcbcc, "hcbcc", FAST)
    report.ratio("the first run, seconds on the clock", first.wall, "<= 15", 1)
    report.say(f"compilation: {first.processor - again.processor:.1f} s of processor time, once")
    report.ratio("compilations for other crowds", more, "<= 0", 0)
    report.say(f"compiling ahead saves {alone.wall - first.wall:.1f} s on the clock")


def modes(report: Report, folder: Path) -> None:
    report.table(
        f"The fast mode against plain numba, hcbcc, {SWEPT:,} labels",
        "", "fast", "plain", "plain / fast",
    )  # fmt: skip
    demo, caches = folder / "demo.csv", {FAST: folder / "fast", PLAIN: folder / "plain"}
    first = [seconds(aggregate(demo, way), caches[way], way).processor for way in (FAST, PLAIN)]
    report.row("first run, s of processors", *(f"{one:.1f}" for one in first), _over(*first))
    taken = [sweeps(way.mode, caches[way]) for way in (FAST, PLAIN)]
    for name in taken[0]:
        pair = [one[name] for one in taken]
        report.row(f"a sweep of {name}, ms", *(f"{1e3 * one:.2f}" for one in pair), _over(*pair))


def _over(fast: float, plain: float) -> str:
    return f"{plain / fast:.1f}"


def main(report: Report, labels: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        first_demo(report, Path(name))
        if "demo" in sys.argv[1:]:
            return
        crowd(Path(name), "demo")
        first_run(report, Path(name))
        modes(report, Path(name))


if __name__ == "__main__":
    if sys.argv[1:] == ["sweeps"]:
        print(json.dumps(time_sweeps()))
    else:
        run(main)
