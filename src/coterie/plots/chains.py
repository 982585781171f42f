"""What each chain did, sweep by sweep."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.diagnostics import Quantity, quantities_of
from coterie.errors import DataError
from coterie.plots.canvas import legend_beside, open_frame
from coterie.plots.colours import LOOKS
from coterie.plots.text import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coterie.posterior import Posterior

COTERIES = Quantity("n_coteries")
"""A small whole number, which chains share."""
APART = 0.06
"""Between a whole number and the dots of a chain, at most, so that they are seen to be equal."""
LABEL_WIDTH = 22
"""Characters of the axis' label on one line: a new figure is not tall."""


class Trace(NamedTuple):
    """One quantity of several chains."""

    label: str
    chain: list[int]  # (chains,)          numbers of the chains, from one
    sweep: NDArray[np.int64]  # (recorded,)       numbers of the sweeps, from one
    value: NDArray[Any]  # (chains, recorded)
    whole: bool  # whether the values are small whole numbers


def trace_of(posterior: Posterior, quantity: str | None) -> Trace:
    """Give a quantity at the sweeps at which it was recorded: n_coteries, or a watched one."""
    draws = posterior.require_draws("a trace")
    watched: dict[Quantity, NDArray[Any]] = {**quantities_of(draws.trace)}
    sweeps = next(iter(watched.values())).shape[1] if watched else None
    grouped = posterior.abilities.coteries
    wanted = quantity or ("n_coteries" if grouped else "log_joint")
    if grouped or wanted == str(COTERIES):  # says so if the model finds none
        watched.pop(COTERIES, None)
        watched = {COTERIES: posterior.n_coteries, **watched}
    found = next((one for one in watched if str(one) == wanted), None)
    if found is None:
        known = ", ".join(map(str, watched)) or "none"
        raise DataError(f"no trace of {wanted!r}; there are {known}")
    value = watched[found]
    # Watched quantities are recorded at every sweep, draws at every so many.
    step = (sweeps or value.shape[1]) // value.shape[1]
    start = int(posterior.run.get("burn_in", 0))
    sweep = start + step * np.arange(1, value.shape[1] + 1)
    return Trace(
        label=_label(posterior, found),
        chain=_chains(posterior, len(value)),
        sweep=sweep,
        value=value,
        whole=found == COTERIES,
    )


def draw_trace(ax: Axes, trace: Trace) -> None:
    """Draw one line per chain; whole numbers as dots, a little apart, for lines would hide them."""
    from matplotlib.ticker import MaxNLocator

    style = {"ls": "none", "marker": ".", "ms": 2.5, "mew": 0} if trace.whole else {"lw": 0.5}
    for k, value, up in zip(trace.chain, trace.value, _apart(trace), strict=True):
        color = LOOKS[(k - 1) % len(LOOKS)].color
        ax.plot(trace.sweep, value + up, color=color, alpha=0.7, label=f"{k}", **style)
    ax.set_xlabel("sweep")
    ax.set_ylabel(trace.label)
    ax.margins(x=0)
    if trace.whole:
        # One more on either side: a number that never changes gets an axis it can be read from.
        ax.set_ylim(trace.value.min() - 1, trace.value.max() + 1)
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    open_frame(ax)
    legend = legend_beside(ax, "chain")
    for line in legend.get_lines():
        line.set(linewidth=1.5, markersize=6, alpha=1)


def _apart(trace: Trace) -> NDArray[np.float64]:
    """Give how far to move each chain up: whole numbers by half a dot, others not at all."""
    n = len(trace.chain)
    if not trace.whole or n == 1:
        return np.zeros(n)
    # In axes as tall as the values' span and one more on either side (see draw_trace), 1.2 % of
    # the height is half a dot.
    most = min(APART, 0.012 * (np.ptp(trace.value) + 2))
    return np.linspace(-most, most, n)


def _chains(posterior: Posterior, kept: int) -> list[int]:
    """Give the numbers of the chains that were kept."""
    left_out = {int(k) for k in posterior.run.get("left_out", {})}
    numbers = [k for k in range(1, kept + len(left_out) + 1) if k not in left_out]
    return numbers[:kept]


def _label(posterior: Posterior, quantity: Quantity) -> str:
    if quantity.name == "class_total" and quantity.index is not None:
        label = f"items of class {literal(posterior.annotations.classes[quantity.index])}"
        return textwrap.fill(label, LABEL_WIDTH, break_long_words=False)
    return "number of coteries" if quantity == COTERIES else str(quantity).replace("_", " ")
