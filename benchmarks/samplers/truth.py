"""A sweep of iBCC against a plain C loop, which notes no log joint.

``python -m benchmarks.samplers.truth [labels]``. All are measured in turns, from the same state.
"""

from __future__ import annotations

import math
from typing import Any

from benchmarks.samplers import c_loop, problems
from benchmarks.samplers.adapters import Sampler, one_group
from benchmarks.samplers.report import Report, run
from benchmarks.samplers.timing import in_turns
from coterie.data.codes import Codes

OURS_TO_C = "<= 1.5"
BURN_IN = 20
COLUMNS = ("data", "ours", "C", "C, no repeats", "ours / C")


def measure(report: Report, name: str, data: Codes, libraries: list[Any]) -> float:
    """Print a row; give ours / C."""
    start = Sampler("ibcc", data, one_group(data))
    start.run(BURN_IN)
    ours = Sampler("ibcc", data, start.where())
    loops = [c_loop.CLoop(library, ours) for library in libraries]
    for loop in loops:
        c_loop.check(loop, ours)
    seconds = in_turns([ours.run, *(loop.run for loop in loops)])
    by_c = seconds[0] / seconds[1] if loops else math.nan
    cells = [f"{1e9 * taken / len(data.item_answer):.1f}" for taken in seconds]
    cells += ["-"] * (3 - len(cells))
    report.row(name, *cells, f"{by_c:.2f}" if loops else "-")
    if loops:
        report.remark(f"{name}: ours / C", by_c, OURS_TO_C)
    return by_c


def main(report: Report, labels: int) -> None:
    libraries = c_loop.build_both()
    report.table("A sweep of iBCC, nanoseconds per label", *COLUMNS)
    if not libraries:
        report.say("gcc is not there: no C loop to measure against")
    ratios = [
        measure(report, name, data, libraries) for name, data in problems.all_of(report, labels)
    ]
    if libraries:
        report.ratio("ours / C, worst", max(ratios), OURS_TO_C)


if __name__ == "__main__":
    run(main)
