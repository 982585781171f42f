"""What the move reads and changes: the part of a state, and the prior of what coteries have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class Means(NamedTuple):
    """The prior of a coterie's beta and eta: eta[t] ~ Dir(d known[t] + (1 - d) guess[t]).

    d is one of some points. In hcBCC both are the same, and there is one point.
    """

    point: FloatArray  # (points,)            d
    log_share: FloatArray  # (points,)            log p(d)
    log_norm: FloatArray  # (points,)            log of the constant of p(eta | d), up to another
    known: FloatArray  # (answers, classes)
    guess: FloatArray  # (answers, classes)
    shape: FloatArray  # (strengths,)         of beta, one for each class or one for all
    rate: FloatArray  # (strengths,)
    log_constant: float  # of all densities, beside log_norm


class Crowd(NamedTuple):
    """The part of a state that the move reads and changes; see the groups of hcBCC."""

    said: IntArray  # (annotators, answers, classes)
    group: IntArray  # (annotators,)
    size: IntArray  # (slots,)
    slot: IntArray  # (slots,)
    n_coteries: LongArray  # (1,)
    weight: FloatArray  # (slots, answers, classes)
    strength: FloatArray  # (slots, classes)
    log_mean: FloatArray  # (slots, answers, classes)
    log_strength: FloatArray  # (slots, classes)
