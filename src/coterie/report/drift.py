"""What the page says of change: who changed, from which accuracy to which."""

from __future__ import annotations

from typing import Any

import pandas as pd

from coterie.posterior import Posterior
from coterie.words.names import name

MOST_ROWS = 20
CHANGED = 0.9
"""Probability from which on somebody is said to have changed."""

Facts = dict[str, Any]


def drift_facts(posterior: Posterior) -> Facts | None:
    """List those likeliest to have changed; None where the model does not know of time."""
    if posterior.drawn("accuracy_at") is None:
        return None
    table = posterior.drift()
    rows: list[Any] = table.head(MOST_ROWS).to_dict("records")
    return {
        "n": int((table["changed"] >= CHANGED).sum()),
        "of": len(table),
        "rows": [
            row
            | {
                "annotator": name(row["annotator"]),
                "after": None if pd.isna(row["after"]) else int(row["after"]),
            }
            for row in rows
        ],
    }
