"""Drawn partitions as they come, made canonical, counted, and laid out for the search."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.errors import DataError
from coterie.numeric.dirichlet import canonical_groups

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


class Sample(NamedTuple):
    """Drawn partitions laid out for the search; a row is one cluster of one draw."""

    row: IntArray  # (annotators, draws)   the row in which the annotator sits in the draw
    start: NDArray[np.int64]  # (rows + 1,)  where a row's cells begin: one for each of its members
    weight: FloatArray  # (draws,)         how often the draw came
    value: FloatArray  # (annotators + 1,) what a block of so many is worth
    step: FloatArray  # (annotators + 1,)  value[x + 1] - value[x]; the last is never read
    total: float  # the sum of the weights


def canonical_draws(partitions: ArrayLike) -> IntArray:
    """Renumber the clusters of each draw by first appearance.

    Parameters
    ----------
    partitions
        A cluster code for each draw and annotator, any integers, shape (draws, annotators).

    Returns
    -------
    Array of the same shape, contiguous.

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
        out[d] = canonical_groups(_small(row))
    return out


def _small(codes: NDArray[Any]) -> IntArray:
    """Give the same partition with codes that can index a table."""
    if codes.min() < 0 or codes.max() >= 4 * len(codes):
        codes = np.unique(codes, return_inverse=True)[1]
    return codes.astype(np.int32)


def distinct_draws(draws: IntArray) -> tuple[IntArray, FloatArray]:
    """Give the canonical draws that differ, in order of first appearance, and how often each came.

    Examples
    --------
    >>> distinct_draws(canonical_draws([[0, 1], [1, 1], [5, 3]]))
    (array([[0, 1],
           [0, 0]], dtype=int32), array([2., 1.]))
    """
    place: dict[bytes, int] = {}
    first: list[int] = []
    weight: list[int] = []
    for d, row in enumerate(draws):
        key = hashlib.blake2b(row.data, digest_size=16).digest()  # no copy of the draws
        if key not in place:
            place[key] = len(first)
            first.append(d)
            weight.append(0)
        weight[place[key]] += 1
    kept = draws if len(first) == len(draws) else draws[first]
    return kept, np.array(weight, np.float64)


def lay_out(draws: IntArray, weight: FloatArray, value: FloatArray) -> Sample:
    """Lay out canonical draws for the search: four bytes per draw and annotator."""
    n_draws, n_annotators = draws.shape
    n_clusters = draws.max(axis=1) + 1
    first = np.concatenate([[0], np.cumsum(n_clusters)])
    start = np.zeros(first[-1] + 1, np.int64)
    row = np.empty((n_annotators, n_draws), np.int32)
    for d in range(n_draws):
        start[first[d] + 1 : first[d + 1] + 1] = np.bincount(draws[d])
        row[:, d] = draws[d] + first[d]
    np.cumsum(start, out=start)
    step = np.append(np.diff(value), np.inf)
    return Sample(row, start, weight, value, step, float(weight.sum()))
