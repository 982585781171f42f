"""How fast the number of coteries mixes, with splits and merges and without.

``python -m benchmarks.samplers.coteries [data set or model ...]``. Four chains of each kind, in
turns, from the same starts, as long as each other; effective draws are those of all four together,
so that chains which stay apart count for little. The clock is that of the process.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import coterie
from benchmarks.samplers.report import Report, run
from coterie.inference import Chain
from coterie.kernels.keep import Record, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from coterie.models import make_model

DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = ("rte", "dog", "adult", "music_genre", "relevance")
MODELS = {"cbcc": "cBCC", "hcbcc": "hcBCC", "consensus": "Consensus"}
CHAINS, SWEEPS, BURN_IN = 4, 2_000, 1_000
"""Chains on large sets still climb after 300 sweeps; draws of a climb say nothing of mixing."""
COLUMNS = (
    "data, model", "coteries", "without, draws/s", "with, draws/s", "with / without",
)  # fmt: skip
BEST, LEAST = ">= 3", ">= 0.8"


class Runner:
    """A chain that makes as many sweeps as it is told, with a number of proposals in each."""

    def __init__(self, sampler: Any, number: int, seed: np.random.SeedSequence, splits: bool):
        self.sampler, self.chain = sampler, Chain(sampler, number, seed)
        kernels, data = sampler.kernels, sampler.data
        self.scratch = kernels.new_scratch(self.chain.state, data, sampler.prior)
        if not splits:
            proposals_of(self.scratch)[0] = 0

    def sweep(self, n: int) -> tuple[np.ndarray, float]:
        """The numbers of coteries after each of n sweeps, and the processor time they took."""
        sampler, chain, data = self.sampler, self.chain, self.sampler.data
        trace = new_trace(n, data.n_classes)
        record = Record(new_tally(data, sampler.layout), trace, keep_nothing(data))
        start = time.process_time()
        sampler.kernels.run_block(
            chain.state, data, sampler.prior, chain.streams, record, self.scratch
        )
        return trace.n_coteries.astype(float), time.process_time() - start


def proposals_of(scratch: Any) -> np.ndarray:
    """Where a chain's scratch says how many splits and merges are proposed in a sweep."""
    room = scratch.split if hasattr(scratch, "split") else scratch.room
    room = getattr(room, "crowd", room)
    return getattr(room, "split", room).proposals


def effective(chains: np.ndarray) -> float:
    """Bulk effective draws of all chains together, shape (chains, draws)."""
    from arviz_stats.base import array_stats

    return float(array_stats.ess(chains, method="bulk"))


def rates(model: str, annotations: coterie.Annotations) -> tuple[list[float], float]:
    """Effective draws a second without and with the move, and the mean number with it."""
    sampler = make_model(model, random_state=1, progress=False)._sampler(annotations)
    found: list[list[np.ndarray]] = [[], []]
    seconds = [0.0, 0.0]
    for number, seed in enumerate(np.random.SeedSequence(1).spawn(CHAINS)):
        for splits in (0, 1):
            runner = Runner(sampler, number, seed, bool(splits))
            runner.sweep(BURN_IN)
            trace, taken = runner.sweep(SWEEPS)
            found[splits].append(trace)
            seconds[splits] += taken
    every = [np.array(traces) for traces in found]
    per_second = [effective(one) / taken for one, taken in zip(every, seconds, strict=True)]
    return per_second, float(every[1].mean())


def main(report: Report, labels: int) -> None:
    chosen = [word for word in sys.argv[1:] if not word.isdigit()]
    report.table("Effective draws of the number of coteries", *COLUMNS)
    ratios = {}
    for name in [name for name in SETS if name in chosen] or SETS:
        path = DATA / name / "labels.csv"
        if not path.exists():
            report.say(f"{name} is not there ({path.parent.parent.name}): not measured")
            continue
        annotations = coterie.read(path, duplicates="keep")
        for model in [model for model in MODELS if model in chosen] or MODELS:
            (without, with_it), mean = rates(model, annotations)
            label = f"{name}, {MODELS[model]}"
            ratios[label] = without, with_it / without
            cells = f"{mean:.1f}", f"{without:,.2f}", f"{with_it:,.2f}", f"{with_it / without:.2f}"
            report.row(label, *cells)
    if ratios:
        slowest = min(ratios, key=lambda label: ratios[label][0])
        worst = min(ratios, key=lambda label: ratios[label][1])
        report.ratio(f"where it is slowest without ({slowest})", ratios[slowest][1], BEST)
        report.ratio(f"least gain ({worst})", ratios[worst][1], LEAST)


if __name__ == "__main__":
    run(main)
