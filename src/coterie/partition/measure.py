"""How far one partition is from the draws, and how firmly each annotator sits in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from coterie.errors import DataError
from coterie.numeric.compile import entry
from coterie.partition.sample import FloatArray, IntArray, canonical_draws

LOSSES = ("vi", "binder")


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
    return mean_loss(draws, one_partition(group, draws.shape[1]), loss)


def mean_loss(draws: IntArray, group: IntArray, loss: str) -> float:
    """Average the loss of a partition over canonical draws."""
    n = draws.shape[1]
    order = np.argsort(group, kind="stable")
    losses = losses_of_draws(draws, order, group, block_values(n, loss))
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
    codes = one_partition(group, draws.shape[1])
    return draws_membership(draws, codes)


def draws_membership(draws: IntArray, group: IntArray) -> FloatArray:
    """Do what :func:`membership` does, for canonical draws."""
    share, block = np.zeros(draws.shape[1]), group.astype(np.int64)
    others = company(block)
    lone = others == 0
    for draw, last in zip(draws, draws.max(axis=1).tolist(), strict=True):
        together = company(block * (last + 1) + draw) / np.maximum(others, 1)
        share += np.where(lone, company(draw) == 0, together) if lone.any() else together
    return share / len(draws)


def company(code: NDArray[Any]) -> NDArray[np.int64]:
    """Give how many others have the same code.

    Examples
    --------
    >>> company(np.array([3, 0, 3, 3])).tolist()
    [2, 0, 2, 2]
    """
    if code.max() >= 16 * len(code):  # few of many
        code = np.unique(code, return_inverse=True)[1]
    return np.asarray(np.bincount(code)[code] - 1)


def check_loss(loss: str) -> None:
    """Say it if there is no such loss."""
    if loss not in LOSSES:
        raise DataError(
            f"loss must be one of {', '.join(map(repr, LOSSES))}, got {loss!r}", argument="loss"
        )


def one_partition(group: ArrayLike, n_annotators: int) -> IntArray:
    """Check one partition and number its blocks by first appearance."""
    codes = np.asarray(group)
    if codes.shape != (n_annotators,) or codes.dtype.kind not in "iu":
        raise DataError(
            f"group must be {n_annotators:,} integers, one per annotator, "
            f"got {codes.dtype} of shape {codes.shape}"
        )
    numbered: IntArray = canonical_draws(codes[None])[0]
    return numbered


def block_values(n: int, loss: str) -> FloatArray:
    """Give the value of a block of 0, 1, ... n annotators before scaling, shape (n + 1,)."""
    x = np.arange(n + 1, dtype=np.float64)
    return np.asarray(xlogy(x, x) if loss == "vi" else x * (x - 1) / 2, np.float64)


def loss_scale(n: int, loss: str) -> float:
    """Give the factor from values to the loss of n annotators."""
    return 1 / n if loss == "vi" else 1 / max(n * (n - 1) / 2, 1)


@entry
def losses_of_draws(
    draws: IntArray, order: NDArray[np.int64], group: IntArray, value: FloatArray
) -> FloatArray:
    """Give the loss of a partition in each draw, not scaled, shape (draws,).

    ``order`` has the annotators of a block side by side: no table of blocks by clusters is needed.
    """
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
