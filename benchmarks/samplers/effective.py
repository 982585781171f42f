"""Effective draws of the class totals."""

from __future__ import annotations

import numpy as np


def effective(totals: np.ndarray) -> float:
    """Bulk effective draws of the class that has fewest; totals of shape (draws, T)."""
    from arviz_stats.base import array_stats

    each = [array_stats.ess(column[None].astype(float), method="bulk") for column in totals.T]
    return float(min(each))
