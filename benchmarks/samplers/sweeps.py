"""Whole sweeps of the three models, and what each part of them takes, before and after.

``python -m benchmarks.samplers.sweeps [labels]``. A chain of ours runs in; both sides go on from
its truth and clusters, because a sweep's time depends on the number of clusters.
"""

from __future__ import annotations

from benchmarks.samplers import problems
from benchmarks.samplers.adapters import NAMES, OURS, TWIN, Sampler, one_group, vote
from benchmarks.samplers.parts import parts_of
from benchmarks.samplers.report import Report, run
from benchmarks.samplers.timing import in_turns
from coterie.data.codes import Codes

TARGET = ">= 3"
LARGEST = 1_000_000
BURN_IN, FEWER, SETTLE = 300, 60, 20
ATTEMPTS = 8
COLUMNS = ("data, model", "ours, µs", "twin, µs", "twin / ours", "clusters ours", "clusters twin")


def both(model: str, data: Codes) -> tuple[Sampler, Sampler]:
    """Samplers of both sides from one place."""
    synthetic = len(data.item_answer) >= 10_000
    start = (vote(data), problems.groups()) if synthetic else one_group(data)
    first = Sampler(OURS, model, data, start)
    # Large crowds settle in few sweeps, and a sweep takes long.
    first.run(FEWER if synthetic else BURN_IN)
    where = first.where()
    for _ in range(ATTEMPTS):
        pair = tuple(Sampler(side, model, data, where, seed=1) for side in (OURS, TWIN))
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


def clusters(sampler: Sampler) -> str:
    mean = sum(sampler.clusters) / len(sampler.clusters)
    return f"{mean:.2f}" if mean else "-"


def whole(report: Report, name: str, samplers: tuple[Sampler, Sampler]) -> float:
    """Write a row; give how many times faster ours is."""
    ours, twin = in_turns([sampler.run for sampler in samplers])
    groups = map(clusters, samplers)
    report.row(name, f"{1e6 * ours:,.0f}", f"{1e6 * twin:,.0f}", f"{twin / ours:.2f}", *groups)
    return twin / ours


def parts(report: Report, name: str, samplers: tuple[Sampler, Sampler]) -> None:
    ours, twin = (parts_of(sampler) for sampler in samplers)
    taken = {part: in_turns([ours[part], twin[part]], 1.0) for part in ours}
    totals = [sum(times) for times in zip(*taken.values(), strict=True)]
    for part, (after, before) in taken.items():
        report.row(
            f"{name} {part}",
            f"{1e6 * before:,.1f}",
            f"{before / totals[1]:.0%}",
            f"{1e6 * after:,.1f}",
            f"{after / totals[0]:.0%}",
            f"{before / after:.2f}",
        )


def main(report: Report, labels: int) -> None:
    problem = dict(problems.all_of(report, min(labels, LARGEST), smallest=min(labels, LARGEST)))
    at_rest, ratios = {}, []
    report.table("Whole sweeps", *COLUMNS)
    for name, data in problem.items():
        for model in NAMES:
            label = f"{name}, {NAMES[model]}"
            at_rest[label] = both(model, data)
            ratio = whole(report, label, at_rest[label])
            if model != "ibcc":
                ratios.append(ratio)
    report.ratio("cBCC and hcBCC, twin / ours, worst", min(ratios), TARGET)
    report.table(
        "Parts of a sweep, before (twin) and after (ours)",
        "data, model, part", "before, µs", "share", "after, µs", "share", "before / after",
    )  # fmt: skip
    for label, samplers in at_rest.items():
        parts(report, label, samplers)


if __name__ == "__main__":
    run(main)
