"""What the samplers are measured on: two real data sets and synthetic crowds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.samplers.report import Report
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes, encode

BESIDE = Path(__file__).parents[3] / "shared" / "data" / "raw"
REAL = ("rte", "bluebird")
N_ANNOTATORS, N_CLASSES, LABELS_PER_ITEM = 1_000, 3, 10
ACCURACIES = (0.95, 0.8, 0.6, 0.4, 0.1)
"""Of the annotators of each group, which sets the number of clusters that there is to find."""


def real(name: str) -> Annotations | None:
    """One of the paper's sets, or None where its files are not at hand."""
    folder = os.environ.setdefault("COTERIE_DATA", str(BESIDE))
    if not Path(folder, name).is_dir():
        return None
    from coterie.datasets import load

    return load(name).annotations


def synthetic(labels: int, n_classes: int = N_CLASSES) -> Codes:
    """A crowd of 1,000 annotators in 5 groups, ten labels per item, the same for every call."""
    rng = np.random.default_rng(labels)
    n_items = labels // LABELS_PER_ITEM
    item = np.repeat(np.arange(n_items, dtype=np.int32), LABELS_PER_ITEM)
    step = N_ANNOTATORS // LABELS_PER_ITEM
    first = rng.integers(N_ANNOTATORS, size=n_items, dtype=np.int32)
    # Ten different annotators an item: a random first one, then equal steps.
    annotator = first[:, None] + step * np.arange(LABELS_PER_ITEM, dtype=np.int32)
    annotator = (annotator % N_ANNOTATORS).ravel()
    truth = rng.integers(n_classes, size=n_items, dtype=np.int32)[item]
    right = rng.random(len(item)) < np.array(ACCURACIES)[groups()[annotator]]
    wrong = (truth + rng.integers(1, n_classes, size=len(item), dtype=np.int32)) % n_classes
    answer = np.where(right, truth, wrong)
    return encode(item, annotator, answer, sizes=(n_items, N_ANNOTATORS, n_classes, n_classes))


def all_of(report: Report, largest: int, smallest: int = 10_000) -> Iterator[tuple[str, Codes]]:
    """The real data sets that are at hand, then synthetic crowds up to the largest."""
    for name in REAL:
        found = real(name)
        if found is None:
            report.say(f"{name} is not there (COTERIE_DATA): not measured")
        else:
            yield name, found.codes
    for size in sizes(largest):
        if size >= smallest:
            yield name_of(size), synthetic(size)


def groups() -> np.ndarray:
    """The group of each annotator of a synthetic crowd, shape (1,000,)."""
    return (np.arange(N_ANNOTATORS) % len(ACCURACIES)).astype(np.int32)


def annotations(codes: Codes) -> Annotations:
    """The codes with numbers for words."""
    words = (len(codes.item_start) - 1, len(codes.annotator_start) - 1, codes.n_classes)
    return Annotations(*map(np.arange, words), np.array([], np.int64), codes)


def name_of(labels: int) -> str:
    """10,000,000 -> "10^7 labels"."""
    exponent = round(np.log10(labels))
    return f"10^{exponent} labels" if labels == 10**exponent else f"{labels:,} labels"


def sizes(largest: int) -> list[int]:
    """10^4, 10^5 ... up to the largest."""
    return [10**k for k in range(4, 10) if 10**k <= largest] or [largest]
