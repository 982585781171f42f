"""Fewer and fewer labels: improvement over the vote, and who is with whom, synthetic and real."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy import stats

from coterie.datasets import REGISTRY
from coterie.plots.colours import DARK
from coterie.studies.pool import Job
from coterie.studies.table import Table
from coterie.words.numbers import in_percent, reach, signed
from reproduction import base, work
from reproduction.base import Data, Experiment
from reproduction.real import Accuracy, found_runs
from reproduction.settings import CLUSTERED, MODELS, SAMPLED, Settings
from reproduction.work import Result, Results, job


def databases(settings: Settings, data: str, level: float, model: str) -> list[Job]:
    """Fit a model to every random database of a level."""
    return [
        job(work.thinned, data=data, level=level, database=database, model=model)
        for database in range(settings.databases)
    ]


def every_model(settings: Settings, data: str, levels: Sequence[float]) -> list[Job]:
    """Fit every model to every random database of these levels, database by database."""
    by_model = [[databases(settings, data, level, m) for m in MODELS] for level in levels]
    return [one for level in by_model for database in zip(*level, strict=True) for one in database]


def gather_level(settings: Settings, results: Results, data: str, level: float) -> Data:
    """Compare the models on the databases of a level, pair by pair."""
    jobs = {model: databases(settings, data, level, model) for model in MODELS}
    return compare({model: [results[one.name] for one in of] for model, of in jobs.items()}, level)


def compare(found: Mapping[str, Sequence[Result]], sparsity: float) -> Data:
    """Compare models, by their results on the same databases, in percentage points."""
    accuracy = {model: _percent(of, "accuracy") for model, of in found.items()}
    shared = _percent(found["majority"], "accuracy_ties_shared")
    pairs = (("cbcc", "ibcc"), ("hcbcc", "ibcc"), ("hcbcc", "cbcc"))
    level: Data = {
        "sparsity": sparsity,
        "databases": len(shared),
        "accuracy": {model: float(values.mean()) for model, values in accuracy.items()},
        "accuracy_majority_ties_shared": float(shared.mean()),
        "improvement": {m: interval(accuracy[m] - accuracy["majority"]) for m in SAMPLED},
        "improvement_ties_shared": {m: interval(accuracy[m] - shared) for m in SAMPLED},
        "gain": {f"{a}-{b}": interval(accuracy[a] - accuracy[b]) for a, b in pairs},
        "clusters": {
            m: interval(np.array([np.mean(one["clusters"]) for one in found[m]])) for m in CLUSTERED
        },
    }
    if all("pairs_wrong" in one for one in found["hcbcc"]):
        level["pairs_wrong"] = {m: interval(_percent(found[m], "pairs_wrong")) for m in CLUSTERED}
    return level


def _percent(results: Sequence[Result], name: str) -> np.ndarray[Any, Any]:
    return 100 * np.array([one[name] for one in results])


def interval(values: np.ndarray[Any, Any]) -> dict[str, float | None]:
    """Give mean, standard deviation, and the 95 % t-interval of the mean; null for one value.

    >>> interval(np.array([1.0, 2.0, 3.0]))
    {'mean': 2.0, 'sd': 1.0, 'low': -0.484138, 'high': 4.484138}
    """
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return {"mean": round(mean, 6), "sd": None, "low": None, "high": None}
    sd = float(values.std(ddof=1))
    half = float(stats.t.ppf(0.975, n - 1)) * sd / math.sqrt(n)
    found = {"mean": mean, "sd": sd, "low": mean - half, "high": mean + half}
    return {name: round(value, 6) for name, value in found.items()}


def with_interval(one: Mapping[str, Any]) -> str:
    """Write a mean difference with its interval.

    >>> with_interval({"mean": -1.25, "low": -2.0, "high": 0.5})
    '−1.25 (−2.00 to +0.50)'
    """
    mean, low, high = one["mean"], one["low"], one["high"]
    if low is None:
        return signed(mean)
    each = "each time" if signed(low) == signed(high) else reach(low, high)
    return f"{signed(mean)} ({each})"


def improvement_table(name: str, levels: Sequence[Data]) -> Table:
    """One row per level: the vote's accuracy, improvements with intervals, clusters."""
    rows = [
        [
            in_percent(level["sparsity"]),
            str(level["databases"]),
            f"{level['accuracy']['majority']:.2f}",
            *(with_interval(level["improvement"][model]) for model in SAMPLED),
            *(f"{level['clusters'][model]['mean']:.2f}" for model in CLUSTERED),
        ]
        for level in levels
    ]
    header = ["missing, %", "databases", "vote, %", *(MODELS[model] for model in SAMPLED)]
    header += [f"clusters {MODELS[model]}" for model in CLUSTERED]
    return Table(f"{name}: improvement over the vote, points", header, rows)


