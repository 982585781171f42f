"""What each chain did, sweep by sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.plots.canvas import legend_beside, open_frame
from coterie.plots.colours import LOOKS
from coterie.plots.text import LINE, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coterie.posterior import Posterior

COUNTS = ("n_coteries", "n_groups")
"""Small whole numbers, which chains share."""


class Trace(NamedTuple):
    """One quantity of several chains."""

    label: str
    chain: list[int]  # (chains,)          numbers of the chains, from one
    sweep: NDArray[np.int64]  # (recorded,)       numbers of the sweeps, from one
    value: NDArray[Any]  # (chains, recorded)
    whole: bool  # whether the values are small whole numbers


def trace_of(posterior: Posterior, quantity: str) -> Trace:
    """Give a quantity at the sweeps at which it was recorded: n_coteries, or a watched one."""
    if quantity == "n_coteries":
        value: NDArray[Any] = posterior.n_coteries
        watched = posterior._sampled("a trace").trace
    else:
        watched = posterior._sampled("a trace").trace
        if quantity not in watched:
            known = ", ".join(["n_coteries", *watched])
            raise DataError(f"no trace of {quantity!r}; there are {known}")
        value = watched[quantity]
    # Watched quantities are recorded at every sweep, draws at every so many.
    sweeps = next(iter(watched.values())).shape[1] if watched else value.shape[1]
    step = sweeps // value.shape[1]
    start = int(posterior.run.get("burn_in", 0))
    whole = quantity in COUNTS
    sweep = start + step * np.arange(1, value.shape[1] + 1)
    return Trace(_label(posterior, quantity), _chains(posterior, len(value)), sweep, value, whole)


def draw_trace(ax: Axes, trace: Trace) -> None:
    """Draw one line a chain; whole numbers as dots, a little apart, for lines would hide them."""
    from matplotlib.ticker import MaxNLocator

    apart = (
        np.linspace(-0.25, 0.25, len(trace.chain)) if trace.whole else np.zeros(len(trace.chain))
    )
    style = {"ls": "none", "marker": ".", "ms": 2.5, "mew": 0} if trace.whole else {"lw": 0.5}
    for k, value, up in zip(trace.chain, trace.value, apart, strict=True):
        color = LOOKS[(k - 1) % len(LOOKS)].color
        ax.plot(trace.sweep, value + up, color=color, alpha=0.7, label=f"{k}", **style)
    ax.set_xlabel("sweep")
    ax.set_ylabel(literal(trace.label, LINE))
    ax.margins(x=0)
    if trace.whole:
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    open_frame(ax)
    legend = legend_beside(ax, "chain")
    for line in legend.get_lines():
        line.set(linewidth=1.5, markersize=6, alpha=1)


def _chains(posterior: Posterior, kept: int) -> list[int]:
    """Give the numbers of the chains that were kept."""
    left_out = {int(k) for k in posterior.run.get("left_out", {})}
    numbers = [k for k in range(1, kept + len(left_out) + 1) if k not in left_out]
    return numbers[:kept]


def _label(posterior: Posterior, quantity: str) -> str:
    if quantity.startswith("class_total["):
        t = int(quantity.removeprefix("class_total[").removesuffix("]"))
        return f"items of class {posterior.annotations.classes[t]}"
    return {"n_coteries": "number of coteries", "n_groups": "number of groups"}.get(
        quantity, quantity.replace("_", " ")
    )
