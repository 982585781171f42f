"""What an experiment is, and how its pictures look."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from coterie.plots.colours import LOOKS, SHADES, Look
from coterie.studies.pool import Job
from coterie.studies.table import Table
from reproduction.settings import Settings
from reproduction.work import Results

Data = dict[str, Any]
"""The figures of an experiment: plain numbers and words, ready for JSON."""

LOOK_OF = {"majority": Look("#777777", "x"), "ibcc": LOOKS[1], "cbcc": LOOKS[0], "hcbcc": LOOKS[2]}
FONT = 9.0


class Experiment:
    """A table or figure of the paper; ``source`` says where it is there."""

    name: str
    title: str
    source: str

    gather: Callable[[Settings, Results], Data]  # what is there of the results, as numbers
    tables: Callable[[Data], list[Table]]  # beside the paper's numbers
    draw: Callable[[Data], Figure]

    def jobs(self, settings: Settings) -> list[Job]:
        """Give what there is to do; jobs whose real data are missing are left out by the run."""
        return []


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure, in inches, that no global state knows of."""
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def say_how(figure: Figure, made: Data) -> None:
    """Write under a picture how it was made; a quick run says so in red."""
    size = FONT - 2
    room = int(figure.get_figwidth() * 72 / (0.5 * size))  # letters are half as wide as high
    words = "\n".join(textwrap.wrap(made["words"], room))
    colour = "#666666" if made["full"] else "#B00020"
    figure.text(0.5, -0.01, words, ha="center", va="top", color=colour, fontsize=size)


def legend_above(figure: Figure, columns: int) -> None:
    """Add one legend for all panels, that of the first."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)


def draw_matrix(ax: Axes, rows: Sequence[Sequence[float]], names: Sequence[str]) -> None:
    """Draw a small matrix of shares with its numbers: true class (rows) by given answer."""
    ax.imshow(rows, cmap=SHADES, vmin=0, vmax=1)
    ax.tick_params(length=0, labelsize=FONT - 1)
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)
    for t, row in enumerate(rows):
        for c, share in enumerate(row):
            ink = "white" if share > 0.55 else "black"
            ax.text(c, t, f"{share:.2f}", ha="center", va="center", color=ink, fontsize=FONT - 1)


def draw_together(ax: Axes, together: NDArray[np.float64], clusters: float) -> AxesImage:
    """Draw who is in one cluster with whom, and under it the mean number of clusters."""
    image = ax.imshow(together, cmap=SHADES, vmin=0, vmax=1, interpolation="antialiased")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlabel(f"{clusters:.1f} clusters", fontsize=8)
    return image


def clean(ax: Axes) -> None:
    """Take away the lines above and to the right, and draw a faint grid behind."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E3E5E8", linewidth=0.8)
    ax.set_axisbelow(True)
