"""Drawn partitions, how far one partition is from them, how firmly each annotator sits in it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from coterie.errors import DataError
from coterie.numeric.compile import entry
from coterie.numeric.dirichlet import canonical_groups

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]

LOSSES = ("vi", "binder")


def canonical_draws(partitions: ArrayLike) -> IntArray:
    """Renumber the clusters of each draw, any integers, by first appearance.

    Examples
    --------
    >>> canonical_draws([[7, 7, -1], [0, 1, 0]])
    array([[0, 0, 1],
           [0, 1, 0]], dtype=int32)
    """
    codes = np.asarray(partitions)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise DataError(
            "partitions must be integers of shape (draws, annotators), "
            f"got {codes.dtype} of shape {codes.shape}"
        )
    if not codes.size:
        raise DataError(f"no draws, or no annotators: partitions has shape {codes.shape}")
    out = np.empty(codes.shape, np.int32)
    for d, row in enumerate(codes):
        if row.min() < 0 or row.max() >= 4 * len(row):  # no group, or too many for a table
            row = np.unique(row, return_inverse=True)[1]
        out[d] = canonical_groups(row.astype(np.int32))
    return out


def distinct_draws(draws: IntArray) -> tuple[IntArray, FloatArray]:
    """Give the canonical draws that differ, in order of first appearance, and how often each came.

    Examples
    --------
    >>> distinct_draws(canonical_draws([[0, 1], [1, 1], [5, 3]]))
    (array([[0, 1],
           [0, 0]], dtype=int32), array([2., 1.]))
    """
    # No copy of the draws.
    keys = [hashlib.blake2b(row.data, digest_size=16).digest() for row in draws]
    _, first, weight = np.unique(keys, return_index=True, return_counts=True)
    order = np.argsort(first)
    kept = draws if len(first) == len(draws) else draws[first[order]]
    return kept, weight[order].astype(np.float64)


def block_values(n: int, loss: str) -> FloatArray:
    """Give what a block of 0, 1, ... n annotators is worth; see :func:`expected_loss`."""
    x = np.arange(n + 1, dtype=np.float64)
    return np.asarray(xlogy(x, x) if loss == "vi" else x * (x - 1) / 2)


def loss_scale(n: int, loss: str) -> float:
    """Give the scale from a sum of block values to the loss of n annotators."""
    return 1 / n if loss == "vi" else 1 / max(n * (n - 1) / 2, 1)


def expected_loss(partitions: ArrayLike, group: ArrayLike, loss: str = "vi") -> float:
    """Average the loss of one partition over the drawn ones, exactly.

    With value(x) = x log x and the scale 1 / L (``"vi"``, variation of information, in nats), or
    value(x) = x (x - 1) / 2 and the scale 2 / (L (L - 1)) (``"binder"``, the share of the pairs of
    annotators that are together in one partition and apart in the other), the loss of a draw is::

        scale * (sum of value(block) + sum of value(cluster) - 2 sum of value(block and cluster))

    Parameters
    ----------
    partitions
        A cluster code for each draw and annotator, any integers, shape (draws, annotators).
    group
        A block code for each annotator, any integers, shape (annotators,).
    loss
        ``"vi"`` or ``"binder"``.

    Examples
    --------
    >>> expected_loss([[0, 0, 1, 1], [0, 0, 0, 0]], [0, 0, 1, 1], "binder")  # 0, and 4 of 6 pairs
    0.3333333333333333
    >>> round(expected_loss([[0, 0, 1, 1], [0, 0, 0, 0]], [0, 0, 1, 1]), 3)  # 0, and log 2
    0.347
    """
    check_loss(loss)
    draws = canonical_draws(partitions)
    return mean_loss(draws, _one_partition(group, draws.shape[1]), loss)


def mean_loss(draws: IntArray, group: IntArray, loss: str) -> float:
    """Average the loss of a partition over canonical draws."""
    n = draws.shape[1]
    losses = losses_of_draws(draws, group, block_values(n, loss))
    return float(losses.mean() * loss_scale(n, loss))


def membership(partitions: ArrayLike, group: ArrayLike) -> FloatArray:
    """Say how firmly each annotator sits in its coterie: shape (annotators,), from 0 to 1.

    The average over the draws of the share of the coterie's other members that sit in the
    annotator's cluster; for a coterie of one, the share of draws in which it sits with nobody.

    Parameters
    ----------
    partitions
        A cluster code for each draw and annotator, any integers, shape (draws, annotators).
    group
        A coterie code for each annotator, any integers, shape (annotators,).

    Examples
    --------
    >>> membership([[0, 0, 0, 1], [0, 0, 1, 1]], [0, 0, 0, 1])
    array([0.75, 0.75, 0.5 , 0.5 ])
    """
    draws = canonical_draws(partitions)
    return draws_membership(draws, _one_partition(group, draws.shape[1]))


def draws_membership(draws: IntArray, group: IntArray) -> FloatArray:
    """Do what :func:`membership` does, for canonical draws."""
    share, block = np.zeros(draws.shape[1]), group.astype(np.int64)
    others = _company(block)
    lone = others == 0
    for draw, last in zip(draws, draws.max(axis=1).tolist(), strict=True):
        together = _company(block * (last + 1) + draw) / np.maximum(others, 1)
        share += np.where(lone, _company(draw) == 0, together) if lone.any() else together
    return share / len(draws)


def _company(code: NDArray[Any]) -> NDArray[np.int64]:
    """Give how many others have the same code."""
    if code.max() >= 16 * len(code):  # few of many
        code = np.unique(code, return_inverse=True)[1]
    return np.asarray(np.bincount(code)[code] - 1)


def check_loss(loss: str) -> None:
    """Say it if there is no such loss."""
    if loss not in LOSSES:
        raise DataError(
            f"loss must be one of {', '.join(map(repr, LOSSES))}, got {loss!r}", argument="loss"
        )


def _one_partition(group: ArrayLike, n_annotators: int) -> IntArray:
    codes = np.asarray(group)
    if codes.shape != (n_annotators,) or codes.dtype.kind not in "iu":
        raise DataError(
            f"group must be {n_annotators:,} integers, one per annotator, "
            f"got {codes.dtype} of shape {codes.shape}"
        )
    numbered: IntArray = canonical_draws(codes[None])[0]
    return numbered


def losses_of_draws(draws: IntArray, group: IntArray, value: FloatArray) -> FloatArray:
    """Give the loss of a partition in each draw, not scaled, shape (draws,)."""
    return _losses(draws, np.argsort(group, kind="stable"), group, value)


@entry
def _losses(
    draws: IntArray, order: NDArray[np.int64], group: IntArray, value: FloatArray
) -> FloatArray:
    """Sum over draws; ``order`` has a block's annotators side by side: no table is needed."""
    n_draws, n = draws.shape
    losses = np.empty(n_draws)
    together, size = np.empty(n, np.int32), np.empty(n, np.int32)
    for j in range(n):
        together[j] = size[j] = 0
    for d in range(n_draws):
        cluster = draws[d]
        loss = 0.0
        a = 0
        while a < n:
            z = a
            while z < n and group[order[z]] == group[order[a]]:
                together[cluster[order[z]]] += 1
                size[cluster[order[z]]] += 1
                z += 1
            both = 0.0
            for p in range(a, z):
                both += value[together[cluster[order[p]]]]
                together[cluster[order[p]]] = 0  # counted once; value[0] is 0
            loss += value[z - a] - 2 * both
            a = z
        for j in range(n):
            loss += value[size[j]]
            size[j] = 0
        losses[d] = max(loss, 0.0)  # rounding
    return losses
