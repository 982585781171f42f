"""The watched quantities of several chains, as (chains, sweeps) arrays with names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.record import Trace

FloatArray = NDArray[np.float64]


def stack(traces: Sequence[Trace], clustered: bool) -> dict[str, FloatArray]:
    """Stack traces, one a chain; a model without clusters has no ``n_coteries, concentration``."""
    whole = {
        name: np.stack([np.asarray(getattr(trace, name), np.float64) for trace in traces])
        for name in Trace._fields
    }
    totals = whole.pop("class_total")
    if not clustered:
        del whole["n_coteries"], whole["concentration"]
    return {**whole, **{f"class_total[{t}]": totals[:, :, t] for t in range(totals.shape[2])}}
