"""Has a kernel become slower? Each against a naive one, in turns, on a small problem.

``python -m benchmarks.regression`` fails when the time of a kernel, as a share of the naive
one's, is more than 1.5 times what ``regression.json`` has on record; ``--record`` writes that file
anew.
Shares of two times from the same minute hardly depend on the machine, or on how busy it is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks import naive
from benchmarks.samplers import problems
from benchmarks.samplers.adapters import Sampler, vote
from benchmarks.samplers.timing import block_length, seconds_of
from coterie.kernels import dawid_skene as em

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
    """The kernels whose share of the naive one's time is too far above the one on record."""
    return [name for name, share in shares.items() if share > SLOWER * record[name]]


def runs_of(kernel: str) -> tuple[Run, Run]:
    """Ours and the naive one, from the same place."""
    data = problems.synthetic(LABELS[kernel])
    if kernel in MODELS:
        start = vote(data), problems.groups()
        return Sampler(kernel, data, start).run, naive.Sampler(kernel, data, start).run
    first = np.eye(data.n_classes)[vote(data)]
    steps = em.maximise(data, em.estimate_from(data, first))
    return lambda n: list(islice(steps, n)), naive.dawid_skene(data, first)


def share(kernel: str) -> float:
    """Our time as a share of the naive kernel's: the median over rounds of short blocks."""
    ours, other = runs_of(kernel)
    n_ours, n_other = block_length(ours), block_length(other)
    return statistics.median(
        (seconds_of(ours, n_ours) / n_ours) / (seconds_of(other, n_other) / n_other)
        for _ in range(ROUNDS)
    )


def measure(kernels: tuple[str, ...]) -> dict[str, float]:
    shares = {}
    for kernel in kernels:
        shares[kernel] = round(share(kernel), 3)
        print(f"{kernel:12s} ours / naive = {shares[kernel]:.3f}", flush=True)
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
            f"{name} takes {shares[name]:.3f} of the naive one's time, {record[name]:.3f} on"
            f" record: {shares[name] / record[name]:.1f} times as slow ({SLOWER} are too many);"
            " if that is meant, run: python -m benchmarks.regression --record",
            file=sys.stderr,
        )
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write down the present shares")
    options = parser.parse_args()
    if options.record:
        RECORD.write_text(json.dumps(measure(KERNELS), indent=2) + "\n")
        return 0
    return check(json.loads(RECORD.read_text()))


if __name__ == "__main__":
    sys.exit(main())
