"""How long the default takes, with compiled kernels: `python -m benchmarks consensus`.

Whole fits of Consensus as users make them, 4 chains of 300 sweeps, to the finished Posterior: a
small set, and one of 150,000 labels with ten classes. Wall time counts what else the machine does;
processor time, shared by the cores, does not.
"""

from __future__ import annotations

import time
import warnings

import coterie
from benchmarks.default import DATA, LARGEST, sets
from benchmarks.samplers.report import Report, run
from coterie.inference.shards import cores

TARGETS = {"rte": "<= 3", "cifar10n": "<= 60"}
"""Seconds on two cores, by data set."""
TURNS = 3
"""Runs of a set that takes seconds, the shortest of which counts."""
LONG = 20.0


def measure(labels: coterie.Annotations) -> tuple[float, float]:
    """The shortest wall time and the least processor time of a few runs."""
    model = coterie.Consensus(random_state=0, duplicates="keep", progress=False)
    times = []
    for _ in range(TURNS):
        wall, processor = time.perf_counter(), time.process_time()
        model.fit(labels)
        times.append((time.perf_counter() - wall, time.process_time() - processor))
        if times[-1][0] > LONG:
            break
    walls, processors = zip(*times, strict=True)
    return min(walls), min(processors)


def main(report: Report, labels: int) -> None:
    warnings.simplefilter("ignore")  # that labels are not settled is not the point here
    threads = min(cores(), 4)
    report.table(
        f"Whole fits of Consensus, 4 chains of 300 sweeps, {threads} threads",
        *("data", "labels", "classes", "wall, s", "processor, s", "per core, s"),
    )
    if not DATA.exists():
        report.say("the data sets are not there: nothing is measured")
        return
    crowd = coterie.simulate("mixed", items=30, annotators=6, random_state=0).annotations
    coterie.Consensus(random_state=0, sweeps=50, burn_in=10, progress=False).fit(crowd)  # compiles
    for name, (given, _) in sorted(sets(list(TARGETS), LARGEST).items(), reverse=True):
        wall, processor = measure(given)
        report.row(
            name, f"{given.n_labels:,}", f"{given.n_classes}", f"{wall:.2f}", f"{processor:.2f}",
            f"{processor / threads:.2f}",
        )  # fmt: skip
        report.ratio(f"{name}, wall time in s", wall, TARGETS[name])
        report.ratio(f"{name}, processor time per core in s", processor / threads, TARGETS[name])


if __name__ == "__main__":
    run(main)
