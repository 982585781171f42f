"""Fewer labels of the same data: the random databases of the sparsity experiments.

To keep ``n`` labels of a set:

1. of every item, keep one of its labels, each equally likely;
2. of every annotator who has none among those, keep one of theirs, each equally likely;
3. of the labels that are left, keep as many more as are missing to ``n``, every subset equally
   likely.

So every item and every annotator keeps at least one label. The first two steps keep at most one
label per item and one per annotator: ``n >= items + annotators`` always works.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import coterie
from coterie.errors import DataError


def choose_labels(
    item: NDArray[np.int64],
    annotator: NDArray[np.int64],
    n_kept: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Choose the labels to keep, by the three steps above.

    Parameters
    ----------
    item, annotator
        The codes of each label, shape (labels,).
    n_kept
        How many to keep.
    rng
        The source of randomness.

    Returns
    -------
    Indices of the labels that are kept, sorted, shape (n_kept,).

    Examples
    --------
    >>> item, annotator = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)
    >>> kept = choose_labels(item, annotator, 8, np.random.default_rng(0))
    >>> len(kept), len(set(item[kept])), len(set(annotator[kept]))
    (8, 3, 4)
    """
    order = rng.permutation(len(item))  # the first of a random order is one of them at random
    kept = np.zeros(len(item), bool)
    kept[order[_first_of_each(item[order])]] = True
    covered = np.zeros(int(annotator.max()) + 1, bool)
    covered[annotator[kept]] = True
    order = rng.permutation(np.flatnonzero(~covered[annotator]))
    kept[order[_first_of_each(annotator[order])]] = True
    missing = n_kept - int(kept.sum())
    if missing < 0 or n_kept > len(item):
        raise DataError(
            f"of {len(item):,} labels, {n_kept:,} cannot be kept so that every item and every "
            f"annotator keeps one; this draw needs at least {int(kept.sum()):,}"
        )
    kept[rng.choice(np.flatnonzero(~kept), missing, replace=False)] = True
    return np.flatnonzero(kept)


def _first_of_each(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the place of the first occurrence of each code."""
    return np.unique(codes, return_index=True)[1]


def thin(
    annotations: coterie.Annotations, sparsity: float, rng: np.random.Generator
) -> coterie.Annotations:
    """Keep so many labels, at random, that this share of all pairs has none.

    Examples
    --------
    >>> full = coterie.simulate("mixed", items=50, annotators=20, labels_per_item=20)
    >>> thin(full.annotations, 0.9, np.random.default_rng(0))
    <Annotations: 50 items x 20 annotators, 100 labels, 3 classes, 90.0 % missing>
    """
    frame = annotations.to_frame()
    kept = choose_labels(
        annotations.item_of_label.astype(np.int64),
        annotations.codes.item_annotator.astype(np.int64),
        n_kept(annotations.n_items, annotations.n_annotators, sparsity),
        rng,
    )
    return coterie.read(
        frame.iloc[kept],
        item="item",
        annotator="annotator",
        label="label",
        classes=annotations.classes.tolist(),
        extra_answers=annotations.extra_answers.tolist() or None,
    )


def n_kept(items: int, annotators: int, sparsity: float) -> int:
    """Give the number of labels at this share of missing ones.

    Examples
    --------
    >>> n_kept(500, 200, 0.975)
    2500
    """
    return round((1 - sparsity) * items * annotators)


def reachable(items: int, annotators: int, sparsity: float) -> bool:
    """Say whether every random thinning can reach this sparsity.

    Examples
    --------
    >>> [reachable(108, 39, level) for level in (0.95, 0.975)]  # bluebird
    [True, False]
    """
    return n_kept(items, annotators, sparsity) >= items + annotators
