"""What the default gives on real data: `python -m benchmarks default` (or `-m benchmarks.default`).

Sets with gold and at most 60,000 labels in ../shared/data; repeated labels kept, classes the labels
seen or true, ties shared, log loss with a floor of 1e-4; means over sets, each counting once, and
over seeds. The pooled calibration error has ten bins over all sets, each set weighing the same.
`SEEDS=1` makes it shorter; `STRENGTH=40` says that members of a coterie are more alike (beta near
40, not 10).
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import coterie
from coterie.data import annotations_from
from coterie.metrics import score

DATA = Path(__file__).parents[2] / "shared" / "data"
MOST_LABELS = 60_000
LARGEST = 10**9
"""Larger sets than ``MOST_LABELS`` are not scored: only whether their labels settle is printed."""
SEEDS = 3
BINS = 10
PRIOR = coterie.ConsensusPrior(
    strength=coterie.Gamma(20 * float(os.environ.get("STRENGTH", "10")), 20)
)
"""The default, unless another strength is asked for."""


def sets(
    names: list[str], most_labels: int = MOST_LABELS
) -> dict[str, tuple[coterie.Annotations, pd.Series]]:
    """The data sets with gold, by name."""
    found = {}
    for folder in sorted(DATA.iterdir()):
        if not (folder / "truth.csv").exists() or (names and folder.name not in names):
            continue
        read = {"dtype": str, "keep_default_na": False}
        labels = pd.read_csv(folder / "labels.csv", **read)[["item", "annotator", "label"]]
        truth = pd.read_csv(folder / "truth.csv", **read).set_index("item")["label"]
        if len(truth) and len(labels) <= most_labels:
            classes = sorted({*labels["label"], *truth})
            found[folder.name] = annotations_from(labels, duplicates="keep", classes=classes), truth
    return found


def shares(probability: pd.DataFrame, truth: pd.Series) -> pd.DataFrame:
    """How sure and how right each item is, weighing one together."""
    p = probability.loc[truth.index]
    top = p.max(axis=1).to_numpy()
    best = p.to_numpy() == top[:, None]
    true = p.columns.get_indexer(truth)
    right = best[np.arange(len(p)), true] / best.sum(axis=1)
    return pd.DataFrame({"sure": top, "right": right, "weight": 1 / len(p)})


def pooled_error(every: list[pd.DataFrame]) -> float:
    """The calibration error over all sets, each weighing the same."""
    rows = pd.concat(every)
    bins = np.minimum((rows["sure"] * BINS).astype(int), BINS - 1)
    gap = (rows["right"] - rows["sure"]) * rows["weight"]
    return float(gap.groupby(bins).sum().abs().sum() / rows["weight"].sum())


def fit(annotations: coterie.Annotations, truth: pd.Series, seed: int) -> dict[str, float]:
    """Measure one run."""
    start = time.perf_counter()
    model = coterie.Consensus(prior=PRIOR, random_state=seed, duplicates="keep", progress=False)
    posterior = model.fit(annotations).posterior_
    seconds = time.perf_counter() - start
    raw = score(posterior.probabilities(raw=True), truth)
    out = score(posterior.probabilities(), truth)
    return {
        "raw": 100 * raw.accuracy,
        "raw loss": raw.log_loss,
        "output": 100 * out.accuracy,
        "loss": out.log_loss,
        "coteries": float(posterior.n_coteries.mean()),
        "left out": len(posterior.run["left_out"]),
        "settled": posterior.converged,
        "seconds": seconds,
        "shares": shares(posterior.probabilities(), truth),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    names = [name for name in sys.argv[1:] if not name.isdigit()]
    seeds = range(int(os.environ.get("SEEDS", SEEDS)))
    rows, pooled = {}, {seed: [] for seed in seeds}
    for name, (labels, truth) in sets(names).items():
        runs = [fit(labels, truth, seed) for seed in seeds]
        for seed, run in zip(seeds, runs, strict=True):
            pooled[seed].append(run.pop("shares"))
        vote = coterie.MajorityVote(duplicates="keep").fit(labels).posterior_
        rows[name] = {"vote": 100 * vote.score(truth).accuracy, **pd.DataFrame(runs).mean()}
        print(name, {key: round(float(x), 3) for key, x in rows[name].items()}, flush=True)
    table = pd.DataFrame(rows).T.astype(float)
    print(table.round(3).to_string())
    print("\nmeans", table.mean().round(3).to_dict())
    below = table.index[table["output"] < table["vote"] - 1].tolist()
    print(f"{len(table)} sets, {len(seeds)} seeds; more than a point below the vote: {below}")
    errors = [100 * pooled_error(every) for every in pooled.values()]
    print("pooled calibration error, %, per seed:", np.round(errors, 2).tolist())
    unsettled = table.index[table["settled"] < 1].tolist()
    larger = {name: one for name, one in sets(names, LARGEST).items() if name not in table.index}
    for name, (labels, _) in larger.items():
        model = coterie.Consensus(prior=PRIOR, random_state=0, duplicates="keep", progress=False)
        if not model.fit(labels).posterior_.converged:
            unsettled.append(name)
    n_sets = len(table) + len(larger)
    usual = table["settled"].sum() + len(larger) - sum(name in larger for name in unsettled)
    print(
        f"labels settled (larger sets: one seed): in a run, {usual:.1f} of {n_sets} sets on average"
    )
    print(f"in every run: {n_sets - len(unsettled)}")
    print("labels not settled in every run:", unsettled)


if __name__ == "__main__":
    main()
