"""Dawid-Skene against crowd-kit: seconds per iteration, and peak memory of the whole process.

``python -m benchmarks.dawid_skene [labels]``. The target: at most 1/25 of the time, and at most
half the memory, for 10 million labels. Both read the same frame, integer ids in the order of the
items, which is what crowd-kit is fastest with. Each runs in a child process that reports its own
peak; this process stays small, because a child's peak counts that of its parent.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

LABELS = 10_000_000
N_ANNOTATORS, N_CLASSES, LABELS_PER_ITEM = 1_000, 3, 10
TIME_TARGET, MEMORY_TARGET = 25, 2
FORCED = -1e9  # a tol that stops neither; crowd-kit's own rule may end it after two iterations


def simulate(folder: Path, labels: int) -> None:
    """Write a crowd with accuracies from 0.4 to 0.95 and different annotators for each item."""
    import numpy as np

    rng = np.random.default_rng(0)
    item = np.arange(labels) // LABELS_PER_ITEM
    n_items = item[-1] + 1
    step = N_ANNOTATORS // LABELS_PER_ITEM
    annotator = rng.integers(N_ANNOTATORS, size=n_items)[item]
    annotator += step * (np.arange(labels) % LABELS_PER_ITEM)
    annotator %= N_ANNOTATORS
    right = rng.random(labels) < rng.uniform(0.4, 0.95, N_ANNOTATORS)[annotator]
    truth = rng.integers(N_CLASSES, size=n_items)[item]
    wrong = (truth + rng.integers(1, N_CLASSES, size=labels)) % N_CLASSES
    np.save(folder / "task.npy", item)
    np.save(folder / "worker.npy", annotator)
    np.save(folder / "label.npy", np.where(right, truth, wrong))


def load(folder: Path) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    return pd.DataFrame(
        {name: np.load(folder / f"{name}.npy") for name in ("task", "worker", "label")}
    )


def fastest(ticks: list[float]) -> float:
    """The shortest iteration, from the times at which they ended: other work only adds to it."""
    return min(after - before for before, after in pairwise(ticks))


def run_coterie(frame: pd.DataFrame) -> float:
    import coterie
    from coterie.inference.ascent import in_memory, maximise
    from coterie.kernels.expected import estimate

    model = coterie.DawidSkene(2, FORCED).fit(frame)  # for the memory; compiles, too
    posterior = model.posterior_
    items = in_memory(posterior.annotations.codes)
    start = estimate(items.count(posterior.item_probability, N_CLASSES))
    ticks = [time.perf_counter() for _ in islice(maximise(items, start), 30)]
    return fastest(ticks)


def run_crowdkit(frame: pd.DataFrame) -> float:
    from crowdkit.aggregation import DawidSkene

    ticks = []

    class Timed(DawidSkene):
        def _evidence_lower_bound(self, *args):
            bound = super()._evidence_lower_bound(*args)  # the last thing in an iteration
            ticks.append(time.perf_counter())
            return bound

    Timed(5, FORCED).fit(frame)
    return fastest(ticks)


def child(what: str, folder: Path, labels: int) -> None:
    """Do one job and print what it took."""
    import resource

    if what == "simulate":
        simulate(folder, labels)
        return
    seconds = {"coterie": run_coterie, "crowdkit": run_crowdkit}[what](load(folder))
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(json.dumps([seconds, peak]))


def run_child(what: str, folder: str, labels: int) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.dawid_skene", what, folder]
    done = subprocess.run([*command, str(labels)], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def main(labels: int = LABELS) -> None:
    print(
        f"Dawid-Skene, {labels:,} labels; targets: at most 1/{TIME_TARGET} of crowd-kit's time an "
        f"iteration, at most 1/{MEMORY_TARGET} of its peak memory"
    )
    print(f"{'':10s} {'s/iteration':>12s} {'peak MB':>9s}", flush=True)
    installed = importlib.util.find_spec("crowdkit") is not None
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        run_child("simulate", folder, labels)
        for what in ("coterie", "crowdkit")[: 1 + installed]:
            seconds, peak = json.loads(run_child(what, folder, labels))
            measured.append((seconds, peak))
            print(f"{what:10s} {seconds:12.3f} {peak:9.0f}", flush=True)
    if not installed:
        print("crowd-kit is not installed (pip install crowd-kit): no ratios")
        return
    (our_seconds, our_peak), (their_seconds, their_peak) = measured
    print(f"time: 1/{their_seconds / our_seconds:.1f}   memory: 1/{their_peak / our_peak:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] and not sys.argv[1].isdigit():
        child(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:2]))
