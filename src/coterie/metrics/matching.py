"""Put predictions and truth side by side, matched by the items' ids."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import DataError, DataWarning

Labels = pd.Series | Mapping[Any, Any]
Predictions = pd.Series | Mapping[Any, Any] | pd.DataFrame

# Probabilities this close to the largest are as large: sums of floats in another order.
TIE = 1e-9


class Matched(NamedTuple):
    """The items that have a prediction and a truth.

    Each item has one best class, or several that tie and share the item evenly.
    """

    classes: list[Any]
    truth: NDArray[np.int64]  # (items,)         code of the true class
    item: NDArray[np.int64]  # (best,)           item of each best class
    best: NDArray[np.int64]  # (best,)           code of the class
    share: NDArray[np.float64]  # (best,)        one over the number that tie
    probability: NDArray[np.float64] | None  # (items, classes); None if labels were given

    @property
    def hit(self) -> NDArray[np.float64]:
        """The share of each item that is right, shape (items,)."""
        right = self.share * (self.best == self.truth[self.item])
        hit = np.bincount(self.item, weights=right, minlength=len(self.truth))
        return hit.astype(np.float64, copy=False)  # numpy's stubs overlook the weights


def match(predictions: Predictions, truth: Labels) -> Matched:
    """Match by item: items without a truth are left out, and so are truths without an item.

    A warning is given if fewer than half of the smaller side find their match: the ids are then
    likely to be written in two ways.

    Parameters
    ----------
    predictions
        Labels (Series or dict, item -> label), or probabilities (DataFrame: index item, one column
        a class).
    truth
        Series or dict, item -> label. A missing value is an item without a truth.

    Examples
    --------
    >>> matched = match({"q1": "yes", "q2": "no", "q3": "no"}, {"q2": "yes", "q1": "yes"})
    >>> matched.classes, matched.truth.tolist(), matched.hit.tolist()
    (['no', 'yes'], [1, 1], [1.0, 0.0])
    """
    known = _series(truth, "truth").dropna()
    if isinstance(predictions, pd.DataFrame):
        _check_items(predictions.index, known.index)
        frame = predictions[predictions.index.isin(known.index)]
        return _match_probabilities(frame, known.loc[frame.index])
    labels = _series(predictions, "predictions")
    _check_items(labels.index, known.index)
    labels = labels[labels.index.isin(known.index)]
    return _match_labels(labels, known.loc[labels.index])


def match_probabilities(probabilities: pd.DataFrame, truth: Labels) -> Matched:
    """Match by item, and insist on probabilities."""
    if not isinstance(probabilities, pd.DataFrame):
        raise DataError(
            "this score needs probabilities: a DataFrame, index item, one column a class, got "
            f"{type(probabilities).__name__}; a model gives them by predict_proba()"
        )
    return match(probabilities, truth)


def first_of(index: pd.Index) -> Any:
    """Give the first id as Python writes it, not as ``np.int64(7)``."""
    return index[:1].tolist()[0]


def _series(labels: Labels, what: str) -> pd.Series:
    if isinstance(labels, pd.Series):
        return labels
    if isinstance(labels, Mapping):
        index = pd.Index(list(labels), tupleize_cols=False)
        return pd.Series(list(labels.values()), index, dtype=object)
    raise DataError(
        f"{what} must be a Series or a dict, item -> label, got {type(labels).__name__}"
    )


def _check_items(predicted: pd.Index, known: pd.Index) -> None:
    for index, what in ((predicted, "predictions"), (known, "truth")):
        if not index.is_unique:
            twice = first_of(index[index.duplicated()])
            raise DataError(f"item {twice!r} is twice in the {what}; keep one row an item")
        if len(index) == 0:
            raise DataError(f"there is no item in the {what}")
    n_both = int(predicted.isin(known).sum())
    fewer = min(len(predicted), len(known))
    if n_both == 0:
        raise DataError(
            "no item has both a prediction and a truth: predictions are of "
            f"{first_of(predicted)!r}, ..., the truth is of {first_of(known)!r}, ...; "
            "write the ids the same way (also text or number)"
        )
    if 2 * n_both < fewer:
        warnings.warn(
            f"only {n_both:,} items have both a prediction ({len(predicted):,} items) and a truth "
            f"({len(known):,} items); are all ids written the same way?",
            DataWarning,
            stacklevel=4,
        )


def _match_labels(labels: pd.Series, known: pd.Series) -> Matched:
    if labels.isna().any():
        item = first_of(labels.index[labels.isna()])
        raise DataError(f"item {item!r} has no predicted label; drop it, or predict it")
    said, true = set(labels), set(known)
    if said.isdisjoint(true) and {*map(str, said)} & {*map(str, true)}:
        raise DataError(
            f"predicted labels such as {next(iter(said))!r} and true labels such as "
            f"{next(iter(true))!r} are of different types; convert one of them"
        )
    classes = _in_order(said | true)
    n_items = len(known)
    return Matched(
        classes,
        _encode(known, classes),
        np.arange(n_items),
        _encode(labels, classes),
        np.ones(n_items),
        None,
    )


def _match_probabilities(frame: pd.DataFrame, known: pd.Series) -> Matched:
    classes = frame.columns.tolist()
    if not frame.columns.is_unique:
        raise DataError(f"probabilities need one column a class, got the columns {classes}")
    probability = _check_probabilities(frame)
    codes = _encode(known, classes)
    if (codes < 0).any():
        label = known.tolist()[int(np.argmax(codes < 0))]
        raise DataError(
            f"the true label {label!r} is not one of the classes {classes} that have a column; "
            "write it the same way (also text or number), or fit with classes=..."
        )
    top = probability >= probability.max(axis=1, keepdims=True) - TIE
    item, best = np.nonzero(top)
    return Matched(classes, codes, item, best, 1 / top.sum(axis=1)[item], probability)


def _check_probabilities(frame: pd.DataFrame) -> NDArray[np.float64]:
    try:
        probability = frame.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "probabilities must be numbers: a DataFrame, index item, one column a class"
        ) from error
    bad = ~((probability >= 0).all(axis=1) & (np.abs(probability.sum(axis=1) - 1) < 1e-6))
    if bad.any():
        item = first_of(frame.index[bad])
        raise DataError(
            f"the probabilities of item {item!r} must be at least 0 and sum to 1, got "
            f"{probability[bad][0].tolist()}"
        )
    return probability


def _encode(labels: pd.Series, classes: list[Any]) -> NDArray[np.int64]:
    code = {label: t for t, label in enumerate(classes)}
    return np.array([code.get(label, -1) for label in labels.tolist()], np.int64)


def _in_order(labels: set[Any]) -> list[Any]:
    """Numbers by size, else sorted as text."""
    numbers = all(isinstance(label, int | float) for label in labels)
    return sorted(labels, key=None if numbers else str)
