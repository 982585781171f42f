"""When annotators labelled what: moments, the steps between them, and the sticks of rows.

Row t of annotator l at moment u breaks a stick, first for t itself, then for the other answers:
Psi[o(j)] = s(v[j]) times the product over earlier j' of 1 - s(v[j']), s the logistic function.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from coterie.data.times import Times, annotator_of, item_order

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class Course(NamedTuple):
    """The labels by annotator and time, and which moment each is of; moments lie in a row."""

    start: LongArray  # (annotators + 1,)   labels of annotator l
    item: IntArray  # (labels,)
    answer: IntArray  # (labels,)
    moment: IntArray  # (labels,)
    moment_of_label: IntArray  # (labels,)   of the labels as they lie by item
    moment_start: LongArray  # (annotators + 1,)   moments of annotator l
    step: FloatArray  # (moments,)   since the one before; 0 for the first
    n_labels: FloatArray  # (moments,)


class Sticks(NamedTuple):
    """In which order rows break their sticks, and where sticks start."""

    place: IntArray  # (classes, answers)   of answer c in the order of class t
    answer: IntArray  # (classes, answers)   the order
    mean: FloatArray  # (classes, answers - 1)
    variance: FloatArray  # (classes, answers - 1)


def course_of(times: Times, clock: str, unit: float, step_size: int) -> Course:
    """Give the course of everybody's labels; ``step_size`` of them, or equal times, are a moment.

    Examples
    --------
    >>> from coterie.data.times import times_of
    >>> one = np.zeros(4, int)
    >>> times = times_of(np.arange(4), one, one, np.array([1.0, 1.0, 4.0, 9.0]), 1)
    >>> course_of(times, "labels", 1.0, 1).step
    array([0., 2., 1.])
    >>> course_of(times, "time", 1.0, 1).step
    array([0., 3., 5.])
    """
    who = annotator_of(times)
    rank = np.arange(len(who)) - times.annotator_start[who]
    first = rank == 0
    new = first | (np.append(-np.inf, times.time[:-1]) != times.time)
    number = np.cumsum(new) - 1  # moments by equal times
    starts = np.flatnonzero(new)
    if step_size > 1:  # and so many of them together
        position = number - number[times.annotator_start[who]]
        new = first | (new & (position % step_size == 0))
        number, starts = np.cumsum(new) - 1, np.flatnonzero(new)
    n_labels = np.bincount(number, minlength=len(starts)).astype(np.float64)
    owner = who[starts]
    if clock == "labels":
        step = np.append(0.0, n_labels[:-1])
    else:
        step = np.append(0.0, np.diff(times.time[starts])) / unit
    step[np.flatnonzero(first[starts])] = 0.0
    counts = np.bincount(owner, minlength=len(times.annotator_start) - 1)
    return Course(
        start=np.asarray(times.annotator_start, np.int64),
        item=times.item,
        answer=times.answer,
        moment=number.astype(np.int32),
        moment_of_label=number[item_order(times)].astype(np.int32),
        moment_start=np.concatenate([[0], np.cumsum(counts)]),
        step=step,
        n_labels=n_labels,
    )


def sticks_of(mean: FloatArray, strength: FloatArray) -> Sticks:
    """Match the first state's sticks to the Dirichlet rows strength * mean, shape (T, C).

    Examples
    --------
    >>> sticks_of(np.array([[0.5, 0.5]]), np.array([2.0])).mean
    array([[0.]])
    """
    n_classes, n_answers = mean.shape
    answer = np.array(
        [[t, *(c for c in range(n_answers) if c != t)] for t in range(n_classes)], np.int32
    )
    shape = np.take_along_axis(strength[:, None] * mean, answer, axis=1)
    later = np.cumsum(shape[:, ::-1], axis=1)[:, ::-1][:, 1:]
    own = shape[:, :-1]
    return Sticks(
        place=np.argsort(answer, axis=1).astype(np.int32),
        answer=answer,
        mean=digamma(own) - digamma(later),
        variance=polygamma(1, own) + polygamma(1, later),
    )
