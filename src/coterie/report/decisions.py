"""What to do next, on the page: the forecast, the people, the next tasks."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from coterie.assign.plan import make_plan
from coterie.posterior import Posterior
from coterie.report.charts import HEIGHT, WIDTH
from coterie.words.names import name

Facts = dict[str, Any]

MOST_TASKS, MOST_PEOPLE = 20, 20
MOST_TICKS = 7
SHOWN = {"information": "chosen as above", "random": "at random"}
"""Policies, in the words of the page."""


def next_facts(posterior: Posterior, budget: float) -> Facts:
    """Give what to do next with a budget: sentences, the curve, tasks and people."""
    plan = make_plan(posterior, budget)
    people = plan.people.sort_values("bits", ascending=False, kind="stable")
    return {
        "lines": plan.lines,
        "curve": curve_facts(plan.forecast.curve, plan.forecast.target),
        "tasks": [
            {
                "item": name(row["item"]),
                "annotator": name(row["annotator"]),
                "information": float(row["information"]),
                "why": row["why"],
            }
            for row in plan.tasks.head(MOST_TASKS).to_dict("records")
        ],
        "n_tasks": len(plan.tasks),
        "people": [
            {
                "annotator": name(row["annotator"]),
                "labels": int(row["n_labels"]),
                "bits": float(row["bits"]),
                "action": row.get("action", ""),
                "why": row.get("why", ""),
            }
            for row in people.head(MOST_PEOPLE).to_dict("records")
        ],
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

    def down(accuracy: float) -> float:
        return HEIGHT - (accuracy - low) / span * HEIGHT

    def place(labels: float, accuracy: float) -> str:
        return f"{labels / most * WIDTH:.4g},{down(accuracy):.4g}"

    lines = []
    for policy in dict.fromkeys(curve["policy"]):
        rows = curve[curve["policy"] == policy].to_dict("records")
        upper = [place(row["labels"], row["accuracy_high"]) for row in rows]
        lower = [place(row["labels"], row["accuracy_low"]) for row in rows]
        lines.append(
            {
                "policy": SHOWN.get(policy, policy),
                "points": " ".join(place(row["labels"], row["accuracy"]) for row in rows),
                "band": " ".join([*upper, *lower[::-1]]),
                "first": rows[0]["accuracy"],
                "last": rows[-1]["accuracy"],
            }
        )
    return {
        "lines": lines,
        "ticks": [{"share": tick, "down": f"{down(tick):.4g}"} for tick in ticks[::-1]],
        "target": None if target is None else {"share": target, "down": f"{down(target):.4g}"},
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
