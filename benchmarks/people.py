"""What is said of people, against gold: `python -m benchmarks people` (`-m benchmarks.people rte`).

Of annotators with at least ten labels on gold items in the sets of ../shared/data: how far the
accuracy that a model shows is from the share of those labels that are right, how many intervals
hold that share, and how far rows of confusion matrices are from those that gold gives. Means over
sets, each counting once. Intervals get binomial noise here, and only here: gold shows a share of n
labels, not a probability. ``--labels 60000`` leaves larger sets out.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import spearmanr

import coterie
from benchmarks.default import sets
from benchmarks.samplers.report import Report, run
from coterie.kernels.right import SHIFT
from coterie.models import make_model
from coterie.studies.journal import Journal

LEAST = 10
"""Labels on gold items that an annotator must have, and labels that a row must have."""
NO_PEOPLE = ("cifar10n",)
"""Sets whose annotator ids carry no signal."""
DRAWS = 1_000
CROWDS = 5
"""Simulated ones."""
JOURNAL = "COTERIE_BENCH_JOURNAL"
"""The environment variable that names a folder of what is measured already: a run can go on."""
SHORT = {"sweeps": 500, "burn_in": 150, "early_stop": False}
NUMBERS = {
    "RMSE": "Root mean square error of accuracies",
    "bias": "Bias of accuracies",
    "rank": "Rank correlation of accuracies",
    "cover": "Coverage of the 95 % intervals as they are shown, %",
    "rows": "Rows of confusion matrices: mean total variation distance",
}
DIGITS = {"cover": 0, "unshifted": 0, "shifted": 0, "rank": 2}
SHOWN = ("Consensus", "HCBCC", "IBCC", "DawidSkene")


class Given(NamedTuple):
    """A crowd, and its labels counted by annotator, true class and answer."""

    name: str
    labels: coterie.Annotations
    counts: np.ndarray


class Said(NamedTuple):
    """What a model says of people."""

    accuracy: np.ndarray  # (annotators,)
    draws: np.ndarray  # (draws, annotators)   of accuracies, without a common shift
    confusion: np.ndarray  # (annotators, classes, answers)
    has_shift: bool  # the intervals that it shows allow for mistakes that all share


SETTINGS = {"random_state": 0, "duplicates": "keep", "progress": False}


def shown_by_consensus(given: coterie.Annotations) -> Said:
    found = make_model("consensus", **SETTINGS).fit(given).posterior_
    shown = found.annotators()["accuracy"].to_numpy()
    return Said(shown, shares(found), found.confusion_mean, True)


def by_sampling(name: str, has_shift: bool, **settings: object) -> Callable:
    def say(given: coterie.Annotations) -> Said:
        found = make_model(name, **SETTINGS, **settings).fit(given).posterior_
        return of_matrices(found, has_shift)

    return say


def by_dawid_skene(given: coterie.Annotations) -> Said:
    found = make_model("ds", duplicates="keep").fit(given).posterior_
    point = found.annotators()["accuracy"].to_numpy()
    return Said(point, np.tile(point, (DRAWS, 1)), found.confusion_mean, False)


WAYS = {
    "Consensus": shown_by_consensus,
    "Consensus, accuracies of its matrices": by_sampling("consensus", True),
    "Consensus, matrices of the model itself": by_sampling("consensus", True, matrices="raw"),
    "HCBCC": by_sampling("hcbcc", False, **SHORT),
    "IBCC": by_sampling("ibcc", False, **SHORT),
    "DawidSkene": by_dawid_skene,
}
"""What there is to say of people."""


def of_matrices(posterior: coterie.Posterior, has_shift: bool) -> Said:
    draws = posterior.draws.accuracy()
    return Said(draws.mean(axis=0), draws, posterior.confusion_mean, has_shift)


def shares(posterior: coterie.Posterior) -> np.ndarray:
    """Draws of the share of right labels under the reported probabilities."""
    codes, rng = posterior.annotations.codes, np.random.default_rng(0)
    n = np.diff(codes.annotator_start)
    who, answer = np.repeat(np.arange(len(n)), n), codes.annotator_answer
    own = np.minimum(answer, codes.n_classes - 1)
    chance = posterior.item_probability[codes.annotator_item, own] * (answer < codes.n_classes)
    right = [np.bincount(who, rng.random(len(who)) < chance, len(n)) for _ in range(DRAWS)]
    return (np.array(right) + 0.5) / (n + 1)


def counts_by_gold(annotations: coterie.Annotations, truth: pd.Series) -> np.ndarray:
    """Labels by annotator, true class and answer, on gold items."""
    classes, codes = pd.Index(annotations.classes), annotations.codes
    known = truth.reindex(annotations.items)
    z = np.where(known.isna(), -1, classes.get_indexer(known))
    z = np.repeat(z, annotations.labels_per_item)
    counts = np.zeros((annotations.n_annotators, annotations.n_classes, annotations.n_answers))
    np.add.at(counts, (codes.item_annotator[z >= 0], z[z >= 0], codes.item_answer[z >= 0]), 1)
    return counts


def cover(draws: np.ndarray, n: np.ndarray, share: np.ndarray, shift: float) -> float:
    """The share of 95 % intervals, with binomial noise, that hold the truth, in per cent."""
    rng = np.random.default_rng(1)
    p = np.clip(draws, 1e-9, 1 - 1e-9)
    p = expit(logit(p) + shift * rng.standard_normal((len(p), 1)))
    low, high = np.quantile(rng.binomial(n.astype(int), p) / n, (0.025, 0.975), axis=0)
    return 100 * float(np.mean((low <= share + 1e-9) & (share <= high + 1e-9)))


def measure(said: Said, counts: np.ndarray) -> dict[str, float]:
    """Compare with gold."""
    heard = counts.sum(axis=(1, 2)) >= LEAST
    counts = counts[heard]
    n, per_row = counts.sum(axis=(1, 2)), counts.sum(axis=2)
    share = np.einsum("ltt->l", counts[:, :, : counts.shape[1]]) / n
    error = said.accuracy[heard] - share
    true_rows = counts / np.maximum(per_row, 1)[:, :, None]
    distance = np.abs(said.confusion[heard] - true_rows).sum(axis=2)[per_row >= LEAST] / 2
    unshifted, shifted = (cover(said.draws[:, heard], n, share, by) for by in (0.0, SHIFT))
    return {
        "annotators": len(n),
        "RMSE": float(np.sqrt(np.mean(error**2))),
        "bias": float(error.mean()),
        "rank": float(spearmanr(said.accuracy[heard], share).statistic),
        "cover": shifted if said.has_shift else unshifted,
        "unshifted": unshifted,
        "shifted": shifted,
        "rows": float(distance.mean()) if len(distance) else np.nan,
    }


def words(number: float, name: str) -> str:
    return "-" if np.isnan(number) else f"{number:.{DIGITS.get(name, 3)}f}"


def show_sets(report: Report, table: pd.DataFrame) -> None:
    """One table per number, with a line per set."""
    for name, title in NUMBERS.items():
        report.table(title, "set", "annotators", *SHOWN)
        for data, of_set in table.groupby(level=0, sort=False):
            row = of_set.droplevel(0)[name]
            people = f"{of_set['annotators'].iloc[0]:.0f}"
            report.row(data, people, *(words(row[model], name) for model in SHOWN))


def show_means(report: Report, title: str, table: pd.DataFrame) -> None:
    """The means over sets, one line per model."""
    columns = ("RMSE", "bias", "rank", "cover", "unshifted", "shifted", "rows")
    heads = ("RMSE", "bias", "rank correlation", "cover", "without shift", "with shift", "rows")
    report.table(title, "what is shown", *heads)
    means = table.groupby(level=1, sort=False).mean()
    for model, row in means.iterrows():
        report.row(model, *(words(row[name], name) for name in columns))


def show_goals(report: Report, table: pd.DataFrame) -> None:
    """What the default was meant to reach."""
    ours = table.groupby(level=1).mean().loc["Consensus"]
    report.ratio("Consensus, RMSE of accuracies", ours["RMSE"], "<= 0.11", 3)
    report.ratio("Consensus, coverage in %", ours["cover"], ">= 92", 1)
    report.ratio("Consensus, coverage in %", ours["cover"], "<= 98", 1)
    report.ratio("Consensus, rows", ours["rows"], "<= 0.11", 3)


def given_sets(names: list[str], most_labels: int) -> Iterator[Given]:
    """The sets on which something can be said of people."""
    for data, (labels, truth) in sets(names, most_labels).items():
        counts = counts_by_gold(labels, truth)
        if data not in NO_PEOPLE and np.count_nonzero(counts.sum(axis=(1, 2)) >= LEAST) > 1:
            yield Given(data, labels, counts)


def simulated() -> Iterator[Given]:
    """Crowds whose annotators err independently."""
    for seed in range(CROWDS):
        crowd = coterie.simulate(
            "mixed", items=300, annotators=40, labels_per_item=5, random_state=seed
        )
        counts = counts_by_gold(crowd.annotations, crowd.truth)
        yield Given(f"simulated {seed}", crowd.annotations, counts)


def measured(crowds: Iterable[Given]) -> pd.DataFrame:
    """Measure every crowd and model; what the journal has is not measured again."""
    folder = os.environ.get(JOURNAL)
    journal = None if folder is None else Journal(Path(folder, "people.jsonl"))
    known = {} if journal is None else journal.lines
    found = {}
    for given in crowds:
        for model, say in WAYS.items():
            job = f"{given.name}, {model}"
            if job not in known:
                line = {"job": job, "numbers": measure(say(given.labels), given.counts)}
                print(json.dumps(line), file=sys.stderr, flush=True)
                if journal is None:
                    known[job] = line
                else:
                    journal.add(line)
            found[given.name, model] = known[job]["numbers"]
    return pd.DataFrame(found).T


def main(report: Report, labels: int) -> None:
    warnings.simplefilter("ignore")  # that chains have not converged is not the point here
    names = [name for name in sys.argv[1:] if not name.isdigit()]
    table = measured(given_sets(names, labels))
    show_means(report, f"Means over {len(table.index.levels[0])} sets", table)
    show_goals(report, table)
    show_means(
        report, f"The same, {CROWDS} simulated crowds, errors independent", measured(simulated())
    )
    show_sets(report, table)


if __name__ == "__main__":
    run(main)
