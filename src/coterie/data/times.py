"""When every label was given: beside the codes, which do not know the order of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Times(NamedTuple):
    """The labels sorted by annotator, time, item and answer; equal times are one moment."""

    annotator_start: NDArray[np.int64]  # (annotators + 1,)
    item: IntArray  # (labels,)
    answer: IntArray  # (labels,)
    time: FloatArray  # (labels,)   numbers as given, or seconds since 1970


def times_of(
    item: NDArray[Any],
    annotator: NDArray[Any],
    answer: NDArray[Any],
    time: FloatArray,
    n_annotators: int,
) -> Times:
    """Sort labels, shape (labels,) each, by annotator and time.

    Examples
    --------
    >>> one = np.array([0, 0, 0])
    >>> times_of(np.array([2, 0, 1]), one, one, np.array([5.0, 9.0, 1.0]), 1).item
    array([1, 2, 0], dtype=int32)
    """
    order = np.lexsort((answer, item, time, annotator))
    start = np.concatenate([[0], np.cumsum(np.bincount(annotator, minlength=n_annotators))])
    found = (item[order].astype(np.int32), answer[order].astype(np.int32), time[order])
    result = Times(start, *found)
    for array in result:
        array.setflags(write=False)
    return result


def annotator_of(times: Times) -> NDArray[np.int64]:
    """Give the annotator of each label, shape (labels,)."""
    n = np.diff(times.annotator_start)
    return np.repeat(np.arange(len(n)), n)


def item_order(times: Times) -> NDArray[np.int64]:
    """Give where each label of the codes, which are sorted by item, is among the times."""
    return np.lexsort((times.answer, annotator_of(times), times.item))
