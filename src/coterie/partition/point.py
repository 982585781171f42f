"""The partition that minimises the posterior expected loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from coterie.errors import DataError
from coterie.partition.measure import (
    FloatArray,
    IntArray,
    canonical_draws,
    check_loss,
    draws_membership,
    mean_loss,
)
from coterie.partition.search import best_partition


@dataclass(frozen=True, eq=False)
class PointPartition:
    """One partition that stands for many draws.

    Parameters
    ----------
    group
        The coterie of each annotator, from 0, the largest first, ties by their first member;
        shape (annotators,).
    membership
        How firmly each annotator sits there, from 0 to 1, shape (annotators,).
    expected_loss
        The average loss over the draws.
    loss
        Its name: ``"vi"`` or ``"binder"``.
    n_coteries
        How many there are.
    """

    group: IntArray
    membership: FloatArray
    expected_loss: float
    loss: str
    n_coteries: int


def point_partition(
    partitions: ArrayLike,
    *,
    loss: str = "vi",
    k: int | None = None,
    random_state: int | np.random.Generator = 0,
) -> PointPartition:
    """Find the partition that minimises the posterior expected loss.

    Parameters
    ----------
    partitions
        A cluster code for each draw and annotator, any integers, shape (draws, annotators).
    loss
        ``"vi"``, variation of information in nats, or ``"binder"``, the share of pairs that
        disagree; see :func:`expected_loss`.
    k
        The number of coteries; None leaves it to the loss.
    random_state
        Decides the order of the search's steps.

    Examples
    --------
    >>> found = point_partition([[0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1]])
    >>> found.group, found.n_coteries, round(found.expected_loss, 3)
    (array([1, 1, 0, 0, 0], dtype=int32), 2, 0.255)
    """
    draws = canonical_draws(partitions)
    n = draws.shape[1]
    check_loss(loss)
    number = None if k is None else _whole(k, n)
    group = number_by_size(best_partition(draws, loss, number, np.random.default_rng(random_state)))
    return PointPartition(
        group,
        draws_membership(draws, group),
        mean_loss(draws, group, loss),
        loss,
        int(group.max()) + 1,
    )


def _whole(k: int, n: int) -> int:
    if not 1 <= k <= n or k != int(k):
        raise DataError(
            f"k must be a whole number from 1 to the {n:,} annotators, got {k!r}", argument="k"
        )
    return int(k)


def number_by_size(group: IntArray) -> IntArray:
    """Give the coteries numbers from 0, the largest first, ties by their first member.

    Examples
    --------
    >>> number_by_size(np.array([5, 2, 5, 2, 9, 2], np.int32))
    array([1, 0, 1, 0, 2, 0], dtype=int32)
    """
    _, first, code, size = np.unique(
        group, return_index=True, return_inverse=True, return_counts=True
    )
    number = np.empty(len(size), np.int32)
    number[np.lexsort((first, -size))] = np.arange(len(size), dtype=np.int32)
    return number[code]
