"""The watched quantities of several chains, as (chains, sweeps) arrays with names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.record import Trace

FloatArray = NDArray[np.float64]


def stack(traces: Sequence[Trace], clustered: bool) -> dict[str, FloatArray]:
    """Stack traces, one per chain, to (chains, sweeps), class totals to (chains, sweeps, classes).

    A model without clusters has no ``n_coteries`` and no ``concentration``.
    """
    left_out = () if clustered else ("n_coteries", "concentration")
    return {
        name: np.stack([np.asarray(getattr(trace, name), np.float64) for trace in traces])
        for name in Trace._fields
        if name not in left_out
    }
