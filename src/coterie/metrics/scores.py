"""Scores of predicted labels, of probabilities, and of how sure they are, against the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from coterie.arguments import checked
from coterie.errors import DataError
from coterie.metrics.matching import Labels, Matched, Predictions, match, match_probabilities
from coterie.words.visible import quoted

BINS = 10
INTERVAL = (0.025, 0.975)

MOST_BINS = 10_000


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


@checked
def reliability(probabilities: pd.DataFrame, truth: Labels, *, bins: int = BINS) -> pd.DataFrame:
    """Set how sure the labels are beside how often they are right, one row per bin.

    An item's confidence is the probability of its best class. Bins are of equal width between 0
    and 1 and hold their upper edge. An item whose best classes tie is right by its share, as in
    :func:`coterie.metrics.accuracy`.

    Parameters
    ----------
    probabilities
        DataFrame: index item, one column per class; rows sum to one.
    truth
        Series or dict, item -> label. Only items with probabilities and a truth are scored.
    bins
        How many bins.

    Returns
    -------
    DataFrame
        Columns low, high, items, confidence (mean), accuracy; the means of an empty bin are NaN.

    Examples
    --------
    >>> p = pd.DataFrame({"no": [0.1, 0.3, 0.6], "yes": [0.9, 0.7, 0.4]}, index=["q1", "q2", "q3"])
    >>> reliability(p, {"q1": "yes", "q2": "no", "q3": "no"}, bins=4)
        low  high  items  confidence  accuracy
    0  0.00  0.25      0         NaN       NaN
    1  0.25  0.50      0         NaN       NaN
    2  0.50  0.75      2        0.65       0.5
    3  0.75  1.00      1        0.90       1.0
    """
    return calibration_table(match_probabilities(probabilities, truth), bins)


@checked
def expected_calibration_error(
    probabilities: pd.DataFrame, truth: Labels, *, bins: int = BINS
) -> float:
    """Give the expected calibration error: the mean gap of confidence and accuracy over items.

    The sum over the bins of :func:`reliability` of items / all items * ``|accuracy - confidence|``.
    It depends on the bins, and few items make it larger than it is: compare models on the same
    items and bins.

    Parameters
    ----------
    probabilities, truth, bins
        As for :func:`reliability`.

    Examples
    --------
    >>> p = pd.DataFrame({"no": [0.1, 0.3, 0.6], "yes": [0.9, 0.7, 0.4]}, index=["q1", "q2", "q3"])
    >>> round(expected_calibration_error(p, {"q1": "yes", "q2": "no", "q3": "no"}), 3)
    0.4
    """
    return mean_gap(reliability(probabilities, truth, bins=bins))


def calibration_table(matched: Matched, bins: int) -> pd.DataFrame:
    """Give the table of :func:`reliability` for items that are matched already."""
    if not 1 <= bins <= MOST_BINS:
        raise DataError(
            f"bins must be between 1 and {MOST_BINS:,}, got {quoted(bins)}", argument="bins"
        )
    assert matched.probability is not None
    confidence = matched.probability.max(axis=1, initial=0)
    edges = np.linspace(0, 1, bins + 1)
    which = np.digitize(confidence, edges[1:-1], right=True)
    items = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        mean_confidence = np.bincount(which, weights=confidence, minlength=bins) / items
        mean_hit = np.bincount(which, weights=matched.hit, minlength=bins) / items
    return pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "items": items,
            "confidence": mean_confidence,
            "accuracy": mean_hit,
        }
    )


def equal_counts(
    confidence: NDArray[np.float64], right: NDArray[np.float64], bins: int = BINS, least: int = 20
) -> pd.DataFrame:
    """Set confidence beside accuracy in at most so many bins with about as many items each.

    Bins have ``least`` items at least; items that are equally sure share one. ``low`` and ``high``
    are those of the items in the bin.
    """
    order = np.argsort(confidence, kind="stable")
    sure, hit = confidence[order], np.asarray(right, np.float64)[order]
    n = len(sure)
    many = int(np.clip(n // max(least, 1), 1, bins))
    ends = np.searchsorted(sure, sure[(np.arange(1, many) * n) // many], side="left")
    starts = np.unique(np.concatenate([[0], ends]))
    parts = [slice(a, b) for a, b in zip(starts, [*starts[1:], n], strict=True)]
    return pd.DataFrame(
        {
            "low": [sure[part][0] for part in parts],
            "high": [sure[part][-1] for part in parts],
            "items": [len(sure[part]) for part in parts],
            "confidence": [sure[part].mean() for part in parts],
            "accuracy": [hit[part].mean() for part in parts],
        }
    )


def mean_gap(table: pd.DataFrame) -> float:
    """Give the expected calibration error of a table of :func:`reliability`; NaN without items."""
    table = table[table["items"] > 0]
    if table.empty:
        return np.nan
    gap = (table["accuracy"] - table["confidence"]).abs()
    return float((gap * table["items"]).sum() / table["items"].sum())


def pool_tables(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put tables of :func:`reliability` with the same bins together, each counting the same.

    Data sets differ in size; what a probability means on the next one, they say equally well.
    """
    items = np.array([table["items"] for table in tables])
    weights = items / items.sum(axis=1, keepdims=True) / len(tables)
    total = weights.sum(axis=0)
    columns = {}
    with np.errstate(invalid="ignore"):
        for name in ("confidence", "accuracy"):
            values = np.array([table[name].fillna(0) for table in tables])
            columns[name] = (weights * values).sum(axis=0) / total
    counts = {"items": items.sum(axis=0), "weight": total}
    return tables[0][["low", "high"]].assign(**counts, **columns)


