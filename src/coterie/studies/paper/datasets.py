"""The description of the real data: sizes, labels per user, labels per instance, sparsity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.studies.job import Job
from coterie.studies.paper import paper
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import Results, job
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import clean, new_figure, say_how
from coterie.studies.paper.work import describe
from coterie.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIELDS = paper.Description._fields


def jobs(settings: Settings) -> list[Job]:
    """Describe each set."""
    return [job(describe, data=name) for name in settings.real_sets]


def gather(settings: Settings, results: Results) -> Data:
    """Set what was counted beside what is printed."""
    sets = {}
    for name in settings.real_sets:
        ours = results.get(job(describe, data=name).name)
        if ours is None:
            continue
        ours = {**ours, "sparsity": round(100 * ours["sparsity"], 4)}
        printed = dict(paper.DESCRIPTION[name]._asdict())
        agrees = all(_printed(key, ours[key]) == _printed(key, printed[key]) for key in FIELDS)
        sets[name] = {"ours": ours, "paper": printed, "agrees": agrees}
    return {"sets": sets}


def _printed(field: str, value: float) -> str:
    return f"{value:.2f}" if field == "sparsity" else f"{value:.0f}"


def tables(data: Data) -> list[Table]:
    """One row per set, ours and the paper's in brackets."""
    header = ["data set", "items", "annotators", "labels per annotator", "labels per item"]
    rows = [
        [name] + [f"{_printed(k, one['ours'][k])} ({_printed(k, one['paper'][k])})" for k in FIELDS]
        for name, one in data["sets"].items()
    ]
    return [Table("Ours (the paper's)", [*header, "missing, %"], rows)]


def words(data: Data) -> list[str]:
    """Say whether the data are the paper's."""
    other = [name for name, one in data["sets"].items() if not one["agrees"]]
    if other:
        return [f"Different from the paper's, as printed: {', '.join(other)}."]
    return ["Every number is the paper's, as printed."] if data["sets"] else []


def draw(data: Data) -> Figure:
    """Draw the labels of an annotator and of an item, and the share of missing ones."""
    figure = new_figure(7.2, 2.5)
    axes = figure.subplots(1, 3)
    panels = {
        "labels_per_annotator": "labels per annotator (mean)",
        "labels_per_item": "labels per item (mean)",
        "sparsity": "missing labels, %",
    }
    for ax, (key, title) in zip(axes, panels.items(), strict=True):
        names = list(data["sets"])
        ours = [data["sets"][name]["ours"][key] for name in names]
        printed = [data["sets"][name]["paper"][key] for name in names]
        ax.bar(names, ours, width=0.6, color="#9CC3E6", label="ours")
        ax.plot(names, printed, "_", color="black", markersize=16, label="the paper's")
        ax.set_title(title, fontsize=9)
        clean(ax)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    say_how(figure, data)
    return figure


EXPERIMENT = Experiment(
    "datasets",
    "The real data",
    'Table "Description of the real datasets"',
    jobs,
    gather,
    tables,
    words,
    draw,
)
