"""Expectation-maximisation for Dawid and Skene's model, one pass over the labels an iteration.

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

from coterie.annotations import Codes
from coterie.numeric.jit import kernel

FloatArray = NDArray[np.float64]


class Counts(NamedTuple):
    """Expected counts: what the M-step needs to know of the items."""

    truth: FloatArray  # (classes,)                          items with truth t
    said: FloatArray  # (annotators, answers, classes)      n[l,t,c]: l calls t's items c


class Parameters(NamedTuple):
    """Logarithms of the parameters; an impossible event is minus infinity."""

    log_truth: FloatArray  # (classes,)                      log tau[t]
    log_said: FloatArray  # (annotators, answers, classes)  log Psi[l,t,c]


def zero_counts(codes: Codes) -> Counts:
    """Make expected counts of nothing, in the sizes of the data."""
    n_annotators = len(codes.annotator_start) - 1
    return Counts(
        np.zeros(codes.n_classes), np.zeros((n_annotators, codes.n_answers, codes.n_classes))
    )


@kernel
def count(codes: Codes, probability: FloatArray, counts: Counts) -> None:
    """Overwrite the counts with those expected under class probabilities, (items, classes).

    An item without label and known class is not counted: it changes nobody's estimate.
    """
    start, annotator, answer = codes.item_start, codes.item_annotator, codes.item_answer
    gold, n_classes = codes.gold, codes.n_classes
    truth, said = counts
    truth[:] = 0
    said[:] = 0
    for i in range(len(gold)):
        if start[i] == start[i + 1] and gold[i] < 0:
            continue
        for t in range(n_classes):
            truth[t] += probability[i, t]
        for k in range(start[i], start[i + 1]):
            l, c = annotator[k], answer[k]
            for t in range(n_classes):
                said[l, c, t] += probability[i, t]


@kernel
def log_shares(counts: FloatArray, smoothing: float, out: FloatArray) -> None:
    """Write log((counts + s) / (their sum)) into ``out``.

    Counts that are all zero give equal shares, the limit of s -> 0: no item speaks for or against
    them, so any choice has the same likelihood.
    """
    total = 0.0
    for c in range(len(counts)):
        total += counts[c] + smoothing
    for c in range(len(counts)):
        share = (counts[c] + smoothing) / total if total > 0 else 1 / len(counts)
        out[c] = np.log(share) if share > 0 else -np.inf


@kernel
def estimate(counts: Counts, smoothing: float, parameters: Parameters) -> None:
    """M-step: write the parameters that make the expected counts most probable.

    With ``smoothing`` s > 0, their mode under Dirichlet(1 + s) priors on tau and every Psi[l,t].
    """
    log_shares(counts.truth, smoothing, parameters.log_truth)
    n_annotators, _, n_classes = counts.said.shape
    for l in range(n_annotators):
        for t in range(n_classes):
            log_shares(counts.said[l, :, t], smoothing, parameters.log_said[l, :, t])


def estimate_from(codes: Codes, probability: FloatArray, smoothing: float = 0.0) -> Parameters:
    """M-step from the items' class probabilities, shape (items, classes).

    Examples
    --------
    >>> from coterie.annotations import encode
    >>> codes = encode([0, 1, 1], [0, 0, 1], [1, 0, 1], sizes=(2, 2, 2, 2))
    >>> parameters = estimate_from(codes, np.array([[0.25, 0.75], [0.5, 0.5]]))
    >>> np.exp(parameters.log_truth).tolist()
    [0.375, 0.625]
    >>> np.exp(parameters.log_said[0]).round(3).tolist()  # rows: answer, columns: truth
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
    return smoothing * float(parameters.log_truth.sum() + parameters.log_said.sum())


@kernel
def normalise(weights: FloatArray, gold: int, log_truth: FloatArray) -> float:
    """E-step of one item: turn its log weights into class probabilities, in place.

    A known class (``gold`` not -1) is certain. An item that no class can explain (only possible
    for parameters that were not estimated from it) falls back to tau.

    Returns
    -------
    The log likelihood of the item's labels, and of its known class.
    """
    if gold >= 0:
        log_likelihood = weights[gold]
        weights[:] = 0
        weights[gold] = 1
        return float(log_likelihood)
    peak = weights.max()
    if peak == -np.inf:
        weights[:] = np.exp(log_truth)
        return float(peak)
    total = 0.0
    for t in range(len(weights)):
        weights[t] = np.exp(weights[t] - peak)
        total += weights[t]
    for t in range(len(weights)):
        weights[t] /= total
    return float(peak + np.log(total))


@kernel
def sweep(codes: Codes, parameters: Parameters, probability: FloatArray, counts: Counts) -> float:
    """E-step of all items, and their expected counts, in one pass.

    The log weight of class t for item i is log tau[t] + sum over its labels of log Psi[l,t,c].

    Parameters
    ----------
    codes
        The labels.
    parameters
        Log tau and log Psi.
    probability
        Overwritten with the class probabilities of the items, shape (items, classes).
    counts
        Overwritten with the expected counts, see :func:`count`.

    Returns
    -------
    The log likelihood of the parameters: of all labels and known classes, the truths summed out.
    """
    # Names for the fields: reading them from the tuples in the loop is three times slower.
    start, annotator, answer = codes.item_start, codes.item_annotator, codes.item_answer
    gold, n_classes = codes.gold, codes.n_classes
    log_truth, log_said = parameters
    truth, said = counts
    truth[:] = 0
    said[:] = 0
    weights = np.empty(n_classes)
    log_likelihood = 0.0
    for i in range(len(gold)):
        weights[:] = log_truth
        for k in range(start[i], start[i + 1]):
            l, c = annotator[k], answer[k]
            for t in range(n_classes):
                weights[t] += log_said[l, c, t]
        item_log_likelihood = normalise(weights, gold[i], log_truth)
        probability[i] = weights
        if start[i] == start[i + 1] and gold[i] < 0:
            continue  # see count
        log_likelihood += item_log_likelihood
        for t in range(n_classes):
            truth[t] += weights[t]
        for k in range(start[i], start[i + 1]):
            l, c = annotator[k], answer[k]
            for t in range(n_classes):
                said[l, c, t] += weights[t]
    return log_likelihood


def maximise(
    codes: Codes, start: Parameters, smoothing: float = 0.0
) -> Iterator[tuple[float, FloatArray, Parameters]]:
    """Iterate expectation-maximisation for ever.

    Parameters
    ----------
    codes
        The labels.
    start
        The parameters to start from.
    smoothing
        Pseudo-counts, see :func:`estimate`.

    Yields
    ------
    objective
        The log likelihood of the parameters that the E-step used; with smoothing, plus their log
        prior: the log posterior up to a constant. It never falls.
    probability
        The class probabilities from this E-step, shape (items, classes); overwritten by the next.
    parameters
        The estimate from these probabilities; overwritten by the next.

    Examples
    --------
    >>> from coterie.annotations import encode
    >>> codes = encode([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], sizes=(2, 3, 2, 2))
    >>> start = estimate_from(codes, np.array([[1 / 3, 2 / 3], [1, 0]]))
    >>> for (objective, probability, _), _ in zip(maximise(codes, start), range(3)):
    ...     print(round(objective, 3), probability[:, 1].round(3).tolist())
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
        yield objective, probability, parameters
