"""Does a probability of 0.8 mean right in 80 of 100?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from coterie.errors import DataError
from coterie.metrics.matching import Labels, match_probabilities


def reliability(probabilities: pd.DataFrame, truth: Labels, *, bins: int = 10) -> pd.DataFrame:
    """Set how sure the labels are beside how often they are right, one row a bin.

    An item's confidence is the probability of its best class. Bins are of equal width between 0
    and 1 and hold their upper edge. An item whose best classes tie is right by its share, as in
    :func:`coterie.metrics.accuracy`.

    Parameters
    ----------
    probabilities
        DataFrame: index item, one column a class; rows sum to one.
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
    if bins < 1:
        raise DataError(f"bins must be at least 1, got {bins}")
    matched = match_probabilities(probabilities, truth)
    assert matched.probability is not None
    confidence = matched.probability.max(axis=1)
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


def expected_calibration_error(
    probabilities: pd.DataFrame, truth: Labels, *, bins: int = 10
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
    table = reliability(probabilities, truth, bins=bins)
    table = table[table["items"] > 0]
    gap = (table["accuracy"] - table["confidence"]).abs()
    return float((gap * table["items"]).sum() / table["items"].sum())
