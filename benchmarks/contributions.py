"""What labels were worth, against real refits: ``python -m benchmarks.contributions``.

For each annotator the bits of ``coterie.assign.contributions`` beside what belief about all items
loses when everything is fitted again without them: rank correlation over annotators, and the ratio
of the sums. Simulated crowds, and real sets beside the project if they are there.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

import coterie
from benchmarks.default import DATA, sets
from coterie.assign import contributions
from coterie.models import make_model

REAL = ("fej2013", "labelme", "rte", "temp", "valence", "bluebird")
SAMPLED = {"random_state": 0, "progress": False}


def compare(labels: coterie.Annotations, model: str, **settings: Any) -> tuple[float, float]:
    """Rank correlation of the bits, and the ratio of their sums, expected to refitted."""
    posterior = make_model(model, **settings).fit(labels).posterior_
    frame, p = labels.to_frame(), posterior.probabilities()
    expected = contributions(posterior).set_index("annotator")["bits"]
    refitted = {}
    for name in expected.index:
        rest = make_model(model, **settings).fit(frame[frame["annotator"] != name]).posterior_
        q = rest.probabilities().reindex(index=p.index, columns=p.columns)
        q = q.fillna(dict(zip(p.columns, posterior.class_balance, strict=True))).clip(1e-9)
        refitted[name] = float((p * np.log2(p.clip(1e-9) / q)).to_numpy().sum())
    found = pd.Series(refitted)
    return float(expected.corr(found, method="spearman")), float(expected.sum() / found.sum())


def main() -> None:
    warnings.simplefilter("ignore")
    print("| labels | model | annotators | labels per item | rank correlation | ratio of sums |")
    print("|---|---|--:|--:|--:|--:|")
    jobs: list[tuple[str, coterie.Annotations, str, dict[str, Any]]] = []
    for seed in range(3):
        crowd = coterie.simulate(
            "mixed", items=150, annotators=15, labels_per_item=4, random_state=seed
        )
        jobs.append((f"simulated {seed}", crowd.annotations, "quick", {}))
        jobs.append((f"simulated {seed}", crowd.annotations, "consensus", SAMPLED))
    if DATA.is_dir():
        real = sets(list(REAL))
        jobs += [(name, real[name][0], "quick", {}) for name in REAL]
    for name, labels, model, settings in jobs:
        rank, ratio = compare(labels, model, **settings)
        size = f"{labels.n_annotators} | {labels.n_labels / labels.n_items:.1f}"
        print(f"| {name} | {model} | {size} | {rank:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
