"""Effective draws of class totals, or of other numbers that a chain notes."""

from __future__ import annotations

import numpy as np


def effective(totals: np.ndarray) -> float:
    """Bulk effective draws of the column that has fewest; totals of shape (draws, T) or (draws,).

    One that never moves has none.
    """
    from arviz_stats.base import array_stats

    columns = np.asarray(totals, float).reshape(len(totals), -1).T
    if not np.ptp(columns, axis=1).all():
        return 0.0
    return min(float(array_stats.ess(column[None], method="bulk")) for column in columns)
