"""Who is in one cluster with whom: cBCC and hcBCC on dataset1, at each level of sparsity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.plots.colours import DARK
from coterie.studies.job import Job
from coterie.studies.paper.crowds import synthetic
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import Results, job
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import draw_together, model_name, new_figure, say_how
from coterie.studies.paper.work import CLUSTERED, from_triangle, thinned
from coterie.studies.table import Table
from coterie.words.numbers import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def jobs(settings: Settings) -> list[Job]:
    """Take the first database of each level."""
    return [_job(level, model) for level in settings.levels for model in CLUSTERED]


def _job(level: float, model: str) -> Job:
    return job(thinned, data="dataset1", level=level, database=0, model=model)


def gather(settings: Settings, results: Results) -> Data:
    """Give the matrices, annotators type by type, and how far they are from the truth."""
    sizes = synthetic("dataset1", settings).groups.value_counts(sort=False)
    return {
        "types": {str(name): int(size) for name, size in sizes.items()},
        "levels": [
            {
                "sparsity": level,
                **{
                    model: {
                        key: results[_job(level, model).name][key]
                        for key in ("clusters", "pairs_wrong", "cooccurrence")
                    }
                    for model in CLUSTERED
                },
            }
            for level in settings.levels
        ],
    }


def tables(data: Data) -> list[Table]:
    """One row per level: numbers of clusters, and pairs that are wrongly together or apart."""
    rows = [
        [in_percent(level["sparsity"], 1)]
        + [f"{level[model]['clusters']:.1f}" for model in CLUSTERED]
        + [in_percent(level[model]["pairs_wrong"], 1) for model in CLUSTERED]
        for level in data["levels"]
    ]
    names = [model_name(model) for model in CLUSTERED]
    header = ["missing, %", *(f"clusters {name}" for name in names)]
    header += [f"pairs wrong {name}, %" for name in names]
    return [Table("The first database of each level; there are three types", header, rows)]


def words(data: Data) -> list[str]:
    """Say how to read the picture."""
    sizes = ", ".join(f"{size} {name}" for name, size in data["types"].items())
    return [
        f"Annotators stand type by type ({sizes}); lines part the types. Each cell is the "
        "probability that two annotators share a cluster, in one chain on the first database.",
        "Pairs wrong: the expected share of pairs that are together and of different types, or "
        "apart and of the same type.",
    ]


def draw(data: Data) -> Figure:
    """Draw cBCC above, hcBCC below, a column per level."""
    levels = data["levels"]
    figure = new_figure(1.45 * len(levels) + 0.9, 3.6)
    axes = figure.subplots(2, len(levels), squeeze=False)
    edges = np.cumsum(list(data["types"].values()))[:-1] - 0.5
    for row, model in enumerate(CLUSTERED):
        for ax, level in zip(axes[row], levels, strict=True):
            together = from_triangle(level[model]["cooccurrence"])
            image = draw_together(ax, together, level[model]["clusters"])
            for edge in edges:
                ax.axhline(edge, color=DARK, linewidth=0.5)
                ax.axvline(edge, color=DARK, linewidth=0.5)
            if row == 0:
                ax.set_title(f"{in_percent(level['sparsity'], 1)} % missing", fontsize=8)
        axes[row, 0].set_ylabel(model_name(model), fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.7, label="probability of one cluster", ticks=[0, 1])
    say_how(figure, data)
    return figure


EXPERIMENT = Experiment(
    "cooccurrence-synthetic",
    "Who is with whom: dataset1",
    'Figure "Co-occurency matrices of the users"',
    jobs,
    gather,
    tables,
    words,
    draw,
)