def draw_curves(ax: Axes, name: str, levels: Sequence[Data]) -> None:
    """Draw improvement against sparsity: means, bands of their 95 % intervals."""
    sparsity = [100 * level["sparsity"] for level in levels]
    for model in SAMPLED:
        look = base.LOOK_OF[model]
        points = [level["improvement"][model] for level in levels]
        mean = [point["mean"] for point in points]
        low, high = (
            [point["mean"] if point[end] is None else point[end] for point in points]
            for end in ("low", "high")
        )
        ax.fill_between(sparsity, low, high, color=look.color, alpha=0.2, linewidth=0)
        ax.plot(
            sparsity, mean, color=look.color, marker=look.marker, markersize=4, linewidth=1.4,
            label=MODELS[model],
        )  # fmt: skip
    ax.axhline(0, color="#555555", linewidth=0.9, linestyle="--")
    ax.set_title(name, fontsize=9)
    ax.set_xlabel("missing labels, %")
    base.clean(ax)


def levels_of(settings: Settings, data: str) -> list[float]:
    """Give the levels above a set's own sparsity that every random thinning can reach."""
    size = REGISTRY[data].items, REGISTRY[data].annotators
    above = (level for level in settings.real_levels if level > own_sparsity(data))
    return [level for level in above if work.n_kept(*size, level) >= sum(size)]


def own_sparsity(data: str) -> float:
    """Give the share of missing labels of a whole set."""
    return 1 - REGISTRY[data].labels / (REGISTRY[data].items * REGISTRY[data].annotators)


class Sparsity(Experiment):
    """Improvement over the vote against sparsity, a panel per set."""

    size: tuple[float, float]
    panels: tuple[int, int]
    titles: Mapping[str, str] = {}

    def tables(self, data):
        sets = data["sets"].items()
        return [improvement_table(self.titles.get(name, name), levels) for name, levels in sets]

    def draw(self, data):
        figure = base.new_figure(*self.size)
        axes = figure.subplots(*self.panels, sharey=self.panels[0] == 1, squeeze=False)
        for ax in axes.ravel()[len(data["sets"]) :]:
            ax.set_visible(False)
        for ax, (name, levels) in zip(axes.ravel(), data["sets"].items(), strict=False):
            draw_curves(ax, self.titles.get(name, name), levels)
        for ax in axes[:, 0]:
            ax.set_ylabel("accuracy less the vote's, points")
        base.legend_above(figure, 3)
        return figure


class SparsityReal(Sparsity):
    name = "sparsity-real"
    title = "Fewer labels: the real sets"
    source = 'Figure "Results for real datasets"'
    size, panels = (7.6, 5.2), (2, 2)

    def jobs(self, settings):
        thin = (every_model(settings, d, levels_of(settings, d)) for d in settings.real_sets)
        return [*Accuracy().jobs(settings), *(one for of in thin for one in of)]

    def gather(self, settings, results):
        sets = {}
        for data in settings.real_sets:
            runs = {model: found_runs(settings, results, data, model) for model in MODELS}
            if not runs["majority"]:
                continue
            runs["majority"] = runs["majority"] * len(runs["ibcc"])
            whole = compare(runs, round(own_sparsity(data), 6)) | {"databases": 1}
            thin = [gather_level(settings, results, data, one) for one in levels_of(settings, data)]
            sets[data] = [whole, *thin]
        return {"sets": sets}


class SparsitySynthetic(Sparsity):
    name = "sparsity-synthetic"
    title = "Fewer labels: the synthetic sets"
    source = 'Figures "Results for dataset1", (b), and "Results for dataset2 and dataset3"'
    size, panels = (9.4, 3.2), (1, 3)
    titles = {  # noqa: RUF012
        "dataset1": "dataset1: three types, members differ",
        "dataset2": "dataset2: three types, members are copies",
        "dataset3": "dataset3: one type, members differ",
    }

    def jobs(self, settings):
        every = (every_model(settings, data, settings.levels) for data in self.titles)
        return [one for of in every for one in of]

    def gather(self, settings, results):
        told, levels = (settings, results), settings.levels
        return {"sets": {d: [gather_level(*told, d, one) for one in levels] for d in self.titles}}


