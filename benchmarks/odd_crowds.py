"""Crowds that are hard on scale: ``python -m benchmarks.odd_crowds hot|many [labels]``.

``hot``: one annotator has labelled every item, a thousand others a tenth of them between them.
``many``: everybody has one label, ten labels per item. Scanned, fitted with the default model (one
chain of ten sweeps), and the tables of people: processor seconds, and the peak memory so far.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scan import peak

LABELS = {"hot": 10_000_000, "many": 1_000_000}


def labels_of(kind: str, n: int) -> dict[str, Any]:
    """Columns of about so many labels, of three classes."""
    rng = np.random.default_rng(0)
    if kind == "many":
        item, annotator = np.arange(n) // 10, np.arange(n)
    else:
        item = np.concatenate([np.arange(n), rng.permutation(n)[: n // 10]])
        annotator = np.concatenate([np.zeros(n, int), rng.integers(1, 1_001, n // 10)])
    truth = rng.integers(3, size=n)[item]
    guess = rng.integers(3, size=len(item))
    label = np.where(rng.random(len(item)) < 0.8, truth, guess)
    return {"item": item, "annotator": annotator, "label": label}


def main(kind: str = "hot", n: int | None = None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    import coterie

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "labels.parquet")
        pq.write_table(pa.table(labels_of(kind, LABELS[kind] if n is None else n)), path)
        start = time.process_time()

        def mark(name: str) -> None:
            nonlocal start
            took, start = time.process_time() - start, time.process_time()
            print(f"{name}: {took:.1f} s of the processor, {peak():,.0f} MB at most", flush=True)

        labels = coterie.scan(path)
        mark(f"{kind}: {labels.describe()}\nscan")
        settings = {"sweeps": 10, "burn_in": 5, "early_stop": False, "progress": False}
        model = coterie.Consensus(chains=1, random_state=0, **settings)
        posterior = model.fit(labels).posterior_
        mark("fit")
        posterior.annotators()
        mark("annotators")
        posterior.coteries()
        mark("coteries")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
