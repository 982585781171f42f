"""Accuracy in time, with its band."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import pandas as pd

from coterie.plots.canvas import open_frame
from coterie.plots.colours import LOOKS
from coterie.words.names import name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_drift(ax: Axes, courses: dict[Hashable, pd.DataFrame]) -> None:
    """Draw the accuracy of some annotators against their labels, with 95 % bands.

    Parameters
    ----------
    ax
        Where to.
    courses
        As ``posterior.trajectory`` gives them, by annotator.
    """
    for k, (annotator, course) in enumerate(courses.items()):
        color, at = LOOKS[k % len(LOOKS)].color, range(1, len(course) + 1)
        low, high = course["accuracy_low"], course["accuracy_high"]
        ax.fill_between(at, low, high, color=color, alpha=0.2, lw=0)
        ax.plot(at, course["accuracy"], color=color, lw=1, label=name(annotator))
    ax.set(ylim=(0, 1), xlabel="moment", ylabel="accuracy")
    ax.legend(frameon=False)
    open_frame(ax)
