"""The truth sweep of iBCC, against a plain C loop and against the kernels before they were fast.

``python -m benchmarks.samplers.truth [labels]``. All are measured in turns, from the same state.
"""

from __future__ import annotations

import math
from typing import Any

from benchmarks.samplers import c_loop, problems
from benchmarks.samplers.adapters import OURS, TWIN, Sampler, one_group
from benchmarks.samplers.parts import truth_sweeps
from benchmarks.samplers.report import Report, run
from benchmarks.samplers.timing import in_turns
from coterie.data.codes import Codes

OURS_TO_C, TWIN_TO_OURS = "<= 1.5", ">= 2.3"
BURN_IN = 20
COLUMNS = ("data", "ours", "twin", "C", "C, no repeats", "ours / C", "twin / ours")


def measure(report: Report, name: str, data: Codes, libraries: list[Any]) -> tuple[float, float]:
    """Print a row; give ours / C (or NaN) and twin / ours."""
    start = Sampler(OURS, "ibcc", data, one_group(data))
    start.run(BURN_IN)
    ours, twin = (Sampler(side, "ibcc", data, start.where()) for side in (OURS, TWIN))
    loops = [c_loop.CLoop(library, ours) for library in libraries]
    for loop in loops:
        c_loop.check(loop, ours)
    seconds = in_turns([truth_sweeps(ours), truth_sweeps(twin), *(loop.run for loop in loops)])
    by_c = seconds[0] / seconds[2] if loops else math.nan
    by_twin = seconds[1] / seconds[0]
    cells = [f"{1e9 * taken / len(data.item_answer):.1f}" for taken in seconds]
    cells += ["-"] * (4 - len(cells))
    report.row(name, *cells, f"{by_c:.2f}" if loops else "-", f"{by_twin:.2f}")
    if loops:
        report.remark(f"{name}: ours / C", by_c, OURS_TO_C)
    report.remark(f"{name}: twin / ours", by_twin, TWIN_TO_OURS)
    return by_c, by_twin


def main(report: Report, labels: int) -> None:
    libraries = c_loop.build_both()
    report.table("Truth sweep of iBCC, nanoseconds a label", *COLUMNS)
    if not libraries:
        report.say("gcc is not there: no C loop to measure against")
    ratios = [
        measure(report, name, data, libraries) for name, data in problems.all_of(report, labels)
    ]
    by_c, by_twin = zip(*ratios, strict=True)
    if libraries:
        report.ratio("ours / C, worst", max(by_c), OURS_TO_C)
    report.ratio("twin / ours, worst", min(by_twin), TWIN_TO_OURS)


if __name__ == "__main__":
    run(main)
