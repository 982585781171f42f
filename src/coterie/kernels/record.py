"""What a block of sweeps leaves behind: sums of probabilities, and one number a sweep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.numeric.jit import piece

FloatArray = NDArray[np.float64]


class Tally(NamedTuple):
    """Each item's conditional probabilities, summed over sweeps.

    An item's posterior is ``probability / sweeps``; in burn-in ``weight`` is zero
    (``tally._replace(weight=0.0)`` shares the sums).
    """

    weight: float  # what a sweep counts
    probability: FloatArray  # (items, classes)
    sweeps: FloatArray  # (1,)


class Trace(NamedTuple):
    """One entry a sweep; a model without groups leaves zeros in ``n_coteries, concentration``."""

    log_joint: FloatArray  # (sweeps,)   everything sampled, with the labels
    log_likelihood: FloatArray  # (sweeps,)   the labels given everything sampled
    n_coteries: NDArray[np.int64]  # (sweeps,)
    concentration: FloatArray  # (sweeps,)
    class_total: NDArray[np.int64]  # (sweeps, classes)


def new_tally(data: Codes) -> Tally:
    """Give an empty tally for these data."""
    return Tally(1.0, np.zeros((len(data.gold), data.n_classes)), np.zeros(1))


def new_trace(n_sweeps: int, n_classes: int) -> Trace:
    """Give room for a block of ``n_sweeps`` sweeps."""
    return Trace(
        log_joint=np.zeros(n_sweeps),
        log_likelihood=np.zeros(n_sweeps),
        n_coteries=np.zeros(n_sweeps, np.int64),
        concentration=np.zeros(n_sweeps),
        class_total=np.zeros((n_sweeps, n_classes), np.int64),
    )


@piece
def note_classes(sweep: int, class_total: NDArray[np.int64], trace: Trace) -> None:
    """Write the class totals, shape (T,), to the trace."""
    for t in range(len(class_total)):
        trace.class_total[sweep, t] = class_total[t]
