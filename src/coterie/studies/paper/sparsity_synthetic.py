"""Improvement over the vote against sparsity: dataset1, dataset2, dataset3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.studies.job import Job
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.improvement import databases, draw_curves, explain, gather_level, table
from coterie.studies.paper.job import Results
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import new_figure
from coterie.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS = {
    "dataset1": "dataset1: three types, members differ",
    "dataset2": "dataset2: three types, members are copies",
    "dataset3": "dataset3: one type, members differ",
}


def jobs(settings: Settings) -> list[Job]:
    """Every model on every database of every level of every set."""
    return [
        one
        for data in SETS
        for level in settings.levels
        for one in databases(settings, data, level)
    ]


def gather(settings: Settings, results: Results) -> Data:
    """Give the levels of each set."""
    return {
        "sets": {
            data: [gather_level(settings, results, data, level) for level in settings.levels]
            for data in SETS
        }
    }


def tables(data: Data) -> list[Table]:
    """One table per set."""
    return [table(SETS[name], levels) for name, levels in data["sets"].items()]


def words(data: Data) -> list[str]:
    """Say what was done."""
    return [
        "Means over random databases, with the 95 % interval of the mean; every database is fitted "
        "with one chain, as in the paper. The bands say how well the means are known for this "
        "draw of the set and this thinning, not how much another draw of the set would differ.",
        "The types of annotators are ours, so that the curves can be compared with the paper's in "
        "shape and order only.",
    ]


def draw(data: Data) -> Figure:
    """Draw a panel per set."""
    figure = new_figure(9.4, 3.2)
    axes = figure.subplots(1, len(data["sets"]), sharey=True)
    for ax, (name, levels) in zip(axes, data["sets"].items(), strict=True):
        draw_curves(ax, SETS[name], levels)
    axes[0].set_ylabel("accuracy less the vote's, points")
    return explain(figure, data)


EXPERIMENT = Experiment(
    "sparsity-synthetic",
    "Fewer labels: the synthetic sets",
    'Figures "Results for dataset1", (b), and "Results for dataset2 and dataset3"',
    jobs,
    gather,
    tables,
    words,
    draw,
)
