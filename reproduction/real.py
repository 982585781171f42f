"""The real data: sizes, accuracies, numbers of clusters, what the coteries are like."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.studies.pool import Job
from coterie.studies.table import Table
from coterie.words.numbers import in_percent, plus_minus, signed
from reproduction import base, work
from reproduction.base import Data, Experiment
from reproduction.settings import CLUSTERED, DESCRIBED, MODELS, PAPER, SAMPLED, Settings
from reproduction.work import Result, Results, job


class Datasets(Experiment):
    name = "datasets"
    title = "The real data"
    source = 'Table "Description of the real datasets"'

    def jobs(self, settings):
        return [job(work.describe, data=name) for name in settings.real_sets]

    def gather(self, settings, results):
        sets = {}
        for name, one in zip(settings.real_sets, self.jobs(settings), strict=True):
            if one.name in results:
                ours = {**results[one.name]}
                ours["sparsity"] = round(100 * ours["sparsity"], 4)
                paper = dict(zip(DESCRIBED, PAPER[name].description, strict=True))
                agrees = all(_printed(key, ours[key]) == _printed(key, paper[key]) for key in paper)
                sets[name] = {"ours": ours, "paper": paper, "agrees": agrees}
        return {"sets": sets}

    def tables(self, data):
        header = ["data set", "items", "annotators", "labels per annotator", "labels per item"]
        rows = [
            [name, *(f"{_printed(k, one['ours'][k])} ({_printed(k, one['paper'][k])})"
                     for k in DESCRIBED)]
            for name, one in data["sets"].items()
        ]  # fmt: skip
        return [Table("Ours (the paper's)", [*header, "missing, %"], rows)]

    def draw(self, data):
        figure = base.new_figure(7.2, 2.5)
        titles = ("labels per annotator (mean)", "labels per item (mean)", "missing labels, %")
        names, sets = list(data["sets"]), data["sets"].values()
        for ax, key, title in zip(figure.subplots(1, 3), DESCRIBED[2:], titles, strict=True):
            printed = [one["paper"][key] for one in sets]
            ours = [one["ours"][key] for one in sets]
            ax.bar(names, ours, width=0.6, color="#9CC3E6", label="ours")
            ax.plot(names, printed, "_", color="black", markersize=16, label="the paper's")
            ax.set_title(title, fontsize=9)
            base.clean(ax)
        base.legend_above(figure, 2)
        return figure


def _printed(field: str, value: float) -> str:
    return f"{value:.2f}" if field == "sparsity" else f"{value:.0f}"


def runs_of(settings: Settings, data: str, model: str) -> list[Job]:
    """Give the independent fits of a model to a whole set; the vote has nothing random."""
    runs = settings.runs if model in SAMPLED else 1
    return [job(work.whole, data=data, model=model, run=run) for run in range(runs)]


def found_runs(settings: Settings, results: Results, data: str, model: str) -> list[Result]:
    """Give the results of the runs of a model on a set that are there."""
    names = (one.name for one in runs_of(settings, data, model))
    return [results[name] for name in names if name in results]


class Accuracy(Experiment):
    name = "accuracy"
    title = "Accuracy and numbers of clusters on the real data"
    source = 'Table "Results for the real data"'

    def jobs(self, settings):
        places = ((data, model) for data in settings.real_sets for model in MODELS)
        return [one for place in places for one in runs_of(settings, *place)]

    def gather(self, settings, results):
        sets = {}
        for data in settings.real_sets:
            runs = {model: found_runs(settings, results, data, model) for model in MODELS}
            if runs["majority"]:
                sets[data] = {model: _accuracy(data, model, of) for model, of in runs.items()}
        return {"sets": sets}

    def tables(self, data):
        accuracy = [
            [
                name,
                *(f"{in_percent(one['accuracy'])} ({in_percent(one['paper_accuracy'])})"
                  for one in row.values()),
                ", ".join(_range(one["items_from_paper"]) for one in row.values()),
            ]
            for name, row in data["sets"].items()
        ]  # fmt: skip
        clusters = [
            [
                name,
                MODELS[model],
                plus_minus(one["clusters"], one["clusters_sd"]),
                plus_minus(one["paper_clusters"], one["paper_clusters_sd"]),
                signed(one["clusters"] - one["paper_clusters"]),
            ]
            for name, row in data["sets"].items()
            for model, one in row.items()
            if model in CLUSTERED
        ]
        header = ["data set", *MODELS.values(), "items from the paper"]
        numbers = ["data set", "model", "ours", "the paper's", "difference"]
        title = "Average number of clusters, mean ± standard deviation between chains"
        return [
            Table("Accuracy, %: ours (the paper's)", header, accuracy),
            Table(title, numbers, clusters, left=(0, 1)),
        ]

    def draw(self, data):
        figure = base.new_figure(7.6, 3.0)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for ax, models, key, scale, title in (
            (left, tuple(MODELS), "accuracy", 100, "accuracy, %"),
            (right, CLUSTERED, "clusters", 1, "average number of clusters"),
        ):
            for k, model in enumerate(models):
                place = np.arange(len(data["sets"])) + (k - (len(models) - 1) / 2) * 0.18
                ours, spread, printed = (
                    [scale * (row[model][name] or 0.0) for row in data["sets"].values()]
                    for name in (key, f"{key}_sd", f"paper_{key}")
                )
                look = base.LOOK_OF[model]
                ax.errorbar(
                    place, ours, spread, fmt=look.marker, color=look.color, markersize=5,
                    capsize=2, label=MODELS[model],
                )  # fmt: skip
                ax.plot(place, printed, "_", color="black", markersize=12, zorder=3)
            ax.set_xticks(range(len(data["sets"])), list(data["sets"]))
            ax.margins(x=0.06)
            ax.set_title(title, fontsize=9)
            base.clean(ax)
        right.set_ylim(bottom=0)
        left.plot([], [], "_", color="black", markersize=12, label="the paper's")
        base.legend_above(figure, 5)
        return figure


def _accuracy(data: str, model: str, runs: list[Result]) -> Data:
    items = runs[0]["items"]
    printed = PAPER[data].accuracy[list(MODELS).index(model)]
    right = [run["right"] for run in runs]
    one: Data = {
        "items": items,
        "right": right,
        "accuracy": float(np.mean(right)) / items,
        "accuracy_sd": _sd(right, items),
        "paper_accuracy": printed / 100,
        # What the paper's percentage is in items, to the nearest whole one.
        "items_from_paper": [count - round(printed * items / 100) for count in right],
        # Items by which an accuracy may differ from the paper's.
        "slack": {("valence", "ibcc"): 2}.get((data, model), int(model in SAMPLED)),
    }
    if model in SAMPLED:
        one["runs_converged"] = sum(run["converged"] for run in runs)
        one["chains_left_out"] = sum(run["chains_left_out"] for run in runs)
    if model in CLUSTERED:
        means = [mean for run in runs for mean in run["clusters"]]
        one |= {"clusters": float(np.mean(means)), "clusters_sd": _sd(means)}
        one["clusters_chains"] = len(means)
        one["paper_clusters"], one["paper_clusters_sd"] = PAPER[data].clusters[model]
    return one


def _sd(values: list[Any], scale: float = 1.0) -> float | None:
    return float(np.std(values, ddof=1)) / scale if len(values) > 1 else None


def _range(values: list[int]) -> str:
    low, high = signed(min(values), 0), signed(max(values), 0)
    return low if low == high else f"{low} to {high}"


def first_run(data: str, model: str) -> Job:
    """Give the fit that is shown of a model on a whole set."""
    return job(work.whole, data=data, model=model, run=0)


class Confusion(Experiment):
    name = "confusion"
    title = "What hcBCC's coteries are like"
    source = 'Figure "Mean confusion matrices of the user\'s clusters identified by hcBCC"'

    def jobs(self, settings):
        return [first_run(data, "hcbcc") for data in settings.real_sets]

    def gather(self, settings, results):
        sets = {}
        for data, one in zip(settings.real_sets, self.jobs(settings), strict=True):
            if one.name in results:
                found = results[one.name]
                kept = ("classes", "coteries", "coteries_asked")
                sets[data] = {key: found[key] for key in kept}
                sets[data]["paper_shares"] = list(PAPER[data].shares)
                sets[data]["paper_roles"] = PAPER[data].roles
        return {"sets": sets}

    def tables(self, data):
        rows = [
            [
                name if k == 0 else "",
                str(k + 1),
                str(one["size"]),
                in_percent(one["share"]),
                in_percent(one["label_share"], 1),
                f"{one['accuracy']:.2f} ({one['accuracy_low']:.2f} to {one['accuracy_high']:.2f})",
                "; ".join(", ".join(f"{cell:.2f}" for cell in row) for row in one["matrix"]),
                one["role"],
            ]
            for name, _, coteries in _partitions(data)
            for k, one in enumerate(coteries)
        ]
        header = [
            "data set", "coterie", "annotators", "share, %", "of the labels, %", "accuracy",
            "matrix, row by row", "role",
        ]  # fmt: skip
        printed = [
            [name, ", ".join(f"{share:.2f}" for share in one["paper_shares"]), one["paper_roles"]]
            for name, one in data["sets"].items()
        ]
        papers = ["data set", "shares it names, %", "what they are like"]
        return [
            Table("Our coteries", header, rows, left=(0, 6, 7)),
            Table("What the paper says of its clusters", papers, printed, left=(0, 1, 2)),
        ]

    def draw(self, data):
        rows = _partitions(data)
        most = 6  # coteries of a set; the table has all
        columns = max([min(most, len(coteries)) for _, _, coteries in rows], default=1)
        figure = base.new_figure(1.75 * columns + 0.4, 1.95 * max(1, len(rows)))
        axes = figure.subplots(max(1, len(rows)), columns, squeeze=False)
        for ax in axes.ravel():
            ax.set_visible(False)
        for row, (name, classes, coteries) in zip(axes, rows, strict=False):
            for k, (ax, coterie) in enumerate(zip(row, coteries, strict=False)):
                ax.set_visible(True)
                base.draw_matrix(ax, coterie["matrix"], classes)
                title = f"{in_percent(coterie['share'])} %: {coterie['role']}"
                ax.set_title(f"{name if k == 0 else ''}\n{title}", fontsize=8)
                ax.set_xlabel("answer", fontsize=8)
                ax.set_ylabel("true" if k == 0 else "", fontsize=8)
        return figure


def _partitions(data: Data) -> list[tuple[str, list[str], list[Data]]]:
    """Give the partitions to show: name, classes, coteries; the paper's number where it differs."""
    rows = []
    for name, one in data["sets"].items():
        asked = one["coteries_asked"]
        rows.append((name, one["classes"], one["coteries"]))
        if len(asked) != len(one["coteries"]):
            rows.append((f"{name}, {len(asked)} asked for", one["classes"], asked))
    return rows


