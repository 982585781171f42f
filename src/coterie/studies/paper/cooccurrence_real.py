"""Who is in one cluster with whom: hcBCC and cBCC on the real sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coterie.studies.job import Job
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import Results, job
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import draw_together, model_name, new_figure, say_how
from coterie.studies.paper.work import CLUSTERED, from_triangle, whole
from coterie.studies.table import Table
from coterie.words.numbers import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = ("hcbcc", "cbcc")
"""The paper's order."""


def jobs(settings: Settings) -> list[Job]:
    """Take the first run of each model on each set."""
    return [_job(data, model) for data in settings.real_sets for model in CLUSTERED]


def _job(data: str, model: str) -> Job:
    return job(whole, data=data, model=model, run=0)


def gather(settings: Settings, results: Results) -> Data:
    """Give the matrices, annotators in the order of hcBCC's coteries in both."""
    sets = {}
    for data in settings.real_sets:
        found = {model: results.get(_job(data, model).name) for model in ROWS}
        if found["hcbcc"] is None or found["cbcc"] is None:
            continue
        sets[data] = {"order": found["hcbcc"]["order"]} | {
            model: {
                "clusters": float(np.mean(one["clusters"])),
                "undecided": undecided(from_triangle(one["cooccurrence"])),
                "cooccurrence": one["cooccurrence"],
            }
            for model, one in found.items()
            if one is not None
        }
    return {"sets": sets}


def undecided(together: NDArray[np.float64]) -> float:
    """Give the share of pairs of which it is unclear whether they are together: 10 to 90 %.

    Examples
    --------
    >>> undecided(np.array([[1, 0.5, 0], [0.5, 1, 0.95], [0, 0.95, 1]]))
    0.333333
    """
    pairs = together[np.triu_indices(len(together), 1)]
    return round(float(((pairs > 0.1) & (pairs < 0.9)).mean()), 6)


def tables(data: Data) -> list[Table]:
    """One row per set."""
    rows = [
        [name]
        + [f"{one[model]['clusters']:.2f}" for model in ROWS]
        + [in_percent(one[model]["undecided"], 1) for model in ROWS]
        for name, one in data["sets"].items()
    ]
    names = [model_name(model) for model in ROWS]
    header = ["data set", *(f"clusters {name}" for name in names)]
    header += [f"undecided pairs {name}, %" for name in names]
    return [Table("Numbers of clusters, and pairs of which it is unclear", header, rows)]


def words(data: Data) -> list[str]:
    """Say how to read the picture."""
    if not data["sets"]:
        return []
    return [
        "Annotators stand in the order of hcBCC's coteries, the same in both rows; each cell is "
        "the probability that two annotators share a cluster, four chains of one run pooled.",
        "Undecided: the share of pairs that are together with a probability between 10 and 90 %.",
    ]


def draw(data: Data) -> Figure:
    """Draw hcBCC above, cBCC below, a column per set."""
    sets = data["sets"]
    figure = new_figure(max(4.0, 1.9 * len(sets) + 0.9), 4.2)
    axes = figure.subplots(2, max(1, len(sets)), squeeze=False)
    image = None
    for column, (name, one) in enumerate(sets.items()):
        order = np.array(one["order"])
        for row, model in enumerate(ROWS):
            ax = axes[row, column]
            matrix = from_triangle(one[model]["cooccurrence"])[np.ix_(order, order)]
            image = draw_together(ax, matrix, one[model]["clusters"])
            if row == 0:
                ax.set_title(f"{name} ({len(order)} annotators)", fontsize=9)
            if column == 0:
                ax.set_ylabel(model_name(model), fontsize=10)
    if image is not None:
        bar = figure.colorbar(image, ax=axes, shrink=0.7, ticks=[0, 1])
        bar.set_label("probability of one cluster")
    say_how(figure, data)
    return figure


EXPERIMENT = Experiment(
    "cooccurrence-real",
    "Who is with whom: the real sets",
    'Figure "Co-ocurrency matrix of the users"',
    jobs,
    gather,
    tables,
    words,
    draw,
)
