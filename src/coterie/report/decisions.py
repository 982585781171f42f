"""What to do next, on the page: the forecast, the people, the next tasks."""

from __future__ import annotations

from typing import Any

import pandas as pd

from coterie.assign.plan import make_plan
from coterie.posterior import Posterior
from coterie.report.charts import HEIGHT, WIDTH
from coterie.words.names import name

Facts = dict[str, Any]

MOST_TASKS, MOST_PEOPLE = 20, 20


def next_facts(posterior: Posterior, budget: float) -> Facts:
    """Give what to do next with a budget: sentences, the curve, tasks and people."""
    plan = make_plan(posterior, budget)
    people = plan.people.sort_values("bits", ascending=False, kind="stable")
    return {
        "lines": plan.lines,
        "curve": curve_facts(plan.forecast.curve),
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
    }


def curve_facts(curve: pd.DataFrame) -> Facts:
    """Place the curve of the forecast: a line and a band per policy."""
    most = max(float(curve["labels"].max()), 1.0)
    low, high = float(curve["accuracy_low"].min()), float(curve["accuracy_high"].max())
    span = max(high - low, 1e-9)

    def place(labels: float, accuracy: float) -> str:
        up = (accuracy - low) / span * (HEIGHT - 6)
        return f"{labels / most * WIDTH:.4g},{HEIGHT - 3 - up:.4g}"

    lines = []
    for policy in dict.fromkeys(curve["policy"]):
        rows = curve[curve["policy"] == policy].to_dict("records")
        upper = [place(row["labels"], row["accuracy_high"]) for row in rows]
        lower = [place(row["labels"], row["accuracy_low"]) for row in rows]
        lines.append(
            {
                "policy": policy,
                "points": " ".join(place(row["labels"], row["accuracy"]) for row in rows),
                "band": " ".join([*upper, *lower[::-1]]),
                "first": rows[0]["accuracy"],
                "last": rows[-1]["accuracy"],
            }
        )
    return {"lines": lines, "low": low, "high": high, "labels": int(most)}
