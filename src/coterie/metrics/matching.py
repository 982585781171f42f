"""Put predictions and truth side by side, matched by the items' ids."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.table import with_kinds
from coterie.errors import Argument, DataError, DataWarning

Labels = pd.Series | Mapping[Any, Any]
Predictions = pd.Series | Mapping[Any, Any] | pd.DataFrame
Ties = Literal["shared", "lowest"]
FloatArray = NDArray[np.float64]

# Probabilities this close to the largest are as large: sums of floats in another order.
TIE = 1e-9


class Matched(NamedTuple):
    """The items that have a prediction and a truth.

    Each item has one best class, or several that tie and share the item evenly. True labels that
    are not among the classes of the probabilities come after them, with probability zero.
    """

    items: pd.Index
    classes: list[Any]
    truth: NDArray[np.int64]  # (items,)         code of the true class
    item: NDArray[np.int64]  # (best,)           item of each best class
    best: NDArray[np.int64]  # (best,)           code of the class
    share: FloatArray  # (best,)        one over the number that tie
    probability: FloatArray | None  # (items, classes); None if labels were given

    @property
    def hit(self) -> FloatArray:
        """The share of each item that is right, shape (items,)."""
        right = self.share * (self.best == self.truth[self.item])
        hit = np.bincount(self.item, weights=right, minlength=len(self.truth))
        return hit.astype(np.float64, copy=False)  # numpy's stubs overlook the weights


def best_shares(weight: FloatArray, *, ties: Ties = "shared") -> FloatArray:
    """Give each item to its class of the highest weight: the rule of all who score.

    Weights are probabilities, or their logarithms less anything per item, shape (items, classes).
    Of k classes of the same weight each has 1/k, or the first has all.
    """
    top = weight >= weight.max(axis=1, keepdims=True) - TIE
    if ties == "lowest":
        top &= top.cumsum(axis=1) == 1
    return np.asarray(top / top.sum(axis=1, keepdims=True))


def right_shares(weight: FloatArray, truth: NDArray[np.int64]) -> FloatArray:
    """Give how far each item is right, 0 to 1; a true label beyond the classes is a miss."""
    is_class = truth < weight.shape[1]
    found = best_shares(weight)[np.arange(len(truth)), np.where(is_class, truth, 0)]
    return np.asarray(found * is_class)


def match(predictions: Predictions, truth: Labels, *, ties: Ties = "shared") -> Matched:
    """Match by item: items without a truth are left out, and so are truths without an item.

    A warning is given if fewer than half of the smaller side find their match: the ids are then
    likely to be written in two ways; and if true labels are not among the classes: such items are
    wrong, whatever is predicted. A missing true label is none.
    """
    known = known_series(truth)
    if isinstance(predictions, pd.DataFrame):
        frame = with_plain_ids(predictions)
        check_items(frame.index, known.index)
        frame = frame[frame.index.isin(known.index)]
        return match_rows(frame, known.loc[frame.index], ties=ties)
    labels = _series(predictions, "predictions")
    check_items(labels.index, known.index)
    labels = labels[labels.index.isin(known.index)]
    return _match_labels(labels, known.loc[labels.index])


def known_series(truth: Labels) -> pd.Series:
    """Give the true labels that are known as a Series, item -> label."""
    return _series(truth, "truth").dropna()


def with_plain_ids(table: pd.DataFrame) -> pd.DataFrame:
    """Give the same with ids as Python's own objects: pandas matches text of Arrow slowly."""
    return table.set_axis(table.index.astype(object), axis=0)


def match_probabilities(probabilities: pd.DataFrame, truth: Labels) -> Matched:
    """Match by item, and insist on probabilities."""
    insist_on_probabilities(probabilities)
    return match(probabilities, truth)


def insist_on_probabilities(given: object) -> None:
    """Say what probabilities are if these are none."""
    if not isinstance(given, pd.DataFrame):
        raise DataError(
            "this score needs probabilities: a DataFrame, index item, one column per class, got "
            f"{type(given).__name__}",
            argument="probabilities",
            remedy="a model gives them by predict_proba()",
        )


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
        f"{what} must be a Series or a dict, item -> label, got {type(labels).__name__}",
        argument="truth" if what == "truth" else "predictions",
    )


def check_items(predicted: pd.Index, known: pd.Index) -> None:
    """Insist that ids are unique and that some are in both; warn if few are."""
    for index, what in ((predicted, "predictions"), (known, "truth")):
        if not index.is_unique:
            twice = first_of(index[index.duplicated()])
            raise DataError(
                f"item {twice!r} is twice in the {what}",
                argument=what,
                remedy="keep one row per item",
            )
        if len(index) == 0:
            raise DataError(f"there is no item in the {what}", argument=what)
    n_both = int(predicted.isin(known).sum())
    if n_both == 0:
        raise DataError(
            "no item has both a prediction and a truth: predictions are of "
            f"{first_of(predicted)!r}, ..., the truth is of {first_of(known)!r}, ...",
            argument="truth",
            remedy="write the ids the same way (also text or number)",
        )
    warn_of_few(n_both, len(predicted), len(known))


