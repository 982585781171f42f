"""The watched quantities of several chains, as (chains, sweeps) arrays with names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.record import Trace

FloatArray = NDArray[np.float64]


def stack_traces(
    traces: Sequence[Trace], grouped: bool, layout: Layout = PLAIN
) -> dict[str, FloatArray]:
    """Stack traces, one per chain, to (chains, sweeps), class totals to (chains, sweeps, classes).

    A model without coteries has no ``n_coteries`` and no ``concentration``; what a kernel records
    beside the others has the names of its layout.
    """
    left_out = () if grouped else ("n_coteries", "concentration")
    whole = {
        name: np.stack([np.asarray(getattr(trace, name), np.float64) for trace in traces])
        for name in Trace._fields
        if name not in left_out
    }
    own = layout.split_sweeps(whole.pop("per_sweep"))
    return {**whole, **own}
