"""What the page says of a result whose truth is known, and of what to do next with a budget."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from coterie.assign.plan import make_plan
from coterie.io import read_truth
from coterie.metrics.scores import chance_interval, equal_counts
from coterie.models.majority import Scored, score_beside_vote
from coterie.posterior import Posterior
from coterie.report.chains import HEIGHT, WIDTH
from coterie.report.people import MOST_CLASSES, REST, records, room_of
from coterie.report.verdict import SURELY
from coterie.words.names import name

SLIGHT = 0.01
"""A gap between certainty and accuracy that is not worth a word."""
ROUGH = 0.05
"""A margin of error beyond which the items are too few to call certainty about right."""
MOST_ROWS = 20
MOST_TICKS = 7
SHOWN = {"information": "chosen as above", "random": "at random"}
"""Policies, in the words of the page."""

Facts = dict[str, Any]


def truth_facts(posterior: Posterior, truth: Any) -> Facts | None:
    """Score the labels and their probabilities, known items left out; None if no other is left.

    ``truth`` is a file, frame, Series or mapping of items and true labels, where blanks are
    unknown; or what it says already, :class:`coterie.models.majority.Scored`.
    """
    if not isinstance(truth, Scored):
        truth = score_beside_vote(posterior, read_truth(truth, posterior.annotations))
    score, vote = truth
    if not score.items:
        return None
    bins = equal_counts(score.confidence.to_numpy(), score.right.to_numpy())
    bins = bins[bins["items"] > 0]
    low, high = chance_interval(bins)
    confidence = float(np.average(bins["confidence"], weights=bins["items"]))
    named = bins.rename(columns={"low": "from", "high": "to"}).assign(low=low, high=high)
    return {
        "n": score.items,
        **score.numbers(),
        "vote_accuracy": vote.accuracy,
        "bins": records(named),
        "mean_confidence": confidence,
        "judged": judge(confidence, score.accuracy, score.items),
        "confusion": _confusion(score.confusion),
    }


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
        return "overconfident" if confidence > accuracy else "too modest"
    return "about right" if margin <= ROUGH else None


def _confusion(table: pd.DataFrame) -> Facts:
    """Show the items by truth and label; of many classes, the commonest truths."""
    common = table.sum(axis=1).to_numpy().argsort(kind="stable")[::-1][:MOST_CLASSES]
    shown = np.sort(common)
    counts = table.to_numpy()[shown]
    columns = [name(word) for word in table.columns[shown].tolist()]
    matrix, total = counts[:, shown], counts.sum(axis=1, keepdims=True)
    if len(shown) < len(table):
        matrix = np.column_stack([matrix, total[:, 0] - matrix.sum(axis=1)])
        columns.append(REST)
    rows = [name(word) for word in table.index[shown].tolist()]
    # Numbers of items, of which ties may have left a part.
    written = [[f"{n:,.1f}".removesuffix(".0") for n in row] for row in matrix.tolist()]
    longest = max((word for row in written for word in row), key=len, default="")
    return {
        "rows": rows,
        "columns": columns,
        "room": room_of(rows, columns, longest),
        "counts": written,
        "share": (matrix / np.maximum(total, 1)).tolist(),
        "left_out": len(table) - len(shown),
    }


def next_facts(posterior: Posterior, budget: float) -> Facts:
    """Give what to do next with a budget: sentences, the curve, tasks and people."""
    plan = make_plan(posterior, budget)
    people = plan.people.sort_values("bits", ascending=False, kind="stable")
    tasks = records(plan.tasks.head(MOST_ROWS))
    return {
        "lines": plan.lines,
        "curve": curve_facts(plan.forecast.curve, plan.forecast.target),
        "tasks": [{**row, "item": name(row["item"])} for row in tasks],
        "n_tasks": len(plan.tasks),
        "people": records(people.head(MOST_ROWS)),
        "n_people": len(people),
        "acts": "action" in people,
    }


def curve_facts(curve: pd.DataFrame, target: float | None) -> Facts:
    """Place the curve of the forecast: a line and a band per policy, and what is wanted."""
    most = max(float(curve["labels"].max()), 1.0)
    wanted = [] if target is None else [target]
    ticks = ticks_between(
        min(float(curve["accuracy_low"].min()), *wanted, 1.0),
        max(float(curve["accuracy_high"].max()), *wanted, 0.0),
    )
    low, span = ticks[0], ticks[-1] - ticks[0]

    def down(accuracy: float) -> str:
        return f"{HEIGHT - (accuracy - low) / span * HEIGHT:.4g}"

    def places(rows: pd.DataFrame, column: str) -> list[str]:
        pairs = rows[["labels", column]].to_numpy(float).tolist()
        return [f"{labels / most * WIDTH:.4g},{down(accuracy)}" for labels, accuracy in pairs]

    return {
        "lines": [
            {
                "policy": SHOWN[str(policy)],
                "points": " ".join(places(rows, "accuracy")),
                "band": " ".join(
                    places(rows, "accuracy_high") + places(rows, "accuracy_low")[::-1]
                ),
                "first": rows["accuracy"].iloc[0],
                "last": rows["accuracy"].iloc[-1],
            }
            for policy, rows in curve.groupby("policy", sort=False)
        ],
        "ticks": [{"share": tick, "down": down(tick)} for tick in ticks[::-1]],
        "target": None if target is None else {"share": target, "down": down(target)},
        "labels": int(curve["labels"].max()),
    }


def ticks_between(low: float, high: float) -> list[float]:
    """Give even shares that span two, at most seven of them.

    Examples
    --------
    >>> ticks_between(0.44, 0.975)
    [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> ticks_between(0.93, 0.93)
    [0.9, 1.0]
    >>> ticks_between(0.02, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    for tenth in (1, 2):
        first = math.floor(low * 10 / tenth + 1e-9) * tenth
        last = max(math.ceil(high * 10 / tenth - 1e-9) * tenth, first + tenth)
        ticks = [k / 10 for k in range(first, last + 1, tenth)]
        if len(ticks) <= MOST_TICKS:
            break
    return ticks
