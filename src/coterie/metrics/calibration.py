"""Does a probability of 0.8 mean right in 80 of 100?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.arguments import checked
from coterie.errors import DataError
from coterie.metrics.matching import Labels, Matched, match_probabilities
from coterie.words.visible import quoted

BINS = 10
INTERVAL = (0.025, 0.975)

MOST_BINS = 10_000


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
    """Set confidence beside accuracy in bins that hold about as many items each.

    Parameters
    ----------
    confidence, right
        How sure the label of each item is, and how far it is right, shape (items,).
    bins, least
        How many bins at most, and items of each at least. Items that are equally sure share a bin.

    Returns
    -------
    DataFrame
        As :func:`reliability`; low and high are those of the items in the bin.

    Examples
    --------
    >>> sure = np.array([0.6, 0.7, 0.9, 0.9, 0.9, 1.0])
    >>> equal_counts(sure, sure > 0.65, least=2)
       low  high  items  confidence  accuracy
    0  0.6   0.7      2       0.650       0.5
    1  0.9   1.0      4       0.925       1.0
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

    Parameters
    ----------
    tables
        One per data set, each with items.

    Returns
    -------
    DataFrame
        Columns low, high, items (their sum), weight (sums to one), confidence and accuracy.

    Examples
    --------
    >>> few, many = (
    ...     pd.DataFrame({"low": [0.0], "high": [1.0], "items": [n], "confidence": [0.8],
    ...                   "accuracy": [share]}) for n, share in ((10, 1.0), (990, 0.7)))
    >>> pool_tables([few, many])
       low  high  items  weight  confidence  accuracy
    0  0.0   1.0   1000     1.0         0.8      0.85
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
    """Give Jeffreys' 95 % interval of the share that is right, bin by bin.

    Parameters
    ----------
    table
        As :func:`reliability` gives it, without empty bins.

    Examples
    --------
    >>> low, high = chance_interval(pd.DataFrame({"items": [4, 4], "accuracy": [0.5, 1.0]}))
    >>> low.round(2), high.round(2)
    (array([0.12, 0.56]), array([0.88, 1.  ]))
    """
    from scipy.stats import beta

    items, share = table["items"].to_numpy(), table["accuracy"].to_numpy()
    right, wrong = items * share, items * (1 - share)
    low, high = (beta.ppf(q, right + 0.5, wrong + 0.5) for q in INTERVAL)
    # Nothing right, or nothing wrong, is no evidence against none, or all, being so.
    return np.where(right > 0, low, 0.0), np.where(wrong > 0, high, 1.0)
