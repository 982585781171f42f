"""Whole sweeps of the three models against naive ones.

``python -m benchmarks.samplers.sweeps [labels]``. A chain of ours runs in; both go on from its
truth and clusters, because a sweep's time depends on the number of clusters.
"""

from __future__ import annotations

from benchmarks import naive
from benchmarks.samplers import problems
from benchmarks.samplers.adapters import NAMES, Sampler, one_group, vote
from benchmarks.samplers.report import Report, run
from benchmarks.samplers.timing import in_turns
from coterie.data.codes import Codes

TARGET = ">= 3"
LARGEST = 1_000_000
BURN_IN, FEWER, SETTLE = 300, 60, 20
ATTEMPTS = 8
COLUMNS = (
    "data, model", "ours, µs", "naive, µs", "naive / ours", "clusters ours", "clusters naive",
)  # fmt: skip

Pair = tuple[Sampler, naive.Sampler]


def both(model: str, data: Codes) -> Pair:
    """Ours and the naive one from one place."""
    synthetic = len(data.item_answer) >= 10_000
    start = (vote(data), problems.groups()) if synthetic else one_group(data)
    first = Sampler(model, data, start)
    # Large crowds settle in few sweeps, and a sweep takes long.
    first.run(FEWER if synthetic else BURN_IN)
    where = first.where()
    for _ in range(ATTEMPTS):
        pair = Sampler(model, data, where, seed=1), naive.Sampler(model, data, where, seed=1)
        for sampler in pair:
            sampler.run(SETTLE)
        if model == "ibcc":
            break
        fewest, most = sorted(pair, key=lambda sampler: sampler.clusters[-1])
        # The clusters of a large crowd hardly move: go on from those of one side.
        if not synthetic or fewest.clusters[-1] == most.clusters[-1]:
            break
        where = fewest.where()
    for sampler in pair:
        sampler.clusters.clear()
    return pair


def clusters(sampler: Sampler | naive.Sampler) -> str:
    if sampler.model == "ibcc":
        return "-"
    return f"{sum(sampler.clusters) / len(sampler.clusters):.2f}"


def whole(report: Report, name: str, samplers: Pair) -> float:
    """Write a row; give how many times faster ours is."""
    ours, other = in_turns([sampler.run for sampler in samplers])
    groups = map(clusters, samplers)
    report.row(name, f"{1e6 * ours:,.0f}", f"{1e6 * other:,.0f}", f"{other / ours:.2f}", *groups)
    return other / ours


def main(report: Report, labels: int) -> None:
    problem = dict(problems.all_of(report, min(labels, LARGEST), smallest=min(labels, LARGEST)))
    ratios = []
    report.table("Whole sweeps", *COLUMNS)
    for name, data in problem.items():
        for model in NAMES:
            label = f"{name}, {NAMES[model]}"
            ratios.append(whole(report, label, both(model, data)))
    report.ratio("naive / ours, worst", min(ratios), TARGET)


if __name__ == "__main__":
    run(main)
