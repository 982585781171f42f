"""Expectation-maximisation for Dawid and Skene's model, one pass over the labels per iteration.

The model: item i has truth t with probability tau[t], and annotator l calls an item of truth t
answer c with probability Psi[l,t,c]. A pass (:func:`sweep`) does the E-step of each item and at
once adds it to the expected counts of the next M-step (:func:`estimate`), so nothing is stored a
label. Arrays over answers are laid out (annotator, answer, class): one label reads one run of
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.batches import parts_of
from coterie.numeric.jit import kernel

FloatArray = NDArray[np.float64]

# An item whose labels are less probable than this is weighed in logarithms. The classes that
# underflow before that are out of the race: less than 1e-158 against the sum.
SMALL = 1e-150


class Counts(NamedTuple):
    """Expected counts: what the M-step needs to know of the items."""

    truth: FloatArray  # (classes,)                          items with truth t
    said: FloatArray  # (annotators, answers, classes)      n[l,t,c]: l calls t's items c


class Parameters(NamedTuple):
    """What the model does not know beside the truths."""

    truth: FloatArray  # (classes,)                          tau[t]
    said: FloatArray  # (annotators, answers, classes)      Psi[l,t,c]


class Step(NamedTuple):
    """One iteration, see :func:`maximise`. The next one overwrites the arrays."""

    objective: float  # of the parameters that the E-step used
    probability: FloatArray  # (items, classes)             from the E-step
    parameters: Parameters  # from the M-step


def zero_counts(codes: Codes) -> Counts:
    """Make expected counts of nothing, in the sizes of the data."""
    n_annotators = len(codes.annotator_start) - 1
    return Counts(
        np.zeros(codes.n_classes), np.zeros((n_annotators, codes.n_answers, codes.n_classes))
    )


def count(codes: Codes, probability: FloatArray, counts: Counts) -> None:
    """Add to the counts what is expected under the items' class probabilities, (items, classes).

    An item with neither label nor known class is not counted: it changes nobody's estimate.
    """
    counted = (np.diff(codes.item_start) > 0) | (codes.gold >= 0)
    cells = counts.said.reshape(-1, codes.n_classes)
    for items, labels, item in parts_of(codes):
        # One after the other, as a sweep adds them: sum would add in pairs, to other last digits.
        every = np.vstack([counts.truth, probability[items][counted[items]]])
        counts.truth[:] = np.cumsum(every, axis=0)[-1]
        cell = codes.item_annotator[labels] * np.int64(codes.n_answers) + codes.item_answer[labels]
        for t in range(codes.n_classes):
            np.add.at(cells[:, t], cell, probability[items, t][item])


def estimate(counts: Counts, smoothing: float, parameters: Parameters) -> None:
    """M-step: write the parameters that make the expected counts most probable.

    They are (counts + s) / (their sum). Counts that are all zero give equal shares, the limit of
    s -> 0: no item speaks for or against them, so any choice has the same likelihood. With
    ``smoothing`` s > 0, the mode under Dirichlet(1 + s) priors on tau and every Psi[l,t].
    """
    for array, out, axis in zip(counts, parameters, (0, 1), strict=True):
        np.add(array, smoothing, out=out)
        total = out.sum(axis=axis, keepdims=True)
        out[:] = np.where(total > 0, out, 1)
        out /= np.where(total > 0, total, array.shape[axis])


def estimate_from(codes: Codes, probability: FloatArray, smoothing: float = 0.0) -> Parameters:
    """M-step from the items' class probabilities, shape (items, classes).

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 1, 1], [0, 0, 1], [1, 0, 1], sizes=(2, 2, 2, 2))
    >>> parameters = estimate_from(codes, np.array([[0.25, 0.75], [0.5, 0.5]]))
    >>> parameters.truth.tolist()
    [0.375, 0.625]
    >>> parameters.said[0].round(3).tolist()  # rows: answer, columns: truth
    [[0.667, 0.4], [0.333, 0.6]]
    """
    counts = zero_counts(codes)
    count(codes, probability, counts)
    parameters = Parameters(*(np.empty_like(array) for array in counts))
    estimate(counts, smoothing, parameters)
    return parameters


def log_prior(parameters: Parameters, smoothing: float) -> float:
    """Log density of the parameters under the priors that smooth, up to a constant."""
    if smoothing == 0:
        return 0.0  # and not 0 * log 0
    return smoothing * float(np.log(parameters.truth).sum() + np.log(parameters.said).sum())


@kernel
def log_weigh(i: int, codes: Codes, parameters: Parameters, weights: FloatArray) -> None:
    """Write log tau[t] + sum over the labels of item i of log Psi[l,t,c] into weights[t]."""
    for t in range(codes.n_classes):
        p = parameters.truth[t]
        weights[t] = np.log(p) if p > 0 else -np.inf
        for k in range(codes.item_start[i], codes.item_start[i + 1]):
            p = parameters.said[codes.item_annotator[k], codes.item_answer[k], t]
            weights[t] += np.log(p) if p > 0 else -np.inf


@kernel
def classify_in_logs(
    i: int, codes: Codes, parameters: Parameters, probability: FloatArray
) -> float:
    """E-step of an item that is known or improbable: write its class probabilities.

    A known class is certain. An item that no class can explain (only possible for parameters that
    were not estimated from it) falls back to tau.

    Returns
    -------
    The log likelihood of the item's labels, and of its known class.
    """
    log_weigh(i, codes, parameters, probability)
    gold = codes.gold[i]
    if gold >= 0:
        log_likelihood = float(probability[gold])
        probability[:] = 0
        probability[gold] = 1
        return log_likelihood
    peak = probability.max()
    if peak == -np.inf:
        probability[:] = parameters.truth
        return float(peak)
    probability[:] = np.exp(probability - peak)
    total = probability.sum()
    probability /= total
    return float(peak + np.log(total))


@kernel
def sweep(codes: Codes, parameters: Parameters, probability: FloatArray, counts: Counts) -> float:
    """E-step of all items, and their expected counts, in one pass.

    The weight of class t for item i is tau[t] times the product over its labels of Psi[l,t,c].

    Parameters
    ----------
    codes
        The labels.
    parameters
        Tau and Psi.
    probability
        Overwritten with the class probabilities of the items, shape (items, classes).
    counts
        Overwritten with the expected counts, see :func:`count`.

    Returns
    -------
    The log likelihood of the parameters: of all labels and known classes, the truths summed out.
    """
    # Names for the fields: reading them from the tuples within the loop is three times slower.
    start, annotator, answer = codes.item_start, codes.item_annotator, codes.item_answer
    gold, n_classes = codes.gold, codes.n_classes
    weights = np.empty(n_classes)
    counts.truth[:] = 0
    said = counts.said
    said[:] = 0
    p_truth, p_said = parameters
    log_likelihood = 0.0
    for i in range(len(gold)):
        for t in range(n_classes):
            weights[t] = p_truth[t]
        for k in range(start[i], start[i + 1]):
            l, c = annotator[k], answer[k]
            for t in range(n_classes):
                weights[t] *= p_said[l, c, t]
        total = 0.0
        for t in range(n_classes):
            total += weights[t]
        if gold[i] >= 0 or total < SMALL:
            log_likelihood += classify_in_logs(i, codes, parameters, weights)
            total = 1.0
        elif start[i] < start[i + 1]:
            log_likelihood += np.log(total)
        for t in range(n_classes):
            weights[t] /= total
            probability[i, t] = weights[t]
        if start[i] == start[i + 1] and gold[i] < 0:
            continue  # see count
        for t in range(n_classes):
            counts.truth[t] += weights[t]
        for k in range(start[i], start[i + 1]):
            l, c = annotator[k], answer[k]
            for t in range(n_classes):
                said[l, c, t] += weights[t]
    return log_likelihood


def maximise(codes: Codes, start: Parameters, smoothing: float = 0.0) -> Iterator[Step]:
    """Iterate expectation-maximisation for ever.

    The objective is the log likelihood; with smoothing, plus the log prior: the log posterior up
    to a constant. It never falls.

    Parameters
    ----------
    codes
        The labels.
    start
        The parameters to start from.
    smoothing
        Pseudo-counts, see :func:`estimate`.

    Examples
    --------
    >>> from itertools import islice
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], sizes=(2, 3, 2, 2))
    >>> start = estimate_from(codes, np.array([[1 / 3, 2 / 3], [1, 0]]))
    >>> for step in islice(maximise(codes, start), 3):
    ...     print(round(step.objective, 3), step.probability[:, 1].round(3).tolist())
    -1.962 [0.889, 0.0]
    -1.597 [0.988, 0.0]
    -1.411 [1.0, 0.0]
    """
    parameters = Parameters(*(array.copy() for array in start))
    counts = zero_counts(codes)
    probability = np.empty((len(codes.gold), codes.n_classes))
    while True:
        objective = log_prior(parameters, smoothing)
        objective += sweep(codes, parameters, probability, counts)
        estimate(counts, smoothing, parameters)
        yield Step(objective, probability, parameters)
