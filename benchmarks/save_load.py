"""Saving and loading a posterior: one million items, 10,000 annotators, 3 classes, text ids.

``python -m benchmarks.save_load [labels]``, ten labels per item. The target: seconds. The draws are
those of four chains: 200 of the matrices, 1,000 partitions, 7,000 sweeps of trace each.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import coterie
from coterie.data.annotations import Annotations
from coterie.data.codes import encode
from coterie.posterior import Draws, Posterior

LABELS = 10_000_000
CHAINS, MATRICES, PARTITIONS, SWEEPS = 4, 200, 1_000, 7_000
N_ANNOTATORS, N_CLASSES = 10_000, 3


def annotations(labels: int, rng: np.random.Generator) -> Annotations:
    n_items = max(labels // 10, 1)
    item = np.repeat(np.arange(n_items), 10)
    # Ten different annotators an item: a random first one, then steps of 1,000.
    annotator = (rng.integers(N_ANNOTATORS, size=n_items)[:, None] + np.arange(10) * 1_000).ravel()
    answer = rng.integers(N_CLASSES, size=len(item))
    sizes = (n_items, N_ANNOTATORS, N_CLASSES, N_CLASSES)
    return Annotations(
        np.array([f"item-{i:07d}" for i in range(n_items)], object),
        np.array([f"w{l:05d}" for l in range(N_ANNOTATORS)], object),
        np.array(["no", "unclear", "yes"], object),
        np.array([], object),
        encode(item, annotator % N_ANNOTATORS, answer, sizes=sizes),
    )


def posterior(labels: int, *, sampled: bool) -> Posterior:
    rng = np.random.default_rng(0)
    data = annotations(labels, rng)
    drawn = rng.random((CHAINS, MATRICES, N_ANNOTATORS, N_CLASSES, N_CLASSES), np.float32)
    drawn /= drawn.sum(axis=-1, keepdims=True)
    draws = Draws(
        confusion=drawn,
        class_balance=rng.dirichlet(np.ones(N_CLASSES), (CHAINS, MATRICES)),
        partition=rng.integers(0, 12, (CHAINS, PARTITIONS, N_ANNOTATORS), np.int32),
        n_coteries=np.full((CHAINS, PARTITIONS), 12),
        trace={"log_joint": rng.normal(size=(CHAINS, SWEEPS))},
    )
    return Posterior(
        data,
        rng.dirichlet(np.ones(N_CLASSES), data.n_items),
        np.full(N_CLASSES, 1 / N_CLASSES),
        rng.dirichlet(np.ones(N_CLASSES), (N_ANNOTATORS, N_CLASSES)),
        draws=draws if sampled else None,
        model="HCBCC" if sampled else "DawidSkene",
        abilities=(coterie.HCBCC if sampled else coterie.DawidSkene).abilities,
    )


def measure(result: Posterior) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.coterie")
        start = time.perf_counter()
        result.save(path)
        saved = time.perf_counter()
        again = coterie.load(path)
        loaded = time.perf_counter()
        size = path.stat().st_size / 1e6
    assert (again.item_probability == result.item_probability).all()
    a = result.annotations
    return (
        f"{result.model:12s} {a.n_items:10,d} {a.n_labels:12,d} {size:8.0f} "
        f"{saved - start:8.2f} {loaded - saved:8.2f}"
    )


def main(labels: int = LABELS) -> None:
    print(f"saving and loading a posterior of {N_ANNOTATORS:,} annotators; target: seconds")
    print(f"{'model':12s} {'items':>10s} {'labels':>12s} {'MB':>8s} {'save s':>8s} {'load s':>8s}")
    for sampled in (False, True):
        print(measure(posterior(labels, sampled=sampled)), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
