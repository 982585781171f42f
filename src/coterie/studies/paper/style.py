"""How the pictures look: sizes, the models' colours, and the line that says how they were made."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coterie.errors import MissingExtraError
from coterie.plots.colours import LOOKS, SHADES, Look
from coterie.studies.paper.paper import MODELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

    from coterie.studies.paper.experiment import Data

LOOK_OF = {
    "majority": Look("#777777", "x"),
    "ibcc": LOOKS[1],
    "cbcc": LOOKS[0],
    "hcbcc": LOOKS[2],
}
FONT = 9.0
DOTS = 150


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with our sizes, and leave the user's settings as they were."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MissingExtraError("drawing the pictures", "matplotlib", "plots") from None
    with rc_context({"font.size": FONT, "axes.titlesize": FONT}):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure, in inches, that no global state knows of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DOTS, layout="constrained")


def say_how(figure: Figure, data: Data) -> None:
    """Write under a picture how it was made; a quick run says so in red."""
    made = data["made"]
    colour = "#666666" if made["full"] else "#B00020"
    size = FONT - 2
    room = int(figure.get_figwidth() * 72 / (0.5 * size))  # letters are half as wide as high
    words = "\n".join(textwrap.wrap(made["words"], room))
    figure.text(0.5, -0.01, words, ha="center", va="top", color=colour, fontsize=size)


def model_name(model: str) -> str:
    """Give the paper's name of a model."""
    return MODELS[model]


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
