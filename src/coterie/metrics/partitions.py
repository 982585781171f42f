"""How close two partitions of the same things are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from coterie.errors import DataError
from coterie.metrics.matching import first_of
from coterie.words.visible import quoted

Partition = pd.Series | ArrayLike


class Overlap(NamedTuple):
    """Sizes of the blocks of two partitions, and of the blocks' intersections that occur."""

    both: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]


def adjusted_rand_index(first: Partition, second: Partition) -> float:
    """Compare two partitions by pairs, corrected for chance (Hubert and Arabie, 1985).

    With a, b the numbers of pairs together in the first, in the second, and ab in both, out of
    n (n - 1) / 2 pairs::

        (ab - expected) / ((a + b) / 2 - expected),   expected = a b / (n (n - 1) / 2)

    1 if the partitions are the same, about 0 for unrelated ones, possibly negative.

    Parameters
    ----------
    first, second
        A block name or number for each thing. Two Series are matched by their index, and what is
        in only one of them is left out; arrays are matched by position.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.571
    """
    overlap = _overlap(first, second)
    ab, a, b = (float((size * (size - 1)).sum() / 2) for size in overlap)
    n = float(overlap.first.sum())
    if a == b == ab:
        return 1.0  # the same partition; also where the formula is 0 / 0
    expected = a * b / (n * (n - 1) / 2)
    return (ab - expected) / ((a + b) / 2 - expected)


def variation_of_information(first: Partition, second: Partition) -> float:
    """Measure the distance of two partitions in nats (Meila, 2007): H(A | B) + H(B | A).

    A metric: 0 if and only if the partitions are the same, at most log n.

    Parameters
    ----------
    first, second
        A block name or number for each thing, as for :func:`adjusted_rand_index`.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 3)  # 2 log 2
    1.386
    """
    overlap = _overlap(first, second)
    n = overlap.first.sum()
    both, one, other = (float(-xlogy(size / n, size / n).sum()) for size in overlap)
    return max(2 * both - one - other, 0.0)


def _overlap(first: Partition, second: Partition) -> Overlap:
    """Count the blocks and their intersections, in time linear in the number of things."""
    first, second = _match(first, second)
    a, b = (_codes(partition, name) for partition, name in ((first, "first"), (second, "second")))
    if len(a) != len(b):
        raise DataError(
            f"two partitions must be of the same things, got {len(a)} and {len(b)}",
            remedy="pass two Series to have them matched by their index",
        )
    if len(a) == 0:
        raise DataError("the two partitions have nothing in common: their index values differ")
    both = a * (b.max() + 1) + b
    sizes = (np.unique(codes, return_counts=True)[1].astype(np.float64) for codes in (both, a, b))
    return Overlap(*sizes)


def _match(first: Partition, second: Partition) -> tuple[Partition, Partition]:
    """Match two Series by index; leave anything else as it is."""
    if not isinstance(first, pd.Series) or not isinstance(second, pd.Series):
        return first, second
    for partition, name in ((first, "first"), (second, "second")):
        if not partition.index.is_unique:
            twice = first_of(partition.index[partition.index.duplicated()])
            raise DataError(
                f"{twice!r} is twice in the index of the {name} partition", argument=name
            )
    first = first[first.index.isin(second.index)]
    return first, second.loc[first.index]


def _codes(partition: Partition, name: str) -> NDArray[np.int64]:
    values = partition if isinstance(partition, pd.Series) else pd.Series(np.ravel(partition))
    try:
        codes, _ = pd.factorize(values)
    except TypeError:
        raise DataError(
            f"the {name} partition is no list of names: {quoted(partition)}", argument=name
        ) from None
    if (codes < 0).any():
        raise DataError(
            f"the {name} partition has missing values: every thing needs a block", argument=name
        )
    return codes.astype(np.int64)
