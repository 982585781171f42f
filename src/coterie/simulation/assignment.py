"""Who labels what: pairs of item and annotator, drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.errors import Argument, DataError

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def assign_by_item(
    n_items: int, n_annotators: int, labels_per_item: int, rng: np.random.Generator
) -> Pairs:
    """Give every item this many different annotators, each set equally likely.

    Examples
    --------
    >>> item, annotator = assign_by_item(2, 3, 3, np.random.default_rng(0))
    >>> item.tolist(), sorted(annotator[:3].tolist())
    ([0, 0, 0, 1, 1, 1], [0, 1, 2])
    """
    if not 1 <= labels_per_item <= n_annotators:
        raise DataError(
            [
                Argument("labels_per_item", of="simulate"),
                f" must be between 1 and the number of annotators, {n_annotators}, got "
                f"{labels_per_item}",
            ]
        )
    # Floyd's subset sampling, all items at once: its cost does not grow with the annotators.
    chosen = np.empty((n_items, labels_per_item), np.int64)
    for k in range(labels_per_item):
        newest = n_annotators - labels_per_item + k
        draw = rng.integers(newest + 1, size=n_items)
        taken = (chosen[:, :k] == draw[:, None]).any(axis=1)
        chosen[:, k] = np.where(taken, newest, draw)
    return np.repeat(np.arange(n_items), labels_per_item), chosen.ravel()


def assign_by_sparsity(
    n_items: int, n_annotators: int, sparsity: float, rng: np.random.Generator
) -> Pairs:
    """Erase this share of all pairs at random, so that every item keeps at least one.

    Examples
    --------
    >>> item, annotator = assign_by_sparsity(10, 20, 0.9, np.random.default_rng(0))
    >>> len(item), len(set(item.tolist()))
    (20, 10)
    """
    is_share = 0 <= sparsity < 1
    n_labels = round((1 - sparsity) * n_items * n_annotators) if is_share else 0
    if n_labels < n_items:
        raise DataError(
            [
                Argument("sparsity", of="simulate"),
                f" must be between 0 and {1 - 1 / n_annotators:.4g}, so that every item of "
                f"{n_annotators} annotators keeps one, got {sparsity}",
            ]
        )
    kept = np.arange(n_items) * n_annotators + rng.integers(n_annotators, size=n_items)
    others = np.delete(np.arange(n_items * n_annotators), kept)
    pairs = np.append(kept, rng.choice(others, n_labels - n_items, replace=False))
    return pairs // n_annotators, pairs % n_annotators
