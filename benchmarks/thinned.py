"""Few labels per item, as users have them: `python -m benchmarks thinned --write docs/league.md`.

The sets of `python -m benchmarks default` with ten labels per item or more (the median), of which
every item keeps k at random; the same labels for every model. Means over sets, each counting once,
and over thinnings.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import coterie
from benchmarks.default import sets
from benchmarks.samplers.report import Report, run
from coterie.data import annotations_from

KEPT = (2, 3, 5, 10)
THINNINGS = 2
SHORT = {"sweeps": 500, "burn_in": 150, "progress": False}
MODELS = {
    "majority": coterie.MajorityVote(),
    "ds": coterie.DawidSkene(),
    "ibcc": coterie.IBCC(random_state=0, **SHORT),
    "hcbcc": coterie.HCBCC(random_state=0, **SHORT),
    "quick": coterie.QuickConsensus(),
    "consensus": coterie.Consensus(random_state=0, progress=False),
}


def thin(labels: coterie.Annotations, kept: int, seed: int) -> coterie.Annotations:
    """Keep so many labels of every item, or all where it has fewer."""
    frame = labels.to_frame()[["item", "annotator", "label"]]
    shuffled = frame.sample(frac=1, random_state=seed)
    some = shuffled.groupby("item", sort=False).head(kept)
    return annotations_from(some, duplicates="keep", classes=labels.classes.tolist())


def dense() -> dict[str, tuple[coterie.Annotations, pd.Series]]:
    """The sets with ten labels per item or more."""
    return {
        name: (labels, truth)
        for name, (labels, truth) in sets([]).items()
        if np.median(np.diff(labels.codes.item_start)) >= max(KEPT)
    }


def measure(labels: coterie.Annotations, truth: pd.Series) -> dict[tuple[str, str], float]:
    """Score every model on one thinning."""
    found = {}
    for name, model in MODELS.items():
        scored = model.set_params(duplicates="keep").fit(labels).posterior_.score(truth)
        found["accuracy", name] = 100 * scored.accuracy
        found["log loss", name] = scored.log_loss
    return found


def main(report: Report, _: int) -> None:
    warnings.simplefilter("ignore")
    rows, chosen = [], dense()
    for name, (labels, truth) in chosen.items():
        for kept in KEPT:
            runs = [measure(thin(labels, kept, seed), truth) for seed in range(THINNINGS)]
            rows.append({"kept": kept, "set": name, **pd.DataFrame(runs).mean()})
        print(f"{name} done", file=sys.stderr, flush=True)
    table = pd.DataFrame(rows).drop(columns="set").groupby("kept").mean()
    for measured, digits in (("accuracy", 2), ("log loss", 3)):
        report.table(f"{measured}, by labels kept per item", "labels per item", *MODELS)
        for kept, row in table.iterrows():
            report.row(str(kept), *(f"{row[measured, name]:.{digits}f}" for name in MODELS))
    report.say(f"{len(chosen)} sets, {THINNINGS} thinnings each: {', '.join(chosen)}.")


if __name__ == "__main__":
    run(main)
