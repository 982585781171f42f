"""Does a sampler draw from its posterior? Asked of crowds whose truths can all be summed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from coterie.data.annotations import Annotations
from coterie.diagnostics import diagnose
from coterie.errors import CoterieError, DataError
from coterie.inference.sample import average_items, pool, run
from coterie.io.read import read
from coterie.models import SamplingEstimator
from coterie.numeric import FloatArray, LongArray
from coterie.words.visible import quoted

LogJoint = Callable[[LongArray], float]
MOST_TRUTHS, SWEEPS, BURN_IN, STANDARD_ERRORS = 1_000_000, 21_000, 1_000, 4.0


def exact_probabilities(annotations: Annotations, log_joint: LogJoint) -> FloatArray:
    """Sum over all truths: the probability of each class of each item, shape (items, classes).

    Parameters
    ----------
    annotations
        A few labels; known items keep their class.
    log_joint
        As for :func:`check_sampler`.

    Examples
    --------
    >>> few = read([("q1", "ann", "no"), ("q1", "bob", "no"), ("q2", "ann", "yes")])
    >>> def log_joint(truth):  # everybody is right in three of four labels
    ...     said, of = few.codes.item_answer, np.array([0, 0, 1])
    ...     return np.log(np.where(said == truth[of], 3 / 4, 1 / 4)).sum()
    >>> exact_probabilities(few, log_joint).round(3).tolist()
    [[0.9, 0.1], [0.25, 0.75]]
    """
    every = range(annotations.n_classes)
    free = [every if known < 0 else (known,) for known in annotations.codes.gold.tolist()]
    n_truths = np.prod([*map(len, free)], dtype=float)
    if n_truths > MOST_TRUTHS:
        raise DataError(
            f"there are {n_truths:,.0f} truths of these labels, too many to sum over; give fewer"
            " items or classes"
        )
    truths = np.array(list(itertools.product(*free)), np.int64)
    logs = np.array([log_joint(truth) for truth in truths])
    weights = np.exp(logs - logs.max())
    sums = np.array([[weights[truth == t].sum() for t in every] for truth in truths.T])
    exact: FloatArray = sums / sums.sum(axis=1, keepdims=True)
    return exact


def check_sampler(
    model: SamplingEstimator, labels: Any, log_joint: LogJoint, *, sweeps: int = SWEEPS
) -> None:
    """Check the probabilities that a sampler finds against a sum over all truths.

    Parameters
    ----------
    model
        The model with its prior; give it a ``random_state``, or the check differs every time. Use
        a prior that is not symmetric: one that is transposed is invisible otherwise.
    labels
        A few labels, whatever :func:`coterie.read` takes.
    log_joint
        The logarithm of p(labels, truth), up to a constant, written down from the model's
        definition and not from its kernel: a function of the truth, shape (items,), as codes of the
        classes in the order of ``read(labels).classes``. What else the model has, such as matrices
        or coteries, is integrated or summed out in it.
    sweeps
        Sweeps of each chain, of which 1,000 are burn-in.

    Raises
    ------
    CoterieError
        The probability that is furthest away, if it is more than four standard errors.
    """
    annotations = read(labels)
    exact = exact_probabilities(annotations, log_joint)
    quiet = {"sweeps": sweeps, "burn_in": BURN_IN, "early_stop": False, "progress": False}
    told = type(model)(**{**model.get_params(), **quiet, "checkpoint": None})
    sampler = told._sampler(annotations)
    options = told._options(sampler)
    chains, _, _ = run(sampler, options, {})
    # Of all chains: the exact posterior has all modes.
    found = average_items(chains, options.after.align).item_probability
    effective = float(np.nanmin(diagnose(pool(chains).trace, ["ess_bulk"])["ess_bulk"]))
    effective = min(effective, (sweeps - BURN_IN) * len(chains))
    error = np.sqrt(exact * (1 - exact) / effective)
    gap = np.abs(found - exact)
    i, t = np.unravel_index((gap / np.maximum(error, 1e-12)).argmax(), gap.shape)
    if gap[i, t] > STANDARD_ERRORS * error[i, t] + 1e-9:
        item, word = annotations.items.tolist()[i], annotations.classes.tolist()[t]
        raise CoterieError(
            f"{type(model).__name__} finds {found[i, t]:.4f} for class"
            f" {quoted(word)} of item {quoted(item)}, and its log joint {exact[i, t]:.4f}:"
            f" {gap[i, t] / error[i, t]:.1f} standard errors apart; one of them is not the model"
        )