def pooled_gap(table: pd.DataFrame) -> float:
    """Give the expected calibration error of a table of :func:`pool_tables`."""
    return float((table["weight"] * (table["accuracy"] - table["confidence"]).abs()).sum())


def chance_interval(table: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give Jeffreys' 95 % interval of the share that is right, for bins that are not empty."""
    from scipy.stats import beta

    items, share = table["items"].to_numpy(), table["accuracy"].to_numpy()
    right, wrong = items * share, items * (1 - share)
    low, high = (beta.ppf(q, right + 0.5, wrong + 0.5) for q in INTERVAL)
    # Nothing right, or nothing wrong, is no evidence against none, or all, being so.
    return np.where(right > 0, low, 0.0), np.where(wrong > 0, high, 1.0)


def informativeness(confusion: ArrayLike) -> NDArray[np.float64]:
    """Measure how far confusion matrices are from those of a spammer, 0 to 1.

    A spammer's rows are all equal: the matrix has rank one. With psi[t] the row of true class t
    and T classes, this is the squared distance to the nearest matrix of equal rows, divided by its
    largest value (Raykar and Yu, 2012, Journal of Machine Learning Research 13)::

        sum over t of |psi[t] - mean row|^2 / (T - 1)
            = sum over pairs t < t' of |psi[t] - psi[t']|^2 / (T (T - 1))

    It is 0 if and only if the answers carry no information on the truth, and 1 if and only if
    every class has one answer of its own: always right, or wrong in a way that can be undone.
    For two classes it is (sensitivity + specificity - 1)^2. Classes count alike, however rare.

    Parameters
    ----------
    confusion
        Matrices of shape (..., classes, answers); the rows are the true classes and sum to one.

    Returns
    -------
    array
        One number per matrix, shape (...).

    Examples
    --------
    >>> inverted = [[0, 1], [1, 0]]
    >>> spammer = [[0.2, 0.8], [0.2, 0.8]]
    >>> novice = [[0.7, 0.3], [0.3, 0.7]]
    >>> informativeness([inverted, spammer, novice]).round(2).tolist()
    [1.0, 0.0, 0.16]
    """
    try:
        matrix = np.asarray(confusion, np.float64)
    except (TypeError, ValueError, ArithmeticError):
        raise DataError(
            f"informativeness takes matrices, not {quoted(confusion)}", argument="confusion"
        ) from None
    if matrix.ndim < 2 or matrix.shape[-2] < 2:
        raise DataError(
            "informativeness needs matrices of shape (..., classes, answers) with at least "
            f"2 classes, got shape {matrix.shape}",
            argument="confusion",
        )
    sums = matrix.sum(axis=-1)
    if not np.allclose(sums, 1, atol=1e-3):
        raise DataError(
            "informativeness needs rows that sum to one (true classes in rows, answers in columns),"
            f" got a sum of {sums.flat[np.argmax(np.abs(sums - 1))]:.3g}",
            argument="confusion",
        )
    away = matrix - matrix.mean(axis=-2, keepdims=True)
    return np.asarray((away**2).sum(axis=(-2, -1)) / (matrix.shape[-2] - 1))
