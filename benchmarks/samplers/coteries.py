"""How fast the number of coteries mixes, with splits and merges and without.

``python -m benchmarks.samplers.coteries [data set or model ...]``. Chains of each kind, in turns,
from the same starts, as long as each other: until both kinds have enough effective draws, or time
is up. Effective draws are those of all chains together, so that chains which stay apart count for
little. The clock is that of the process.

A ratio of which chains do not agree, or which have a handful of effective draws, says nothing: it
stands in brackets. Two things tell how much the others say: the interval is the jackknife's, each
chain left out of both kinds in turn; and *within* is the ratio by effective draws of each chain
alone, summed: how fast chains move where they are, whether or not they ever leave it.

Chains that stay apart have about as many effective draws as there are chains, however far they are
from where they should be. So there is a third ratio, *by error*: effective draws are what makes the
error of a chain's mean that of so many independent draws, variance / error^2. The error is that
against the mean of the chains with the move in the second half (of the others, for one of these),
which is right if the move is: that is what its exact tests are for.

All of it takes two hours. With COTERIE_BENCH_KEPT it can be made in parts; the word ``kept`` makes
a table of the parts that are there.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import coterie
from benchmarks.samplers.adapters import Sampler
from benchmarks.samplers.report import Report, run

DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = ("rte", "bluebird", "dog", "adult", "music_genre", "relevance")
MODELS = {"cbcc": "cBCC", "hcbcc": "hcBCC", "consensus": "Consensus"}
CHAINS, ROUND, BURN_IN = 8, 500, 1_000
"""Sweeps that are dropped, if what follows has effective draws enough. If not, chains may still
climb, on large sets for thousands of sweeps, which says nothing of mixing: they go on, and the
first half of what was run is dropped."""
ENOUGH, SECONDS = 1_000, 300.0
"""Effective draws of each kind, or seconds of both after burn-in, that are enough."""
KEPT = "COTERIE_BENCH_KEPT"
"""The environment variable that names a folder to keep the chains in: what is there is read."""
FEWEST, FARTHEST = 100, 1.1
"""With fewer effective draws, or a larger R-hat, a ratio says nothing."""
COLUMNS = (
    "data, model", "coteries", "R-hat without, with", "effective draws", "without, draws/s",
    "with, draws/s", "with / without", "95 %", "within", "by error",
)  # fmt: skip
BEST, LEAST = ">= 3", ">= 0.8"


class Runner:
    """A chain that makes as many sweeps as it is told, with splits and merges or without."""

    def __init__(self, model: str, annotations: coterie.Annotations, number: int, splits: bool):
        self.sampler = Sampler(model, annotations, seed=number, number=number)
        if not splits:
            self.sampler.chain.people.proposals = lambda *_: 0

    def sweep(self, n: int) -> tuple[np.ndarray, float]:
        """The numbers of coteries after each of n sweeps, and the processor time they took."""
        start = time.process_time()
        noted = self.sampler.run(n)
        return noted["n_coteries"].astype(float), time.process_time() - start


def effective(chains: np.ndarray) -> float:
    """Bulk effective draws of all chains together, shape (chains, draws)."""
    from arviz_stats.base import array_stats

    return float(array_stats.ess(chains, method="bulk"))


def effective_within(chains: np.ndarray) -> float:
    """Those of each chain alone, summed; a chain that never moves has none."""
    return sum(effective(one[None]) for one in chains if np.ptp(one) > 0)


def by_error(numbers: np.ndarray, seconds: np.ndarray) -> float:
    """With / without, effective draws being those that a chain's error would take."""
    late = numbers[1, :, numbers.shape[2] // 2 :].mean(axis=1)
    means = numbers.mean(axis=2)
    others = (late.sum() - late) / (len(late) - 1)
    error = np.array([((means[0] - late.mean()) ** 2).mean(), ((means[1] - others) ** 2).mean()])
    per_second = 1 / error / seconds.sum(axis=1)  # the variance is that of the same posterior
    return float(per_second[1] / per_second[0])


def farthest(numbers: np.ndarray) -> list[float]:
    """R-hat without and with the move."""
    from arviz_stats.base import array_stats

    return [float(array_stats.rhat(one)) for one in numbers]


def measure(model: str, annotations: coterie.Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of coteries, (2, chains, sweeps), without and with the move; seconds they took."""
    Runner(model, annotations, 0, True).sweep(1)  # compiled before the clock starts
    runners = [
        [Runner(model, annotations, number, splits) for number in range(CHAINS)]
        for splits in (False, True)
    ]
    numbers, seconds = play_round(runners, BURN_IN)
    while not_enough(numbers, seconds):
        more, took = play_round(runners, ROUND)
        numbers, seconds = np.concatenate([numbers, more], axis=2), seconds + took
    return numbers, seconds


def not_enough(numbers: np.ndarray, seconds: np.ndarray) -> bool:
    """Whether another round is due."""
    settled, took = after_burn_in(numbers, seconds)
    if not settled.size:
        return True
    return bool(took.sum() < SECONDS and min(map(effective, settled)) < ENOUGH)


def after_burn_in(numbers: np.ndarray, seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers after the burn-in, and the seconds of these."""
    settled = numbers[:, :, BURN_IN:]
    if settled.size and min(map(effective, settled)) < ENOUGH:
        settled = numbers[:, :, max(BURN_IN, numbers.shape[2] // 2) :]
    return settled, seconds * settled.shape[2] / numbers.shape[2]


def kept_in(name: str, model: str) -> Path | None:
    """The file in which chains are kept, if any are."""
    folder = os.environ.get(KEPT)
    return Path(folder, f"{name}-{model}.npz") if folder else None


def kept(name: str, model: str, annotations: coterie.Annotations) -> tuple[np.ndarray, np.ndarray]:
    """What is measured, or was before: after the burn-in."""
    path = kept_in(name, model)
    if path and path.exists():
        with np.load(path) as found:
            numbers, seconds = found["numbers"], found["seconds"]
    else:
        numbers, seconds = measure(model, annotations)
        if path:
            np.savez(path, numbers=numbers, seconds=seconds)
    return after_burn_in(numbers, seconds)


def play_round(runners: list[list[Runner]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Let every chain make n sweeps, in turns: numbers of coteries, and seconds."""
    numbers, seconds = np.zeros((2, CHAINS, n)), np.zeros((2, CHAINS))
    for number in range(CHAINS):
        for splits in (0, 1):
            numbers[splits, number], seconds[splits, number] = runners[splits][number].sweep(n)
    return numbers, seconds


def rates(numbers: np.ndarray, seconds: np.ndarray, count: Any = effective) -> np.ndarray:
    """Effective draws per second without and with the move."""
    return np.array([count(one) for one in numbers]) / seconds.sum(axis=1)


def interval(numbers: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Where the ratio of the rates is, with a probability of 95 %."""
    from scipy import stats

    log_all = np.log(ratio(rates(numbers, seconds)))
    without = [
        np.log(ratio(rates(np.delete(numbers, k, axis=1), np.delete(seconds, k, axis=1))))
        for k in range(CHAINS)
    ]
    wide = stats.t.ppf(0.975, CHAINS - 1) * np.std(without) * np.sqrt(CHAINS - 1)
    return float(np.exp(log_all - wide)), float(np.exp(log_all + wide))


def ratio(per_second: np.ndarray) -> float:
    """With / without."""
    return float(per_second[1] / per_second[0])


class Measured(NamedTuple):
    """One model on one data set."""

    without: float  # draws per second
    ratio: float
    high: float  # end of its interval
    says: bool  # something
    by_error: float


def add_row(label: str, numbers: np.ndarray, seconds: np.ndarray, report: Report) -> Measured:
    """Report what was measured."""
    per_second, draws, apart = (
        rates(numbers, seconds),
        [*map(effective, numbers)],
        farthest(numbers),
    )
    low, high = interval(numbers, seconds)
    says = min(draws) >= FEWEST and max(apart) <= FARTHEST
    found = f"{ratio(per_second):.2f}"
    report.row(
        label,
        f"{numbers[1].mean():.1f}",
        f"{apart[0]:.2f}, {apart[1]:.2f}",
        f"{draws[0]:,.0f}, {draws[1]:,.0f}",
        *(f"{one:,.2f}" for one in per_second),
        found if says else f"({found})",
        f"{low:.2f} to {high:.2f}",
        f"{ratio(rates(numbers, seconds, effective_within)):.2f}",
        f"{by_error(numbers, seconds):.2f}",
    )
    return Measured(float(per_second[0]), ratio(per_second), high, says, by_error(numbers, seconds))


def sum_up(found: dict[str, Measured], report: Report) -> None:
    """Hold the ratios against the targets, and say which of them say nothing."""
    slowest = min(found, key=lambda label: found[label].without)
    report.ratio(f"where it is slowest without ({slowest})", found[slowest].ratio, BEST)
    report.ratio(f"the same by error ({slowest})", found[slowest].by_error, BEST)
    silent = [label for label in found if not found[label].says]
    telling = {label: one for label, one in found.items() if one.says}
    if telling:
        worst = min(telling, key=lambda label: telling[label].ratio)
        report.ratio(
            f"least gain of those that say something ({worst})", telling[worst].ratio, LEAST
        )
        surely = [label for label in telling if telling[label].high < float(LEAST.split()[1])]
        report.say(f"surely less than that, by the interval: {'; '.join(surely) or 'none'}")
    why = f"R-hat above {FARTHEST} or fewer than {FEWEST} effective draws"
    report.say(f"ratios that say nothing ({why}): {'; '.join(silent) or 'none'}")


def main(report: Report, labels: int) -> None:
    chosen = [word for word in sys.argv[1:] if not word.isdigit()]
    report.table("Effective draws of the number of coteries", *COLUMNS)
    found = {}
    for name in [name for name in SETS if name in chosen] or SETS:
        path = DATA / name / "labels.csv"
        if not path.exists():
            report.say(f"{name} is not there ({path.parent.parent.name}): not measured")
            continue
        annotations = coterie.read(path, duplicates="keep")
        for model in [model for model in MODELS if model in chosen] or MODELS:
            label, file = f"{name}, {MODELS[model]}", kept_in(name, model)
            if "kept" in chosen and not (file and file.exists()):
                report.say(f"{label}: not measured")
                continue
            found[label] = add_row(label, *kept(name, model, annotations), report)
    if found:
        sum_up(found, report)


if __name__ == "__main__":
    run(main)
