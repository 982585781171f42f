"""Whole sweeps of the three models against naive ones, and what each part of them takes.

``python -m benchmarks.samplers.sweeps [labels]``. A chain of ours runs in; both go on from its
truth and clusters, because a sweep's time depends on the number of clusters.
"""

from __future__ import annotations

from benchmarks import naive
from benchmarks.samplers import problems
from benchmarks.samplers.adapters import NAMES, Sampler, one_group, vote
from benchmarks.samplers.parts import parts_of
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


def parts(report: Report, name: str, sampler: Sampler) -> None:
    taken = {part: in_turns([once], 1.0)[0] for part, once in parts_of(sampler).items()}
    total = sum(taken.values())
    for part, seconds in taken.items():
        report.row(f"{name} {part}", f"{1e6 * seconds:,.1f}", f"{seconds / total:.0%}")


def main(report: Report, labels: int) -> None:
    problem = dict(problems.all_of(report, min(labels, LARGEST), smallest=min(labels, LARGEST)))
    at_rest, ratios = {}, []
    report.table("Whole sweeps", *COLUMNS)
    for name, data in problem.items():
        for model in NAMES:
            label = f"{name}, {NAMES[model]}"
            pair = both(model, data)
            ratios.append(whole(report, label, pair))
            at_rest[label] = pair[0]
    report.ratio("naive / ours, worst", min(ratios), TARGET)
    report.table("Parts of a sweep", "data, model, part", "µs", "share")
    for label, sampler in at_rest.items():
        parts(report, label, sampler)


if __name__ == "__main__":
    run(main)
