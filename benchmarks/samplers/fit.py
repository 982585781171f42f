"""What a fit adds to its sweeps: draws, pooling and diagnostics against bare chains.

``python -m benchmarks.samplers.fit [labels]``. As many sweeps of as many chains run twice in turns:
by ``fit``, and by chains that keep no draw. The clock is that of the process, which counts for
neither what else the machine does. Whole runs keep the default number of draws; large crowds make
fewer sweeps, in which what a fit does once weighs more.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.samplers import problems
from benchmarks.samplers.adapters import NAMES, Sampler
from benchmarks.samplers.report import Report, run
from coterie.data.annotations import Annotations
from coterie.models import SamplingEstimator, make_model

TARGET = "<= 1.5"
LARGEST = 100_000
TURNS = 3
SEED = 1
SHORT = {"sweeps": 500, "burn_in": 150, "thin": 7}
"""Of crowds so large that whole runs take minutes: draws as far apart as in those."""
COLUMNS = ("data, model", "sweeps", "draws", "sweeps, s", "fit, s", "fit / sweeps")


class Job(NamedTuple):
    """A model on data."""

    name: str
    model: SamplingEstimator
    annotations: Annotations


def jobs(report: Report, largest: int) -> Iterator[Job]:
    """All models on all data: whole runs as users make them, and runs of fixed length."""
    settings = {"random_state": SEED, "n_jobs": 1, "progress": False}
    for data, codes in problems.all_of(report, largest, smallest=largest):
        annotations = problems.annotations(codes)
        for model, name in NAMES.items():
            whole = {} if data in problems.REAL else SHORT
            fixed = make_model(model, early_stop=False, **settings, **whole)
            yield Job(f"{data}, {name}", fixed, annotations)
            if data in problems.REAL:
                stops = make_model(model, **settings)
                yield Job(f"{data}, {name}, stopping early", stops, annotations)


def sweeps(job: Job, n: int) -> None:
    """Make the sweeps of all chains, and nothing else."""
    for number in range(job.model.chains):
        Sampler(job.model, job.annotations, seed=SEED, number=number).run(n)


def seconds(work: Callable[[], object]) -> float:
    """The processor time that the work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(report: Report, job: Job) -> float:
    """Write a row; give the ratio."""
    posterior = job.model.fit(job.annotations).posterior_  # compiles, and says how long it runs
    n_sweeps, n_draws = posterior.run["sweeps"], posterior.draws.class_balance.shape[1]
    sweeps(job, 1)
    both = [
        (seconds(lambda: sweeps(job, n_sweeps)), seconds(lambda: job.model.fit(job.annotations)))
        for _ in range(TURNS)
    ]
    bare, whole = map(min, zip(*both, strict=True))
    report.row(
        job.name, f"{n_sweeps:,}", f"{n_draws:,}", f"{bare:.2f}", f"{whole:.2f}",
        f"{whole / bare:.2f}",
    )  # fmt: skip
    return whole / bare


def main(report: Report, labels: int) -> None:
    warnings.simplefilter("ignore")  # that chains have not converged is not the point here
    report.table("A whole fit, 4 chains in one thread, against its bare sweeps", *COLUMNS)
    ratios = {job.name: measure(report, job) for job in jobs(report, min(labels, LARGEST))}
    fixed = [ratio for name, ratio in ratios.items() if "early" not in name]
    report.ratio("fit / sweeps at the default number of draws, worst", max(fixed), TARGET)


if __name__ == "__main__":
    run(main)
