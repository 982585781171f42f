"""What a block of sweeps leaves behind: sums of probabilities, and some numbers per sweep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.layout import PLAIN, Layout
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
    per_item: FloatArray  # (items, columns)   what the kernel's layout says, summed alike


class Trace(NamedTuple):
    """One entry per sweep; a model without groups leaves zeros in ``n_coteries, concentration``."""

    log_joint: FloatArray  # (sweeps,)   everything sampled, with the labels
    log_likelihood: FloatArray  # (sweeps,)   the labels given everything sampled
    n_coteries: NDArray[np.int64]  # (sweeps,)
    concentration: FloatArray  # (sweeps,)
    class_total: NDArray[np.int64]  # (sweeps, classes)
    per_sweep: FloatArray  # (sweeps, columns)   what the kernel's layout says


def new_tally(data: Codes, layout: Layout = PLAIN) -> Tally:
    """Give an empty tally for these data."""
    n_items = len(data.gold)
    return Tally(
        weight=1.0,
        probability=np.zeros((n_items, data.n_classes)),
        sweeps=np.zeros(1),
        per_item=np.zeros((n_items, layout.n_item_columns)),
    )


def new_trace(n_sweeps: int, n_classes: int, layout: Layout = PLAIN) -> Trace:
    """Give room for a block of ``n_sweeps`` sweeps."""
    return Trace(
        log_joint=np.zeros(n_sweeps),
        log_likelihood=np.zeros(n_sweeps),
        n_coteries=np.zeros(n_sweeps, np.int64),
        concentration=np.zeros(n_sweeps),
        class_total=np.zeros((n_sweeps, n_classes), np.int64),
        per_sweep=np.zeros((n_sweeps, layout.n_sweep_columns)),
    )


@piece
def note_classes(sweep: int, class_total: NDArray[np.int64], trace: Trace) -> None:
    """Write the class totals, shape (T,), to the trace."""
    for t in range(len(class_total)):
        trace.class_total[sweep, t] = class_total[t]
