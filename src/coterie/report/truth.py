"""What the page says of a result whose truth is known: accuracy, calibration, confusion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coterie.io.read import read_truth
from coterie.metrics.scores import chance_interval, equal_counts
from coterie.models.majority import Scored, score_beside_vote
from coterie.posterior import Posterior
from coterie.report.annotator_kinds import SURELY
from coterie.report.matrix import MOST_CLASSES, REST, room_of
from coterie.report.people import records
from coterie.words.names import name

OVERCONFIDENT, MODEST, FAIR = "overconfident", "too modest", "about right"

SLIGHT = 0.01
"""A gap between certainty and accuracy that is not worth a word."""

ROUGH = 0.05
"""A margin of error beyond which the items are too few to call certainty about right."""

Facts = dict[str, Any]


def truth_facts(posterior: Posterior, truth: Any) -> Facts | None:
    """Score the labels and their probabilities, known items left out; None if no other is left.

    Parameters
    ----------
    posterior
        The result.
    truth
        A file, frame, Series or mapping of items and true labels, where blanks are unknown; or
        what it says already, :class:`coterie.models.majority.Scored`.
    """
    if not isinstance(truth, Scored):
        truth = score_beside_vote(posterior, read_truth(truth, posterior.annotations))
    score, vote = truth
    if not score.items:
        return None
    bins = equal_counts(score.confidence.to_numpy(), score.right.to_numpy())
    calibrated = calibration(bins)
    return {
        "n": score.items,
        **score.numbers(),
        "vote_accuracy": vote.accuracy,
        **calibrated,
        "judged": judge(calibrated["mean_confidence"], score.accuracy, score.items),
        "confusion": confusion(score.confusion),
    }


def calibration(table: pd.DataFrame) -> Facts:
    """Set confidence beside accuracy, with the interval that so few items leave (Jeffreys)."""
    table = table[table["items"] > 0]
    low, high = chance_interval(table)
    bins = table.rename(columns={"low": "from", "high": "to"}).assign(low=low, high=high)
    confidence = float(np.average(table["confidence"], weights=table["items"]))
    return {"bins": records(bins), "mean_confidence": confidence}


def judge(confidence: float, accuracy: float, n: int) -> str | None:
    """Judge how sure labels are by how many are right; None if the items are too few for that.

    A difference counts if it is more than chance (3 s.e.) and more than slight.

    Examples
    --------
    >>> judge(0.99, 0.89, 108), judge(0.7, 0.9, 108), judge(0.9, 0.91, 1_000), judge(0.6, 1.0, 1)
    ('overconfident', 'too modest', 'about right', None)
    """
    # However certain labels are, an item or two may be wrong by chance: at least 1.5 of n.
    margin = SURELY * (max(confidence * (1 - confidence), 0.25 / n) / n) ** 0.5
    if abs(confidence - accuracy) > max(margin, SLIGHT):
        return OVERCONFIDENT if confidence > accuracy else MODEST
    return FAIR if margin <= ROUGH else None


def confusion(table: pd.DataFrame) -> Facts:
    """Show the items by truth and label; of many classes, the commonest truths."""
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
    written = [[some(n) for n in row] for row in matrix.tolist()]
    longest = max((word for row in written for word in row), key=len, default="")
    return {
        "rows": rows,
        "columns": columns,
        "room": room_of(rows, columns, longest),
        "counts": written,
        "share": share.tolist(),
        "left_out": len(table) - len(shown),
    }


def some(n: float) -> str:
    """Write a number of items, of which ties may have left a part.

    Examples
    --------
    >>> some(1200.0), some(1.5), some(0.33333)
    ('1,200', '1.5', '0.3')
    """
    return f"{n:,.1f}".removesuffix(".0")
