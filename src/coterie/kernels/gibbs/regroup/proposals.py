"""How many splits and merges a sweep proposes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PER_PROPOSAL, FITS, MOST = 16, 200, 8
"""Labels per annotator for which a sweep proposes once more; annotators that fits cost as much as;
proposals at most."""


def proposals_for(labels: NDArray[np.int64]) -> int:
    """Give how many splits or merges are proposed in a sweep, by everybody's number of labels.

    A sweep reads every label, a proposal the members of a coterie; its fits cost as much as more.

    Examples
    --------
    >>> proposals_for(np.array([20, 0, 30])), proposals_for(np.full(800, 110))
    (1, 5)
    """
    people = int((labels > 0).sum()) + FITS
    return min(max(int(labels.sum()) // (PER_PROPOSAL * people), 1), MOST)
