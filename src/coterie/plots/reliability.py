"""Are the probabilities right as often as they say?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from coterie.metrics.scores import chance_interval
from coterie.plots.canvas import font_size, open_frame, room
from coterie.plots.colours import DARK, LOOKS
from coterie.plots.text import LETTER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 5.0
"""Points between the axes, the counts above them and the title."""


def draw_reliability(ax: Axes, table: pd.DataFrame, error: float) -> None:
    """Draw how often labels are right against how sure they are, with the items of each bin.

    Parameters
    ----------
    ax
        Where to.
    table
        As :func:`coterie.metrics.reliability` gives it.
    error
        The expected calibration error.
    """
    table = table[table["items"] > 0]
    low, high = chance_interval(table)
    ax.plot([0, 1], [0, 1], ls="--", lw=0.8, color=DARK)
    confidence, color = table["confidence"], LOOKS[0].color
    ax.vlines(confidence, low, high, color=color, lw=1, clip_on=False)
    ax.plot(confidence, table["accuracy"], "o-", color=color, ms=4, lw=0.5, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_xlabel("probability of the label")
    ax.set_ylabel("share of labels that are right")
    above = _write_counts(ax, table)
    ax.set_title(f"ECE {error:.3f}", fontsize=font_size(ax), pad=above)
    open_frame(ax)


def _write_counts(ax: Axes, table: pd.DataFrame) -> float:
    """Write the number of items of each bin above it; give the points that they reach up to."""
    from matplotlib.transforms import ScaledTranslation

    counts = [f"{items:,}" for items in table["items"]]
    size = 0.8 * font_size(ax)
    bin_points = (table["high"] - table["low"]).min() * min(room(ax, 1, 1))
    width = LETTER * size * max(map(len, counts))
    turn = 90 if width > bin_points else 0
    above = ax.get_xaxis_transform() + ScaledTranslation(0, GAP / 72, ax.figure.dpi_scale_trans)
    ax.text(0, 1, "items", transform=above, ha="right", fontsize=size)
    for count, centre in zip(counts, (table["low"] + table["high"]) / 2, strict=True):
        ax.text(centre, 1, count, transform=above, ha="center", fontsize=size, rotation=turn)
    return 2 * GAP + (width if turn else size)
