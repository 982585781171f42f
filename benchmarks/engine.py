"""The engine against the version before, in turns: ``python -m benchmarks.engine --before PYTHON``.

PYTHON is the interpreter of an environment with the version before. Either fits the same files in a
process of its own, which has compiled; times are of the processor, the least of some turns, and
effective draws those of class totals (and coteries) within chains. An aim stands beside its ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from subprocess import PIPE, Popen, check_output

import numpy as np

import coterie
from benchmarks.machine import describe
from benchmarks.samplers.effective import effective
from benchmarks.samplers.report import Report, held, run
from benchmarks.samplers.timing import in_turns

DATA = Path(os.environ.get("COTERIE_DATA", Path(__file__).parents[2] / "shared" / "data"))
TURNS, SWEEPS = 3, 10_000
WORK = ("-W", "ignore", "-m", "benchmarks.engine", "work")
DEFAULT = {"valence": 4, "bluebird": 4, "rte": 4, "dog": 4, "product": 1.3, "adult": 1}
NAIVE = {"IBCC": 2.0, "CBCC": 1.5, "HCBCC": 1.0}
CELLS = [("EBCCGibbs", {}), ("EasyHardBCC", {}), ("IBCC", {"kinds": 2}), ("HCBCC", {"kinds": 2})]
LONG = {"chains": 2, "sweeps": 2_000, "burn_in": 500, "early_stop": False, "n_jobs": 1}
KINDS = """import coterie, os, sys; sys.path.insert(0, os.path.dirname(coterie.__file__) + "/../..")
from benchmarks.blocked import of_consensus
print(of_consensus(1_000_000, 1_000)["ns/label, 1"])"""


def work() -> None:
    """Fit what is asked for, a line of JSON each; the version before runs this too."""
    for line in sys.stdin:
        name, model, settings = json.loads(line)
        labels = coterie.read(DATA / name / "labels.csv", duplicates="keep")
        start = time.process_time(), time.perf_counter()
        made = getattr(coterie, model)(progress=False, duplicates="keep", **settings)
        posterior = made.fit(labels).posterior_
        if model == "Consensus":
            _ = posterior.labels(), posterior.annotators(), posterior.coteries()
        found = [time.process_time() - start[0], time.perf_counter() - start[1]]
        noted = [posterior.draws.trace.get(name) for name in ("class_total", "n_coteries")]
        found += [sum(map(effective, chains)) for chains in noted if chains is not None]
        print(json.dumps(found), flush=True)


class Engine:
    """A process of the version before and one of this, and what they are measured with."""

    def __init__(self, before: str, report: Report) -> None:
        self.pythons, self.report = (before, sys.executable), report
        self.sides = [Popen([p, *WORK], stdin=PIPE, stdout=PIPE, text=True) for p in self.pythons]

    def fit(self, name: str, model: str, **settings: object) -> np.ndarray:
        """What both give, shape (2, turns, numbers); the seed is the turn's, the first compiles."""
        found = []
        for seed in (0, *range(TURNS)):
            asked = json.dumps((name, model, {**settings, "random_state": seed}))
            for side in self.sides:
                print(asked, file=side.stdin, flush=True)
                found.append(json.loads(side.stdout.readline()))
        return np.array([found[2::2], found[3::2]])

    def default(self) -> None:
        self.report.table("Default fit and tables", "", "before, s", "now, s", "ratio", "by clock")
        for name, aim in DEFAULT.items():
            old, new = self.fit(name, "Consensus")[:, :, :2].min(axis=1)
            self.report.row(
                name, old[0], new[0], held(new[0] / old[0], f"<= {aim}"), new[1] / old[1]
            )

    def collapsed(self) -> None:
        from benchmarks.samplers.sweeps import both

        names = ("naive, µs", "now, µs", "naive / now", "class totals", "coteries")
        self.report.table("A sweep; effective draws per second, now / naive", "", *names)
        for name, (model, aim) in ((n, m) for n in ("rte", "bluebird") for m in NAIVE.items()):
            labels = coterie.read(DATA / name / "labels.csv", duplicates="keep")
            ours, naive = both(model.lower(), labels.codes)
            new, old = in_turns([ours.run, naive.run], 4.0)
            totals, noted, _ = [], ours.run(SWEEPS), naive.clusters.clear()
            for _ in range(SWEEPS):
                naive.run(1)
                totals.append(naive.state.class_total.copy())
            pairs = [(noted["class_total"], totals), (noted.get("n_coteries"), naive.clusters)]
            rates = [effective(a) / effective(b) * old / new for a, b in pairs if a is not None]
            cells = held(old / new, f">= {aim}"), *(held(rate, ">= 1") for rate in rates)
            self.report.row(f"{name}, {model}", 1e6 * old, 1e6 * new, *cells)
        self.fits(("rte", "bluebird"), [(m, {"sampler": "collapsed"}) for m in NAIVE], ">= 0.7")

    def cells(self) -> None:
        self.fits(("ducks", "zencrowd_us"), CELLS, ">= 0.5")

    def fits(self, sets: tuple[str, ...], models: list, aim: str) -> None:
        names = ("before, µs a sweep", "now, µs", "ratio", "class totals", "coteries")
        self.report.table("Fits; effective draws per second, now / before", "", *names)
        for name, (model, more) in ((n, m) for n in sets for m in models):
            found = self.fit(name, model, **LONG, **more)
            seconds, draws = found[:, :, 0].min(axis=1), np.median(found[:, :, 2:], axis=1)
            old, new = 1e6 * seconds / LONG["chains"] / LONG["sweeps"]
            rates = [held(rate, aim) for rate in draws[1] / draws[0] * (old / new)]
            self.report.row(f"{name}, {model} {more.get('kinds', '')}", old, new, new / old, *rates)

    def items(self) -> None:
        from benchmarks.blocked import against_c, build

        self.report.table("Items loop", "", "C, ns a label", "now, ns", "ratio", "two threads")
        for n in (10**6, 10**7):
            row = against_c(build(), n, 1_000)
            ratios = [held(row[f"ratio, {k}"], "<= 1") for k in (1, 2)]
            self.report.row(f"{n:,} labels", row["C, 1"], row["ns/label, 1"], *ratios)
        runs = [[check_output([p, "-c", KINDS]) for p in self.pythons] for _ in range(TURNS)]
        old, new = np.array(runs, float).min(axis=0)
        self.report.row("three kinds: before, now", old, new, held(new / old, "<= 1"))

    def demo(self) -> None:
        from benchmarks.samplers.compilation import seconds

        self.report.table("coterie demo", "", "before, s", "now, s", "ratio", "by clock")
        with tempfile.TemporaryDirectory() as folder:
            for turn, what in enumerate(("first", "first", "again", "again")):
                places = [Path(folder, f"{side}{min(turn, 1)}") for side in "ab"]
                old, new = map(seconds, [["demo"]] * 2, places, self.pythons)
                aims = ("<= 0.7", "<= 0.6") if what == "first" else ("<= 1", "<= 1")
                clock, spent = (held(b / a, aim) for a, b, aim in zip(old, new, aims, strict=True))
                self.report.row(what, old.processor, new.processor, spent, clock)


def main(report: Report, _: int) -> None:
    parts = ("default", "collapsed", "items", "cells", "demo")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("parts", nargs="*", default=parts, help=", ".join(parts))
    parser.add_argument("--before", required=True, help="the Python that has the version before")
    options = parser.parse_args()
    print(describe())
    engine = Engine(options.before, report)
    for name in options.parts:
        getattr(engine, name)()


if __name__ == "__main__":
    work() if sys.argv[1:] == ["work"] else run(main)
