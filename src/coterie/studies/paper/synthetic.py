"""The types of annotators of the synthetic sets: means, spread inside a type, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.studies.job import Job
from coterie.studies.paper.crowds import MEANS, SHARES, STRENGTH, synthetic
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import Results
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import FONT, draw_matrix, new_figure, say_how
from coterie.studies.table import Table
from coterie.words.numbers import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLASSES = ["a", "b", "c"]


def jobs(settings: Settings) -> list[Job]:
    """Nothing takes long enough to be a job."""
    return []


def gather(settings: Settings, results: Results) -> Data:
    """Give the types, and the variances of the members that were drawn for dataset1."""
    crowd = synthetic("dataset1", settings)
    groups = crowd.groups.to_numpy()
    types = {}
    for name, mean in MEANS.items():
        members = crowd.confusion[groups == name]
        expected = np.asarray(mean) * (1 - np.asarray(mean)) / (STRENGTH + 1)
        types[name] = {
            "share": SHARES[name],
            "members": len(members),
            "mean": mean,
            "sd": np.sqrt(expected).round(4).tolist(),
            "drawn_mean": members.mean(axis=0).round(4).tolist(),
            "drawn_sd": members.std(axis=0).round(4).tolist(),
        }
    return {
        "types": types,
        "strength": STRENGTH,
        "items": settings.items,
        "annotators": settings.annotators,
    }


def tables(data: Data) -> list[Table]:
    """One row per type and true class."""
    rows = [
        [f"{name}, {in_percent(one['share'], 0)} %" if t == 0 else "", CLASSES[t]]
        + [f"{m:.2f} (sd {s:.2f})" for m, s in zip(one["mean"][t], one["sd"][t], strict=True)]
        for name, one in data["types"].items()
        for t in range(len(CLASSES))
    ]
    header = ["type and share", "true class", *(f"says {c}" for c in CLASSES)]
    return [Table("Mean confusion matrices, and the spread of the members", header, rows, (0, 1))]


def words(data: Data) -> list[str]:
    """State our choice."""
    return [
        "The paper shows the clusters of dataset1 only as a picture. These three types are our "
        f"choice, made once: {data['items']} items, {data['annotators']} annotators, three "
        "equally likely classes.",
        f"dataset1 draws every member's rows from Dir({data['strength']:g} mean), hcBCC's model; "
        "dataset2 gives all members of a type its mean, cBCC's model; dataset3 has novices only, "
        "each with a matrix of their own, iBCC's model. Each set is drawn once, with everybody "
        "labelling everything, and thinned many times.",
    ]


def draw(data: Data) -> Figure:
    """Draw the means above, the spread of the members below."""
    figure = new_figure(6.6, 4.6)
    axes = figure.subplots(2, len(data["types"]))
    for k, (name, one) in enumerate(data["types"].items()):
        for row, key in enumerate(("mean", "sd")):
            ax = axes[row, k]
            draw_matrix(ax, one[key], CLASSES)
            head = f"{name}, {in_percent(one['share'], 0)} %: " if row == 0 else ""
            ax.set_title(head + ("mean" if row == 0 else "members' sd"), fontsize=FONT)
        axes[1, k].set_xlabel("given answer")
    for row in axes:
        row[0].set_ylabel("true class")
    say_how(figure, data)
    return figure


EXPERIMENT = Experiment(
    "synthetic",
    "The synthetic sets",
    'Figure "Results for dataset1", (a)',
    jobs,
    gather,
    tables,
    words,
    draw,
)
