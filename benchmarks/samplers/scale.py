"""Nanoseconds per label and sweep as crowds grow, two chains on two cores, and memory.

``python -m benchmarks.samplers.scale [labels]``. 1,000 annotators, who start in the five groups
they were made from.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.naive import compiled
from benchmarks.samplers import problems
from benchmarks.samplers.adapters import NAMES, Sampler, vote
from benchmarks.samplers.report import Report, run
from benchmarks.samplers.timing import block_length, in_turns
from coterie.data.codes import Codes

Part = Callable[[int], object]
"""Makes so many sweeps."""
PARALLEL, BYTES = "<= 1.15", "<= 40"
SETTLE = 3
PARALLEL_LABELS, PARALLEL_SECONDS, ROUNDS = 1_000_000, 0.05, 300
CONTROL, BUSY = "(an empty loop)", 1.05
SWEEPS = 3  # of the run whose memory is measured


def sampler_on(model: str, data: Codes, seed: int = 0) -> Sampler:
    return Sampler(model, data, (vote(data), problems.groups()), seed)


def table(report: Report, labels: int) -> None:
    report.table(
        "Nanoseconds per label and sweep (mean number of clusters)",
        "labels", *(f"{name}" for name in NAMES.values()),
    )  # fmt: skip
    for size in problems.sizes(labels):
        data = problems.synthetic(size)
        cells = []
        for model in NAMES:
            sampler = sampler_on(model, data)
            sampler.run(SETTLE)
            (seconds,) = in_turns([sampler.run], 2.0)
            clusters = np.mean(sampler.clusters or [0])
            cells.append(f"{1e9 * seconds / size:.1f}" + (f" ({clusters:.1f})" if clusters else ""))
        report.row(problems.name_of(size), *cells)


def parallel(report: Report, labels: int) -> None:
    """Two threads with a chain each, as a run has them, against one."""
    report.table(
        "Two chains on two cores: wall time, of one chain's",
        "model", "one, ms", "two, ms", "ratio",
    )  # fmt: skip
    if (os.cpu_count() or 1) < 2:
        report.say("there is one core: not measured")
        return
    data = problems.synthetic(min(labels, PARALLEL_LABELS))
    work = {NAMES[model]: [sampler_on(model, data, seed).run for seed in (0, 1)] for model in NAMES}
    ratios = {}
    for name, (one, two) in one_and_two({**work, CONTROL: [spin, spin]}).items():
        ratios[name] = two / one
        report.row(name, f"{1e3 * one:.1f}", f"{1e3 * two:.1f}", f"{two / one:.2f}")
    control = ratios.pop(CONTROL)
    if control > BUSY:
        report.say(
            f"two loops that share nothing take {control:.2f}: the cores are not free, no verdict"
        )
    else:
        report.ratio("two chains / one chain, wall time, worst", max(ratios.values()), PARALLEL)


def one_and_two(work: dict[str, list[Part]]) -> dict[str, tuple[float, float]]:
    """The shortest wall times of the first alone and of both, all in turns.

    The machine's cores may be two threads of one core, or have other users: blocks are short and
    many, so that some of them have both cores to themselves.
    """
    blocks = {name: block_length(runs[0], PARALLEL_SECONDS) for name, runs in work.items()}
    best = {name: [float("inf")] * 2 for name in work}
    with ThreadPoolExecutor(2) as pool:
        for _ in range(ROUNDS):
            for name, runs in work.items():
                for k, used in enumerate((runs[:1], runs)):
                    start = time.perf_counter()
                    list(pool.map(_call, used, [blocks[name]] * len(used)))
                    best[name][k] = min(best[name][k], time.perf_counter() - start)
    return {name: (one, two) for name, (one, two) in best.items()}


def _call(run: Part, n: int) -> None:
    run(n)


@compiled
def spin(n):
    """Keep all of a core busy, without memory: six sums, none of which waits for another."""
    a, b, c, d, e, f = 1, 2, 3, 4, 5, 6
    for k in range(n * 100_000):
        a, b, c = (a ^ k) + 1, (b ^ k) + 3, (c ^ k) + 5
        d, e, f = (d ^ k) + 7, (e ^ k) + 9, (f ^ k) + 11
    return a + b + c + d + e + f


def memory(report: Report, labels: int) -> None:
    """Bytes a label of a fit, in a process of its own that has loaded nothing but the labels."""
    report.table(
        f"Memory of a fit beside the labels, bytes per label, {problems.name_of(labels)}",
        "model", "labels", "one chain", "four chains",
    )  # fmt: skip
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        _child("write", folder, labels)
        for model in NAMES:
            held, one = map(float, _child(model, folder, labels, 1).split())
            held, four = map(float, _child(model, folder, labels, 4).split())
            worst = max(worst, four / labels)
            report.row(NAMES[model], *(f"{cell / labels:.1f}" for cell in (held, one, four)))
    report.ratio("bytes per label during a run of four chains, worst", worst, BYTES, 1)


def _child(what: str, folder: str, labels: int, chains: int = 0) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.samplers.scale", what, folder]
    command += [str(labels), str(chains)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def write(folder: Path, labels: int) -> None:
    for name, value in problems.synthetic(labels)._asdict().items():
        np.save(folder / f"{name}.npy", value)


def measure_memory(model: str, folder: Path, chains: int) -> None:
    """Print the bytes of the labels, and by how much a fit makes the process grow at most."""
    from coterie.models import make_model

    settings = {"sweeps": SWEEPS, "burn_in": 1, "early_stop": False, "progress": False}
    fit = make_model(model, chains=chains, random_state=0, **settings).fit
    fit(problems.annotations(problems.synthetic(1_000)))  # loads and compiles all that it needs
    loaded = [np.load(folder / f"{name}.npy") for name in Codes._fields]
    codes = Codes(*loaded[:7], int(loaded[7]), int(loaded[8]))
    annotations = problems.annotations(codes)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    fit(annotations)
    print(sum(array.nbytes for array in codes[:7]), max(0, _status("VmHWM") - before))


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def main(report: Report, labels: int) -> None:
    table(report, labels)
    parallel(report, labels)
    if Path("/proc/self/clear_refs").exists():
        memory(report, labels)
    else:
        report.say("memory is measured on Linux only")


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] and sys.argv[1] in NAMES:
        measure_memory(sys.argv[1], Path(sys.argv[2]), int(sys.argv[4]))
    else:
        run(main)