def warn_of_few(n_both: int, n_predicted: int, n_known: int) -> None:
    """Warn if fewer than half of those with a prediction, or with a truth, have both."""
    if 2 * n_both < min(n_predicted, n_known):
        _warn(
            f"only {n_both:,} items have both a prediction ({n_predicted:,} items) and a truth "
            f"({n_known:,} items); are all ids written the same way?"
        )


def _warn(message: str) -> None:
    """Warn at the line that called the package, however deep inside it this is."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("coterie."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, DataWarning, stacklevel=level + 1)


def _match_labels(labels: pd.Series, known: pd.Series) -> Matched:
    if labels.isna().any():
        item = first_of(labels.index[labels.isna()])
        raise DataError(
            f"item {item!r} has no predicted label",
            argument="predictions",
            remedy="drop it, or predict it",
        )
    said, true = (dict(zip(with_kinds(x), x, strict=True)) for x in (labels, known))
    alike = {*map(str, said.values())} & {*map(str, true.values())}
    alike |= {*said.values()} & {*true.values()}  # True and 1
    if said.keys().isdisjoint(true) and alike:
        raise DataError(
            f"predicted labels such as {next(iter(said.values()))!r} and true labels such as "
            f"{next(iter(true.values()))!r} are of different types",
            argument="truth",
            remedy="convert one of them",
        )
    classes = _in_order({**said, **true}.values())
    n_items = len(known)
    return Matched(
        items=known.index,
        classes=classes,
        truth=_encode(known, classes),
        item=np.arange(n_items),
        best=_encode(labels, classes),
        share=np.ones(n_items),
        probability=None,
    )


def match_rows(frame: pd.DataFrame, known: pd.Series, *, ties: Ties) -> Matched:
    """Set probabilities beside the true labels of the same items in the same order."""
    if ties not in get_args(Ties):
        raise DataError(
            f"ties must be one of {list(get_args(Ties))}, got {ties!r}", argument="ties"
        )
    if not frame.columns.is_unique:
        columns = frame.columns.tolist()
        raise DataError(
            f"probabilities need one column per class, got the columns {columns}",
            argument="probabilities",
        )
    classes = _with_true_labels(frame.columns.tolist(), known)
    probability = np.zeros((len(frame), len(classes)))
    probability[:, : frame.shape[1]] = _check_probabilities(frame)
    share = best_shares(probability, ties=ties)
    item, best = np.nonzero(share)
    return Matched(
        items=frame.index,
        classes=classes,
        truth=_encode(known, classes),
        item=item,
        best=best,
        share=share[item, best],
        probability=probability,
    )


def _with_true_labels(classes: list[Any], known: pd.Series) -> list[Any]:
    """Give the classes, and after them the true labels that are not among them."""
    there, true = set(with_kinds(classes)), known.tolist()
    kinds = with_kinds(true)
    absent = {kind: label for kind, label in zip(kinds, true, strict=True) if kind not in there}
    if not absent:
        return classes
    first, n_absent = next(iter(absent.values())), sum(kind in absent for kind in kinds)
    if n_absent == len(known):
        raise DataError(
            f"the true label {first!r} is not one of the classes {classes} that have a column, "
            "nor is any other",
            argument="truth",
            remedy=[
                "write them the same way (also text or number), or fit with ",
                Argument("classes", several=True),
            ],
        )
    _warn(
        f"{n_absent:,} of {len(known):,} scored items have a true label that is not among the "
        f"classes, such as {first!r}; they count as wrong"
    )
    return [*classes, *absent.values()]


def _check_probabilities(frame: pd.DataFrame) -> FloatArray:
    try:
        probability = frame.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "probabilities must be numbers: a DataFrame, index item, one column per class",
            argument="probabilities",
        ) from error
    bad = ~((probability >= 0).all(axis=1) & (np.abs(probability.sum(axis=1) - 1) < 1e-6))
    if bad.any():
        item = first_of(frame.index[bad])
        raise DataError(
            f"the probabilities of item {item!r} must be at least 0 and sum to 1, got "
            f"{probability[bad][0].tolist()}",
            argument="probabilities",
        )
    return probability


def _encode(labels: pd.Series, classes: list[Any]) -> NDArray[np.int64]:
    code = {label: t for t, label in enumerate(with_kinds(classes))}
    return np.array([code.get(label, -1) for label in with_kinds(labels.tolist())], np.int64)


def _in_order(labels: Collection[Any]) -> list[Any]:
    """Numbers by size, else sorted as text."""
    numbers = all(isinstance(label, int | float) for label in labels)
    return sorted(labels, key=None if numbers else str)
