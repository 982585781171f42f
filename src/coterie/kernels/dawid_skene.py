"""Expectation-maximisation for Dawid and Skene's model, one pass over the labels per iteration.

The model: item i has truth t with probability tau[t], and annotator l calls an item of truth t
answer c with probability Psi[l,t,c]. The E-step is a pass of the soft engine whose cells are the
classes (:func:`coterie.kernels.soft.engine.sweep`); the M-step is :func:`estimate`. Arrays over
answers are laid out (annotator, answer, class). Where kinds of items are known, annotators are
pairs of annotator and kind, and tau[k] is of kind k (:mod:`coterie.kernels.soft.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.batches import parts_of
from coterie.data.codes import Codes
from coterie.kernels.soft import engine
from coterie.kernels.soft.engine import is_counted, log_weight_of, new_sums
from coterie.kernels.soft.items import Items, whole
from coterie.kernels.soft.parts import Sums, Weights

FloatArray = NDArray[np.float64]


class Counts(NamedTuple):
    """Expected counts: what the M-step needs to know of the items."""

    class_total: FloatArray  # (classes,) or (kinds, classes)   n[t]: items with truth t
    said: FloatArray  # (annotators, answers, classes)   n[l,t,c]: l calls t's items c


class Parameters(NamedTuple):
    """What the model does not know beside the truths."""

    class_balance: FloatArray  # (classes,) or (kinds, classes)   tau[t]
    confusion: FloatArray  # (annotators, answers, classes)   Psi[l,t,c]


class Step(NamedTuple):
    """One iteration, see :func:`maximise`. The next one overwrites the arrays."""

    objective: float  # of the parameters that the E-step used
    probability: FloatArray  # (items, classes)             from the E-step; empty for shards
    parameters: Parameters  # from the M-step
    weights: Weights  # of the E-step


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
    sums = new_sums(codes, codes.n_classes)
    add_count(codes, probability, sums)
    for array, more in zip(counts, (sums.cell_total, sums.said), strict=True):
        array += more / sums.scale


def add_count(codes: Codes, probability: FloatArray, sums: Sums) -> None:
    """Add what is expected, as :func:`coterie.kernels.soft.engine.add_count` does, by numpy.

    To the bits of the engine: a vote is counted where nothing can be compiled, too.
    """
    counted, cells = is_counted(codes), sums.said.reshape(-1, codes.n_classes)
    for items, labels, item in parts_of(codes):
        shares = (probability[items] * sums.scale + 0.5).astype(np.int64)
        sums.cell_total[:] += shares[counted[items]].sum(axis=0)
        cell = codes.item_annotator[labels] * np.int64(codes.n_answers) + codes.item_answer[labels]
        np.add.at(cells, cell, shares[item])


def estimate(counts: Counts, smoothing: float, parameters: Parameters) -> None:
    """M-step: write the parameters that make the expected counts most probable.

    They are (counts + s) / (their sum). Counts that are all zero give equal shares, the limit of
    s -> 0: no item speaks for or against them, so any choice has the same likelihood. With
    ``smoothing`` s > 0, the mode under Dirichlet(1 + s) priors on tau and every Psi[l,t].
    """
    for array, out, axis in zip(counts, parameters, (-1, 1), strict=True):
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
    >>> parameters.class_balance.tolist()
    [0.375, 0.625]
    >>> parameters.confusion[0].round(3).tolist()  # rows: answer, columns: truth
    [[0.667, 0.4], [0.333, 0.6]]
    """
    counts = zero_counts(codes)
    count(codes, probability, counts)
    return estimated(counts, smoothing)


def estimated(counts: Counts, smoothing: float) -> Parameters:
    """M-step: give the parameters that :func:`estimate` writes."""
    parameters = Parameters(*(np.empty_like(array) for array in counts))
    estimate(counts, smoothing, parameters)
    return parameters


def log_prior(parameters: Parameters, smoothing: float) -> float:
    """Log density of the parameters under the priors that smooth, up to a constant."""
    if smoothing == 0:
        return 0.0  # and not 0 * log 0
    return smoothing * float(
        np.log(parameters.class_balance).sum() + np.log(parameters.confusion).sum()
    )


def sweep(codes: Codes, parameters: Parameters, probability: FloatArray, sums: Sums) -> float:
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
    sums
        Overwritten with the expected counts, in fixed point.

    Returns
    -------
    The log likelihood of the parameters: of all labels and known classes, the truths summed out.
    """
    engine.sweep(codes, weights_of(parameters), probability, sums)
    return log_weight_of(sums)


def weights_of(parameters: Parameters) -> Weights:
    """Give what an E-step multiplies: cells are the classes."""
    balance = np.atleast_2d(parameters.class_balance)
    classes = np.arange(balance.shape[1], dtype=np.int32)
    return Weights(balance, parameters.confusion, classes)


def counts_of(sums: Sums, counts: Counts) -> None:
    """Write expected counts in fixed point out as numbers."""
    np.divide(sums.cell_total, sums.scale, out=counts.class_total)
    np.divide(sums.said, sums.scale, out=counts.said)


def maximise(codes: Codes | Items, start: Parameters, smoothing: float = 0.0) -> Iterator[Step]:
    """Iterate expectation-maximisation for ever.

    The objective is the log likelihood; with smoothing, plus the log prior: the log posterior up
    to a constant. It never falls.

    Parameters
    ----------
    codes
        The labels, or whoever holds them.
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
    items = whole(codes) if isinstance(codes, Codes) else codes
    parameters = Parameters(*(array.copy() for array in start))
    before, counts = (Parameters(*map(np.empty_like, start)), Counts(*map(np.empty_like, start)))
    while True:
        parameters, before = before, parameters
        weights = weights_of(before)
        sums = items.sweep(weights)
        objective = log_prior(before, smoothing) + log_weight_of(sums)
        counts_of(sums, counts)
        estimate(counts, smoothing, parameters)
        yield Step(objective, items.probability, parameters, weights)
