"""How fast the number of coteries mixes, with splits and merges and without.

``python -m benchmarks.samplers.coteries [data set or model ...]``. Chains of each kind, in turns,
from the same starts, as long as each other; effective draws are those of all together, so that
chains which stay apart count for little. The clock is that of the process.

A handful of effective draws says little: the interval of a ratio is the jackknife's, each chain
left out of both kinds in turn.
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
CHAINS, SWEEPS, BURN_IN = 8, 2_000, 1_000
"""Chains on large sets still climb after 300 sweeps; draws of a climb say nothing of mixing."""
COLUMNS = (
    "data, model", "coteries", "without, draws/s", "with, draws/s", "with / without", "95 %",
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


def measure(model: str, annotations: coterie.Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of coteries, (2, chains, sweeps), without and with the move; seconds they took."""
    sampler = make_model(model, random_state=1, progress=False)._sampler(annotations)
    numbers, seconds = np.zeros((2, CHAINS, SWEEPS)), np.zeros((2, CHAINS))
    for number, seed in enumerate(np.random.SeedSequence(1).spawn(CHAINS)):
        for splits in (0, 1):
            runner = Runner(sampler, number, seed, bool(splits))
            runner.sweep(BURN_IN)
            numbers[splits, number], seconds[splits, number] = runner.sweep(SWEEPS)
    return numbers, seconds


def rates(numbers: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Effective draws a second without and with the move."""
    return np.array([effective(one) for one in numbers]) / seconds.sum(axis=1)


def interval(numbers: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Where the ratio of the rates is, with a probability of 95 %."""
    from scipy import stats

    log_all = log_ratio(rates(numbers, seconds))
    without = [
        log_ratio(rates(np.delete(numbers, k, axis=1), np.delete(seconds, k, axis=1)))
        for k in range(CHAINS)
    ]
    wide = stats.t.ppf(0.975, CHAINS - 1) * np.std(without) * np.sqrt(CHAINS - 1)
    return float(np.exp(log_all - wide)), float(np.exp(log_all + wide))


def log_ratio(per_second: np.ndarray) -> float:
    """Log of with / without."""
    return float(np.log(per_second[1] / per_second[0]))


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
            measured = measure(model, annotations)
            without, with_it = rates(*measured)
            low, high = interval(*measured)
            label = f"{name}, {MODELS[model]}"
            ratios[label] = without, with_it / without, high
            cells = f"{without:,.2f}", f"{with_it:,.2f}", f"{with_it / without:.2f}"
            mean = measured[0][1].mean()
            report.row(label, f"{mean:.1f}", *cells, f"{low:.2f} to {high:.2f}")
    if ratios:
        slowest = min(ratios, key=lambda label: ratios[label][0])
        worst = min(ratios, key=lambda label: ratios[label][1])
        report.ratio(f"where it is slowest without ({slowest})", ratios[slowest][1], BEST)
        report.ratio(f"least gain ({worst})", ratios[worst][1], LEAST)
        surely = [label for label in ratios if ratios[label][2] < float(LEAST.split()[1])]
        report.say(f"surely less than that, by the interval: {', '.join(surely) or 'none'}")


if __name__ == "__main__":
    run(main)
