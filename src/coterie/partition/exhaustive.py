"""The best partition of a few annotators, by looking at all of them.

The summed loss of a partition is a sum over its coteries, so that the best partitions of all sets
of annotators follow from those of smaller sets.
"""

from __future__ import annotations

import numpy as np

from coterie.partition.moves import TOLERANCE
from coterie.partition.sample import FloatArray, IntArray, Sample

MOST_ANNOTATORS = 8
"""255 sets of annotators, each looked at in every draw; their number doubles with each more."""


def best_of_all(sample: Sample, k: int | None = None) -> IntArray:
    """Give the partition of least summed loss; the one of fewest coteries if several are.

    Parameters
    ----------
    sample
        The draws.
    k
        The number of coteries; None for any.
    """
    group, value = best_of_each_number(sample)
    if k is None:
        k = 1 + int(np.argmax(value <= value.min() + TOLERANCE * sample.total))
    best: IntArray = group[k - 1]
    return best


def value_of_sets(sample: Sample) -> FloatArray:
    """Give what each set of annotators adds to the summed loss as a coterie, shape (2^annotators,).

    Bit l of a set's number says whether annotator l is in it.
    """
    n_annotators = len(sample.row)
    n_rows = len(sample.start) - 1
    row_weight = np.zeros(n_rows)
    row_weight[sample.row] = sample.weight  # in every row sits somebody
    together = np.zeros((1 << n_annotators, n_rows), np.int8)
    value = np.zeros(1 << n_annotators)
    for one in range(1, 1 << n_annotators):
        last = one.bit_length() - 1
        together[one] = together[one - (1 << last)]
        together[one, sample.row[last]] += 1
        overlap = sample.value[together[one]] @ row_weight
        value[one] = sample.total * sample.value[one.bit_count()] - 2 * overlap
    return value


def best_of_each_number(sample: Sample) -> tuple[IntArray, FloatArray]:
    """Find the best partition into 1, 2, ... coteries.

    Returns
    -------
    group, value
        The best partition into k coteries at place k - 1, shape (annotators, annotators), and its
        summed loss up to a constant, shape (annotators,).
    """
    n = len(sample.row)
    everybody = (1 << n) - 1
    value = value_of_sets(sample)
    lowest = np.full((n + 1, everybody + 1), np.inf)  # of a set in so many coteries
    lowest[0, 0] = 0.0
    coterie = np.zeros((n + 1, everybody + 1), np.int64)  # the one of the set's last annotator
    for people in range(1, everybody + 1):
        last = 1 << (people.bit_length() - 1)
        with_last = [part for part in range(last, people + 1) if part & ~people == 0]
        rest = people - np.array(with_last)
        for k in range(1, people.bit_count() + 1):
            found = value[with_last] + lowest[k - 1, rest]
            coterie[k, people] = with_last[int(found.argmin())]
            lowest[k, people] = found.min()
    group = np.zeros((n, n), np.int32)
    for k in range(1, n + 1):
        people = everybody
        for m in range(k):
            part = int(coterie[k - m, people])
            group[k - 1, [l for l in range(n) if part >> l & 1]] = m
            people -= part
    return group, lowest[1:, everybody]
