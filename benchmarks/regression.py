"""Has a kernel become slower? Each against its frozen twin, in turns, on a small problem.

``python -m benchmarks.regression`` fails when the time of a kernel, as a share of its twin's, is
more than 1.5 times what ``regression.json`` has on record; ``--record`` writes that file anew.
Shares of two times from the same minute hardly depend on the machine, or on how busy it is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks import cache

RECORD = Path(__file__).with_name("regression.json")
SLOWER = 1.5
"""How many times the share on record is too much."""
LABELS = {"ibcc": 100_000, "cbcc": 10_000, "hcbcc": 10_000, "dawid_skene": 1_000_000}
"""So many that the items weigh most in iBCC, and the annotators in the others; Dawid-Skene is
called once an iteration, and calling must not be what is measured."""
ROUNDS, ATTEMPTS = 25, 3
MODELS = ("ibcc", "cbcc", "hcbcc")
KERNELS = tuple(LABELS)

Run = Callable[[int], object]


def too_slow(shares: Mapping[str, float], record: Mapping[str, float]) -> list[str]:
    """The kernels whose share of the twin's time is too far above the one on record."""
    return [name for name, share in shares.items() if share > SLOWER * record[name]]


def run_of(kernel: str, side: int) -> Run:
    """Ours (0) or the twin's (1); both start from the same place."""
    from benchmarks.samplers import problems
    from benchmarks.samplers.adapters import SIDES, Sampler, vote

    data = problems.synthetic(LABELS[kernel])
    if kernel in MODELS:
        return Sampler(SIDES[side], kernel, data, (vote(data), problems.groups())).run
    kernels = SIDES[side].module(SIDES[side].em)
    start = np.eye(data.n_classes)[vote(data)]
    steps = kernels.maximise(data, kernels.estimate_from(data, start))
    return lambda n: list(islice(steps, n))


def share(kernel: str) -> float:
    """Our time as a share of the twin's: the median over rounds of short blocks."""
    from benchmarks.samplers.timing import block_length, seconds_of

    ours, twin = run_of(kernel, 0), run_of(kernel, 1)
    n_ours, n_twin = block_length(ours), block_length(twin)
    return statistics.median(
        (seconds_of(ours, n_ours) / n_ours) / (seconds_of(twin, n_twin) / n_twin)
        for _ in range(ROUNDS)
    )


def compile_all() -> None:
    """Compile ours and the twin's at the same time, each in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.regression", "--compile"]
    children = [subprocess.Popen([*command, side]) for side in ("0", "1")]
    codes = [child.wait() for child in children]
    if any(codes):
        sys.exit("the kernels do not compile")


def compile_side(side: int) -> None:
    for kernel in KERNELS:
        run_of(kernel, side)(1)


def measure(kernels: tuple[str, ...]) -> dict[str, float]:
    shares = {}
    for kernel in kernels:
        shares[kernel] = round(share(kernel), 3)
        print(f"{kernel:12s} ours / twin = {shares[kernel]:.3f}", flush=True)
    return shares


def check(record: Mapping[str, float]) -> int:
    """Measure; measure again what seems slow, because a busy machine may only seem so."""
    slow: tuple[str, ...] = KERNELS
    for _ in range(ATTEMPTS):
        shares = measure(slow)
        slow = tuple(too_slow(shares, record))
        if not slow:
            return 0
    for name in slow:
        print(
            f"{name} takes {shares[name]:.3f} of its twin's time, {record[name]:.3f} on record:"
            f" {shares[name] / record[name]:.1f} times as slow ({SLOWER} are too many); if that is"
            " meant, run: python -m benchmarks.regression --record",
            file=sys.stderr,
        )
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write down the present shares")
    parser.add_argument("--compile", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["NUMBA_CACHE_DIR"] = str(cache.folder())
    if options.compile is not None:
        compile_side(options.compile)
        return 0
    start = time.perf_counter()
    compile_all()
    print(f"compiled, in {time.perf_counter() - start:.0f} s", flush=True)
    if options.record:
        RECORD.write_text(json.dumps(measure(KERNELS), indent=2) + "\n")
        return 0
    return check(json.loads(RECORD.read_text()))


if __name__ == "__main__":
    sys.exit(main())
