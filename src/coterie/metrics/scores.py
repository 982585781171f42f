"""Scores of predicted labels, and of probabilities, against the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coterie.metrics.matching import Labels, Predictions, match, match_probabilities


def accuracy(predictions: Predictions, truth: Labels) -> float:
    """Give the share of items that are right; an item whose best classes tie scores its share.

    Parameters
    ----------
    predictions
        Labels (Series or dict, item -> label), or probabilities (DataFrame: index item, one column
        a class). Of probabilities, each item's best class counts, and k classes that tie count
        1/k each (as if one were drawn), so that the order of the classes cannot matter.
    truth
        Series or dict, item -> label. Only items with a prediction and a truth are scored.

    Examples
    --------
    >>> accuracy({"q1": "yes", "q2": "no"}, {"q1": "yes", "q2": "yes"})
    0.5
    >>> vote = pd.DataFrame({"no": [0.5, 0.2], "yes": [0.5, 0.8]}, index=["q1", "q2"])
    >>> accuracy(vote, {"q1": "yes", "q2": "yes"})
    0.75
    """
    return float(match(predictions, truth).hit.mean())


def balanced_accuracy(predictions: Predictions, truth: Labels) -> float:
    """Give the mean, over the true classes that occur, of the share of their items that are right.

    Parameters
    ----------
    predictions, truth
        As for :func:`accuracy`, ties included.

    Examples
    --------
    >>> predicted = {"q1": "yes", "q2": "yes", "q3": "yes", "q4": "no"}
    >>> balanced_accuracy(predicted, {"q1": "yes", "q2": "yes", "q3": "no", "q4": "no"})
    0.75
    """
    matched = match(predictions, truth)
    n_items = np.bincount(matched.truth)
    right = np.bincount(matched.truth, weights=matched.hit)
    return float((right[n_items > 0] / n_items[n_items > 0]).mean())


def confusion(predictions: Predictions, truth: Labels) -> pd.DataFrame:
    """Count the items by true class (rows) and predicted class (columns).

    Parameters
    ----------
    predictions, truth
        As for :func:`accuracy`. Labels give whole counts; of probabilities, an item whose best
        classes tie is shared evenly by them.

    Examples
    --------
    >>> confusion({"q1": "yes", "q2": "no"}, {"q1": "yes", "q2": "yes"})
    prediction  no  yes
    truth
    no           0    0
    yes          1    1
    """
    matched = match(predictions, truth)
    n_classes = len(matched.classes)
    cell = matched.truth[matched.item] * n_classes + matched.best
    counts = np.bincount(cell, weights=matched.share, minlength=n_classes**2)
    if matched.probability is None:
        counts = counts.astype(np.int64)
    classes = pd.Index(matched.classes, tupleize_cols=False)
    return pd.DataFrame(
        counts.reshape(n_classes, n_classes),
        index=classes.rename("truth"),
        columns=classes.rename("prediction"),
    )


def log_loss(probabilities: pd.DataFrame, truth: Labels) -> float:
    """Give the mean of -log p(truth), in nats; infinite if a truth was called impossible.

    Parameters
    ----------
    probabilities
        DataFrame: index item, one column a class; rows sum to one.
    truth
        Series or dict, item -> label. Only items with probabilities and a truth are scored.

    Examples
    --------
    >>> p = pd.DataFrame({"no": [0.5, 0.2], "yes": [0.5, 0.8]}, index=["q1", "q2"])
    >>> round(log_loss(p, {"q1": "no", "q2": "yes"}), 3)
    0.458
    """
    matched = match_probabilities(probabilities, truth)
    assert matched.probability is not None
    with np.errstate(divide="ignore"):
        score = -np.log(matched.probability[np.arange(len(matched.truth)), matched.truth])
    return float(score.mean())


def brier_score(probabilities: pd.DataFrame, truth: Labels) -> float:
    """Give the mean squared distance of the probabilities from the truth, 0 (best) to 2.

    As Brier defined it, the sum runs over all classes: for two classes it is twice the number that
    looks only at one of them.

    Parameters
    ----------
    probabilities, truth
        As for :func:`log_loss`.

    Examples
    --------
    >>> p = pd.DataFrame({"no": [0.5, 0.2], "yes": [0.5, 0.8]}, index=["q1", "q2"])
    >>> round(brier_score(p, {"q1": "no", "q2": "yes"}), 3)
    0.29
    """
    matched = match_probabilities(probabilities, truth)
    assert matched.probability is not None
    away = matched.probability.copy()
    away[np.arange(len(matched.truth)), matched.truth] -= 1
    return float((away**2).sum(axis=1).mean())
