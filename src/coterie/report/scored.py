"""What the page says of a result whose truth is known: accuracy, calibration, confusion."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.stats import beta

from coterie import metrics
from coterie.io import read_truth
from coterie.models import MajorityVote
from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.report.kinds import SURELY
from coterie.report.matrix import MOST_CLASSES, REST, room_of
from coterie.report.people import records
from coterie.words.names import name

OVERCONFIDENT, MODEST, FAIR = "overconfident", "too modest", "about right"

SLIGHT = 0.01
"""A gap between certainty and accuracy that is not worth a word."""

ROUGH = 0.05
"""A margin of error beyond which the items are too few to call certainty about right."""

Facts = dict[str, Any]
Table = TypeVar("Table", pd.Series, pd.DataFrame)


def truth_facts(posterior: Posterior, truth: Any) -> Facts | None:
    """Score the labels and their probabilities, known items left out; None if no other is left.

    Parameters
    ----------
    posterior
        The result.
    truth
        A file, frame, Series or mapping of items and true labels; blanks are unknown.
    """
    known = _plain(read_truth(truth, posterior.annotations))
    given = known.index.isin(list(posterior.annotations.gold))
    known = known[~given]
    if known.empty:
        return None
    labels = _plain(posterior.labels().set_index("item")["label"])
    probabilities = _plain(posterior.probabilities())
    n = int(probabilities.index.isin(known.index).sum())
    calibrated = calibration(probabilities, known)
    vote = _plain(MajorityVote(duplicates="keep").fit(posterior.annotations).predict())
    return {
        "n": n,
        "n_gold": int(given.sum()),
        "accuracy": metrics.accuracy(labels, known),
        "vote_accuracy": metrics.accuracy(vote, known),
        "balanced_accuracy": metrics.balanced_accuracy(labels, known),
        "log_loss": metrics.log_loss(probabilities, known),
        "calibration_error": metrics.expected_calibration_error(probabilities, known),
        **calibrated,
        "judged": judge(calibrated["mean_confidence"], calibrated["mean_accuracy"], n),
        "confusion": confusion(labels, known),
    }


def _plain(table: Table) -> Table:
    """Give the same with ids as Python's own objects: pandas matches text of Arrow slowly."""
    return table.set_axis(table.index.astype(object), axis=0)


def calibration(probabilities: pd.DataFrame, truth: pd.Series[Any]) -> Facts:
    """Set confidence beside accuracy, with the interval that so few items leave (Jeffreys)."""
    table = metrics.reliability(probabilities, truth)
    table = table[table["items"] > 0]
    items, right = table["items"], table["items"] * table["accuracy"]
    low, high = (np.asarray(beta.ppf(end, right + 0.5, items - right + 0.5)) for end in INTERVAL)
    low, high = np.where(right == 0, 0.0, low), np.where(right == items, 1.0, high)
    table = table.rename(columns={"low": "from", "high": "to"}).assign(low=low, high=high)
    return {
        "bins": records(table),
        "mean_confidence": float(np.average(table["confidence"], weights=items)),
        "mean_accuracy": float(np.average(table["accuracy"], weights=items)),
    }


def judge(confidence: float, accuracy: float, n: int) -> str | None:
    """Judge how sure labels are by how many are right; None if the items are too few for that.

    A difference counts if it is more than chance (3 s.e.) and more than slight.

    Examples
    --------
    >>> judge(0.99, 0.89, 108), judge(0.7, 0.9, 108), judge(0.9, 0.91, 1_000), judge(0.6, 1.0, 1)
    ('overconfident', 'too modest', 'about right', None)
    """
    margin = SURELY * (max(confidence * (1 - confidence), 0.25 / n) / n) ** 0.5
    if abs(confidence - accuracy) > max(margin, SLIGHT):
        return OVERCONFIDENT if confidence > accuracy else MODEST
    return FAIR if margin <= ROUGH else None


def confusion(labels: pd.Series[Any], truth: pd.Series[Any]) -> Facts:
    """Count items by truth and label; of many classes, the commonest truths."""
    table = metrics.confusion(labels, truth)
    common = table.sum(axis=1).to_numpy().argsort(kind="stable")[::-1][:MOST_CLASSES]
    shown = np.sort(common)
    counts = table.to_numpy()[shown]
    columns = [name(word) for word in table.columns[shown].tolist()]
    matrix = counts[:, shown]
    others = counts.sum(axis=1) - matrix.sum(axis=1)
    if len(shown) < len(table):
        matrix = np.column_stack([matrix, others])
        columns.append(REST)
    share = matrix / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = [name(word) for word in table.index[shown].tolist()]
    return {
        "rows": rows,
        "columns": columns,
        "room": room_of(rows, columns, f"{matrix.max():,}"),
        "counts": matrix.tolist(),
        "share": share.tolist(),
        "left_out": len(table) - len(shown),
    }
