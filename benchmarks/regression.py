"""Has a loop become slower? Each against a naive one, in turns, on a small problem.

``python -m benchmarks.regression`` fails when the time of a loop, or of a default fit, as a share
of the naive one's, is more than 1.5 times what ``regression.json`` has on record; ``--record``
writes that file anew. Shares of two times from the same minute hardly depend on the machine, or on
how busy it is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import warnings
from collections.abc import Callable, Mapping
from itertools import count, islice
from pathlib import Path

import numpy as np

import coterie
from benchmarks import naive
from benchmarks.blocked import MadeShards, given_for, held_by, sizes_of
from benchmarks.samplers import problems
from benchmarks.samplers.adapters import NAMES, Sampler, vote
from benchmarks.samplers.timing import block_length, seconds_of
from coterie.data.codes import codes_of
from coterie.inference.ascent import in_memory, maximise
from coterie.inference.shards import Order, Threads
from coterie.kernels.expected import estimate

RECORD = Path(__file__).with_name("regression.json")
SLOWER = 1.5
"""How many times the share on record is too much."""
LABELS = {"ibcc": 100_000, "cbcc": 10_000, "hcbcc": 10_000, "dawid_skene": 300_000}
"""So many that the items weigh most in iBCC, and the annotators in the others; Dawid-Skene is
called once an iteration, and calling must not be what is measured."""
ITEMS = {"items_2": (2, False), "items_3": (3, False), "items_guesses": (3, True)}
"""Classes, and whether labels may be guesses: the loops over items, against the naive iBCC."""
ITEM_LABELS = 100_000
KERNELS = (*LABELS, *ITEMS, "consensus")
ROUNDS, ATTEMPTS = 11, 3
FIT_ROUNDS = 3
"""Of what takes long."""

Run = Callable[[int], object]


def too_slow(shares: Mapping[str, float], record: Mapping[str, float]) -> list[str]:
    """Those whose share of the naive one's time is too far above the one on record."""
    return [name for name, share in shares.items() if share > SLOWER * record[name]]


def runs_of(kernel: str) -> tuple[Run, Run]:
    """Ours and the naive one, from the same place."""
    if kernel in ITEMS:
        return item_runs(*ITEMS[kernel])
    if kernel == "consensus":
        return fit_runs()
    data = problems.synthetic(LABELS[kernel])
    if kernel in NAMES:
        start = vote(data), problems.groups()
        return Sampler(kernel, data, start).run, naive.Sampler(kernel, data, start).run
    first = np.eye(data.n_classes)[vote(data)]
    items = in_memory(data)
    steps = maximise(items, estimate(items.count(first, data.n_classes)))
    return lambda n: list(islice(steps, n)), naive.dawid_skene(data, first)


def item_runs(classes: int, guesses: bool) -> tuple[Run, Run]:
    """The loop over items given everybody's matrices, and the truth sweep of the naive iBCC."""
    shards = MadeShards(ITEM_LABELS, 1_000, 1, right=True, classes=classes)
    sizes = sizes_of(shards, hard=guesses)
    session, given, sweeps = held_by(Threads(0), shards, sizes), given_for(sizes), count()
    stream = np.array([1, 2, 3], np.uint64)

    def run(n: int) -> None:
        for _ in range(n):
            session.sweep(Order(0, stream, given, tallied=next(sweeps)))

    data = codes_of(shards.open(0), classes, classes)
    nobody = np.zeros(shards.n_annotators, np.int64)
    data = data._replace(annotator_start=np.append(0, np.cumsum(shards.labels_per_annotator)))
    return run, naive.Sampler("ibcc", data, (vote(data), nobody)).run


def fit_runs() -> tuple[Run, Run]:
    """A default fit with what it reports; as many sweeps of the naive hcBCC as its chains make."""
    crowd = coterie.simulate("mixed", items=200, annotators=30, labels_per_item=10, random_state=0)
    given, model = crowd.annotations, coterie.Consensus(random_state=0, n_jobs=1, progress=False)
    sweeps = naive.Sampler("hcbcc", given.codes, (vote(given.codes), np.arange(30) % 5)).run

    def run(n: int) -> None:
        for _ in range(n):
            posterior = model.fit(given).posterior_
            posterior.labels(), posterior.annotators(), posterior.coteries()

    return run, lambda n: sweeps(model.chains * model.sweeps * n)


def share(kernel: str) -> float:
    """Our time as a share of the naive one's: the median over rounds of short blocks."""
    ours, other = runs_of(kernel)
    n_ours, n_other = block_length(ours), block_length(other)
    return statistics.median(
        (seconds_of(ours, n_ours) / n_ours) / (seconds_of(other, n_other) / n_other)
        for _ in range(FIT_ROUNDS if kernel == "consensus" else ROUNDS)
    )


def measure(kernels: tuple[str, ...]) -> dict[str, float]:
    shares = {}
    for kernel in kernels:
        shares[kernel] = round(share(kernel), 3)
        print(f"{kernel:14s} ours / naive = {shares[kernel]:.3f}", flush=True)
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
    warnings.simplefilter("ignore")  # that a fit has not converged is not the point here
    if options.record:
        RECORD.write_text(json.dumps(measure(KERNELS), indent=2) + "\n")
        return 0
    return check(json.loads(RECORD.read_text()))


if __name__ == "__main__":
    sys.exit(main())
