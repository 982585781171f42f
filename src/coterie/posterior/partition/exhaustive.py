"""The best partition of a few annotators, by looking at all of them."""

from __future__ import annotations

import numpy as np

from coterie.numeric.jit import kernel
from coterie.posterior.partition.sample import FloatArray, IntArray, Sample
from coterie.posterior.partition.state import (
    TOLERANCE,
    State,
    cost,
    empty_state,
    forget,
    put,
    take,
    weigh,
)

MOST_ANNOTATORS = 8
"""4,140 partitions; 9 annotators have 21,147, and 20 have 5e13."""


def best_of_all(sample: Sample, k: int | None = None) -> IntArray:
    """Give the partition of least summed loss; the one of fewest coteries if several are.

    Parameters
    ----------
    sample
        The draws.
    k
        The number of coteries; None for any.
    """
    group, value = best_of_each_number(empty_state(sample), sample)
    if k is None:
        k = 1 + int(np.argmax(value <= value.min() + TOLERANCE * sample.total))
    best: IntArray = group[k - 1]
    return best


@kernel
def best_of_each_number(state: State, sample: Sample) -> tuple[IntArray, FloatArray]:
    """Find the best partition into 1, 2, ... coteries, seating one annotator after the other.

    Parameters
    ----------
    state
        Nobody sits anywhere.
    sample
        The draws.

    Returns
    -------
    group, value
        The best partition into k coteries at place k - 1, shape (annotators, annotators), and its
        summed loss up to a constant, shape (annotators,).
    """
    n = len(state.group)
    best = np.zeros((n, n), np.int32)
    lowest = np.full(n, np.inf)
    value = np.zeros(n + 1)
    l = 0
    choice = np.full(n, -1, np.int32)
    while l >= 0:
        if choice[l] >= 0:
            take(l, state, sample)
        choice[l] += 1
        if choice[l] > state.n_coteries[0]:
            choice[l] = -1  # every coterie and a new one have been tried
            l -= 1
            continue
        touched = weigh(l, state, sample)
        value[l + 1] = value[l] + cost(l, choice[l], state, sample)
        forget(touched, state)
        put(l, choice[l], state, sample)
        if l < n - 1:
            l += 1
        elif value[n] < lowest[state.n_coteries[0] - 1] - TOLERANCE * sample.total:
            lowest[state.n_coteries[0] - 1] = value[n]
            best[state.n_coteries[0] - 1] = choice
    return best, lowest
