"""Improvement over the vote against sparsity: the four real sets, thinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.datasets import REGISTRY
from coterie.studies.job import Job
from coterie.studies.paper import accuracy
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.improvement import (
    compare,
    databases,
    draw_curves,
    explain,
    gather_level,
    table,
)
from coterie.studies.paper.job import Results
from coterie.studies.paper.paper import MODELS
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import new_figure
from coterie.studies.paper.thinning import reachable
from coterie.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def own_sparsity(data: str) -> float:
    """Give the share of missing labels of a whole set."""
    entry = REGISTRY[data]
    return 1 - entry.labels / (entry.items * entry.annotators)


def levels_of(settings: Settings, data: str) -> list[float]:
    """Give the levels above a set's own sparsity that every random thinning can reach.

    Examples
    --------
    >>> from coterie.studies.paper.settings import FULL
    >>> levels_of(FULL, "rte"), levels_of(FULL, "valence")[-1]
    ([0.95, 0.975], 0.95)
    """
    entry = REGISTRY[data]
    return [
        level
        for level in settings.real_levels
        if level > own_sparsity(data) and reachable(entry.items, entry.annotators, level)
    ]


def jobs(settings: Settings) -> list[Job]:
    """Every model on every database of every level; the whole sets as in the table."""
    thin = [
        one
        for data in settings.real_sets
        for level in levels_of(settings, data)
        for one in databases(settings, data, level)
    ]
    return [*accuracy.jobs(settings), *thin]


def gather(settings: Settings, results: Results) -> Data:
    """Give the levels of each set; the first is the whole set."""
    sets = {}
    for data in settings.real_sets:
        runs = {model: accuracy.found(settings, results, data, model) for model in MODELS}
        if not runs["majority"]:
            continue
        runs["majority"] = runs["majority"] * len(runs["ibcc"])
        whole = compare(runs, round(own_sparsity(data), 6)) | {"databases": 1}
        thin = [gather_level(settings, results, data, one) for one in levels_of(settings, data)]
        sets[data] = [whole, *thin]
    return {"sets": sets}


def tables(data: Data) -> list[Table]:
    """One table per set."""
    return [table(name, levels) for name, levels in data["sets"].items()]


def words(data: Data) -> list[str]:
    """Say what was done, and where the levels end."""
    return [
        "The first point of each curve is the whole set: one database, four pooled chains, several "
        "runs (its interval is Monte Carlo error only). The others are means over random databases "
        "with one chain each.",
        "Every item and every annotator keeps at least one label. At 97.5 % that is impossible on "
        "bluebird (105 labels for 108 items) and on valence (95 labels for 100 items), whose "
        "curves end at 95 %.",
        "Ties of the vote go to the lowest class, which gives the paper's accuracies of the vote "
        "on the whole sets. With few labels ties are frequent, and which class is called the "
        "lowest matters: the JSON also holds every difference to a vote whose ties are shared.",
    ]


def draw(data: Data) -> Figure:
    """Draw a panel per set."""
    figure = new_figure(7.6, 5.2)
    axes = figure.subplots(2, 2).ravel()
    for ax in axes[len(data["sets"]) :]:
        ax.set_visible(False)
    for k, (ax, (name, levels)) in enumerate(zip(axes, data["sets"].items(), strict=False)):
        draw_curves(ax, name, levels)
        if k % 2 == 0:
            ax.set_ylabel("accuracy less the vote's, points")
    return explain(figure, data)


EXPERIMENT = Experiment(
    "sparsity-real",
    "Fewer labels: the real sets",
    'Figure "Results for real datasets"',
    jobs,
    gather,
    tables,
    words,
    draw,
)
