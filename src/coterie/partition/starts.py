"""Where the search begins: drawn partitions, a tree of the annotators, all together, all apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coterie.partition.cooccurrence import share_together
from coterie.partition.measure import losses_of_draws
from coterie.partition.sample import FloatArray, IntArray

MOST_IN_TREE = 2_000
"""Annotators for whom a table of all pairs is made."""

MOST_SCREENED = 100
"""Drawn partitions that are compared, with as many others."""

MOST_APART = 2e8
"""Steps that the first sweep from all apart may take."""

MOST_CELLS = 200_000
"""Draws times annotators for which k coteries are reached from one, or from all apart."""


def starts(
    draws: IntArray, weight: FloatArray, value: FloatArray, k: int | None
) -> Iterator[IntArray]:
    """Give promising partitions to start from, the same for the same draws.

    Parameters
    ----------
    draws, weight
        Distinct canonical draws, shape (draws, annotators), and how often each came.
    value
        The value of a block of 0, 1, ... annotators.
    k
        The number of coteries; None leaves it to the loss.
    """
    n = draws.shape[1]
    if n <= MOST_IN_TREE:
        yield cut_best(draws, weight, value, k)
    yield from best_draws(draws, weight, value)
    if k is None or draws.size <= MOST_CELLS:
        yield np.zeros(n, np.int32)
        if sum(float(np.square(np.bincount(draw)).sum()) for draw in draws) <= MOST_APART:
            yield np.arange(n, dtype=np.int32)


def best_draws(
    draws: IntArray, weight: FloatArray, value: FloatArray, n: int = 2
) -> list[IntArray]:
    """Give the n drawn partitions of least expected loss, of those that are looked at."""
    some = spaced(len(draws), MOST_SCREENED)
    losses = [summed_loss(draws[some], weight[some], draws[d], value) for d in some]
    return [draws[some[q]] for q in np.argsort(losses, kind="stable")[:n]]


def cut_best(draws: IntArray, weight: FloatArray, value: FloatArray, k: int | None) -> IntArray:
    """Cut a tree of the annotators, by how seldom two share a coterie, where the loss is least."""
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    n = draws.shape[1]
    if n == 1:
        return np.zeros(1, np.int32)
    rows = np.repeat(np.arange(len(draws)), weight.astype(np.int64))
    apart = 1 - share_together(draws[rows])
    tree = linkage(squareform(apart, checks=False), "average")
    numbers = np.unique(draws.max(axis=1) + 1) if k is None else np.array([k])
    cuts = cut_tree(tree, numbers).T.astype(np.int32)
    some = spaced(len(draws), MOST_SCREENED)
    losses = [summed_loss(draws[some], weight[some], cut, value) for cut in cuts]
    return np.asarray(cuts[int(np.argmin(losses))])


def summed_loss(draws: IntArray, weight: FloatArray, group: IntArray, value: FloatArray) -> float:
    """Sum the loss of a partition over draws, not scaled."""
    order = np.argsort(group, kind="stable")
    return float(losses_of_draws(draws, order, group, value) @ weight)


def spaced(n: int, most: int) -> IntArray:
    """Give at most so many of 0, 1, ... n - 1, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int32))