class Synthetic(Experiment):
    name = "synthetic"
    title = "The synthetic sets"
    source = 'Figure "Results for dataset1", (a)'
    classes = ("a", "b", "c")

    def gather(self, settings, results):
        crowd = work.synthetic("dataset1", settings)
        types = {}
        for name, mean in work.MEANS.items():
            members = crowd.confusion[crowd.groups.to_numpy() == name]
            expected = np.asarray(mean) * (1 - np.asarray(mean)) / (work.STRENGTH + 1)
            types[name] = {
                "share": work.SHARES[name],
                "members": len(members),
                "mean": mean,
                "sd": np.sqrt(expected).round(4).tolist(),
                "drawn_mean": members.mean(axis=0).round(4).tolist(),
                "drawn_sd": members.std(axis=0).round(4).tolist(),
            }
        size = {"items": settings.items, "annotators": settings.annotators}
        return {"types": types, "strength": work.STRENGTH, **size}

    def tables(self, data):
        rows = [
            [f"{name}, {in_percent(one['share'], 0)} %" if t == 0 else "", true_class]
            + [f"{m:.2f} (sd {s:.2f})" for m, s in zip(one["mean"][t], one["sd"][t], strict=True)]
            for name, one in data["types"].items()
            for t, true_class in enumerate(self.classes)
        ]
        header = ["type and share", "true class", *(f"says {c}" for c in self.classes)]
        title = "Mean confusion matrices, and the spread of the members"
        return [Table(title, header, rows, (0, 1))]

    def draw(self, data):
        figure = base.new_figure(6.6, 4.6)
        axes = figure.subplots(2, len(data["types"]))
        for (above, below), (name, one) in zip(axes.T, data["types"].items(), strict=True):
            base.draw_matrix(above, one["mean"], self.classes)
            above.set_title(f"{name}, {in_percent(one['share'], 0)} %: mean", fontsize=base.FONT)
            base.draw_matrix(below, one["sd"], self.classes)
            below.set_title("members' sd", fontsize=base.FONT)
            below.set_xlabel("given answer")
        for ax in axes[:, 0]:
            ax.set_ylabel("true class")
        return figure


class TogetherSynthetic(Experiment):
    name = "cooccurrence-synthetic"
    title = "Who is with whom: dataset1"
    source = 'Figure "Co-occurency matrices of the users"'

    def jobs(self, settings):
        return [_shown(level, model) for level in settings.levels for model in CLUSTERED]

    def gather(self, settings, results):
        crowd = work.synthetic("dataset1", settings)
        kept = ("clusters", "pairs_wrong", "cooccurrence")
        levels = []
        for level in settings.levels:
            found = {model: results[_shown(level, model).name] for model in CLUSTERED}
            of = {model: {key: one[key] for key in kept} for model, one in found.items()}
            levels.append({"sparsity": level, **of})
        sizes = crowd.groups.value_counts(sort=False)
        return {"types": {str(n): int(size) for n, size in sizes.items()}, "levels": levels}

    def tables(self, data):
        rows = [
            [in_percent(level["sparsity"], 1)]
            + [f"{level[model]['clusters']:.1f}" for model in CLUSTERED]
            + [in_percent(level[model]["pairs_wrong"], 1) for model in CLUSTERED]
            for level in data["levels"]
        ]
        header = ["missing, %", *(f"clusters {MODELS[model]}" for model in CLUSTERED)]
        header += [f"pairs wrong {MODELS[model]}, %" for model in CLUSTERED]
        return [Table("The first database of each level; there are three types", header, rows)]

    def draw(self, data):
        levels = data["levels"]
        figure = base.new_figure(1.45 * len(levels) + 0.9, 3.6)
        axes = figure.subplots(2, len(levels), squeeze=False)
        edges = np.cumsum(list(data["types"].values()))[:-1] - 0.5
        for row, model in zip(axes, CLUSTERED, strict=True):
            for ax, level in zip(row, levels, strict=True):
                together = work.from_triangle(level[model]["cooccurrence"])
                image = base.draw_together(ax, together, level[model]["clusters"])
                for edge in edges:
                    ax.axhline(edge, color=DARK, linewidth=0.5)
                    ax.axvline(edge, color=DARK, linewidth=0.5)
            row[0].set_ylabel(MODELS[model], fontsize=10)
        for ax, level in zip(axes[0], levels, strict=True):
            ax.set_title(f"{in_percent(level['sparsity'], 1)} % missing", fontsize=8)
        label = "probability of one cluster"
        figure.colorbar(image, ax=axes, shrink=0.7, label=label, ticks=[0, 1])
        return figure


def _shown(level: float, model: str) -> Job:
    return job(work.thinned, data="dataset1", level=level, database=0, model=model)
