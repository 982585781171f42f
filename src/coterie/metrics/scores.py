"""Scores of predicted labels, and of probabilities, against the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.arguments import checked
from coterie.errors import DataError
from coterie.metrics.matching import Labels, Matched, Predictions, match, match_probabilities


def accuracy(predictions: Predictions, truth: Labels) -> float:
    """Give the share of items that are right; an item whose best classes tie scores its share.

    Parameters
    ----------
    predictions
        Labels (Series or dict, item -> label), or probabilities (DataFrame: index item, one column
        per class). Of probabilities, each item's best class counts, and k classes that tie count
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
    return mean_by_class(match(predictions, truth))


def mean_by_class(matched: Matched) -> float:
    """Give the balanced accuracy of items that are matched already."""
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
    return count_by_class(match(predictions, truth))


def count_by_class(matched: Matched) -> pd.DataFrame:
    """Give the table of :func:`confusion` for items that are matched already."""
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


@checked
def log_loss(probabilities: pd.DataFrame, truth: Labels, *, floor: float = 0.0) -> float:
    """Give the mean of -log p(truth), in nats.

    Parameters
    ----------
    probabilities
        DataFrame: index item, one column per class; rows sum to one.
    truth
        Series or dict, item -> label. Only items with probabilities and a truth are scored.
    floor
        Smaller probabilities of the truth count as this one. Without a floor, a truth that was
        called impossible makes the loss infinite.

    Examples
    --------
    >>> p = pd.DataFrame({"no": [0.5, 0.0], "yes": [0.5, 1.0]}, index=["q1", "q2"])
    >>> round(log_loss(p, {"q1": "no", "q2": "yes"}), 3)
    0.347
    >>> log_loss(p, {"q1": "no", "q2": "no"})
    inf
    >>> round(log_loss(p, {"q1": "no", "q2": "no"}, floor=0.0001), 3)
    4.952
    """
    return floored_loss(match_probabilities(probabilities, truth), floor)


def floored_loss(matched: Matched, floor: float) -> float:
    """Give the log loss of items that are matched already."""
    if not 0 <= floor < 1:
        raise DataError(f"floor must be at least 0 and less than 1, got {floor}", argument="floor")
    with np.errstate(divide="ignore"):
        return float(-np.log(np.maximum(of_truth(matched), floor)).mean())


def of_truth(matched: Matched) -> NDArray[np.float64]:
    """Give the probability of each item's true class, shape (items,)."""
    assert matched.probability is not None
    return matched.probability[np.arange(len(matched.truth)), matched.truth]


@checked
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
    return squared_distance(match_probabilities(probabilities, truth))


def squared_distance(matched: Matched) -> float:
    """Give the Brier score of items that are matched already."""
    assert matched.probability is not None
    away = matched.probability.copy()
    away[np.arange(len(matched.truth)), matched.truth] -= 1
    return float((away**2).sum(axis=1).mean())