class TogetherReal(Experiment):
    name = "cooccurrence-real"
    title = "Who is with whom: the real sets"
    source = 'Figure "Co-ocurrency matrix of the users"'
    rows = ("hcbcc", "cbcc")  # the paper's order

    def jobs(self, settings):
        return [first_run(data, model) for data in settings.real_sets for model in CLUSTERED]

    def gather(self, settings, results):
        sets = {}
        for data in settings.real_sets:
            names = {model: first_run(data, model).name for model in self.rows}
            if results.keys() >= set(names.values()):
                sets[data] = {"order": results[names["hcbcc"]]["order"]}
                for model, name in names.items():
                    together = results[name]["cooccurrence"]
                    sets[data][model] = {
                        "clusters": float(np.mean(results[name]["clusters"])),
                        "undecided": undecided(work.from_triangle(together)),
                        "cooccurrence": together,
                    }
        return {"sets": sets}

    def tables(self, data):
        rows = [
            [name, *(f"{one[model]['clusters']:.2f}" for model in self.rows),
             *(in_percent(one[model]["undecided"], 1) for model in self.rows)]
            for name, one in data["sets"].items()
        ]  # fmt: skip
        header = ["data set", *(f"clusters {MODELS[model]}" for model in self.rows)]
        header += [f"undecided pairs {MODELS[model]}, %" for model in self.rows]
        return [Table("Numbers of clusters, and pairs of which it is unclear", header, rows)]

    def draw(self, data):
        sets = data["sets"]
        figure = base.new_figure(max(4.0, 1.9 * len(sets) + 0.9), 4.2)
        axes = figure.subplots(2, max(1, len(sets)), squeeze=False)
        image = None
        for column, (name, one) in zip(axes.T, sets.items(), strict=False):
            order = np.array(one["order"])
            for ax, model in zip(column, self.rows, strict=True):
                matrix = work.from_triangle(one[model]["cooccurrence"])[np.ix_(order, order)]
                image = base.draw_together(ax, matrix, one[model]["clusters"])
            column[0].set_title(f"{name} ({len(order)} annotators)", fontsize=9)
        for ax, model in zip(axes[:, 0], self.rows, strict=True):
            ax.set_ylabel(MODELS[model], fontsize=10)
        if image is not None:
            bar = figure.colorbar(image, ax=axes, shrink=0.7, ticks=[0, 1])
            bar.set_label("probability of one cluster")
        return figure


def undecided(together: NDArray[np.float64]) -> float:
    """Give the share of pairs of which it is unclear whether they are together: 10 to 90 %.

    Examples
    --------
    >>> undecided(np.array([[1, 0.5, 0], [0.5, 1, 0.95], [0, 0.95, 1]]))
    0.333333
    """
    pairs = together[np.triu_indices(len(together), 1)]
    return round(float(((pairs > 0.1) & (pairs < 0.9)).mean()), 6)
