"""Accuracy less the vote's, database by database: what the two sparsity figures share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from coterie.studies.job import Job
from coterie.studies.paper.experiment import Data
from coterie.studies.paper.job import Result, Results, job
from coterie.studies.paper.paper import MODELS
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import LOOK_OF, clean, model_name, say_how
from coterie.studies.paper.work import CLUSTERED, SAMPLERS, thinned
from coterie.studies.table import Table
from coterie.words.numbers import in_percent, reach, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAIRS = (("cbcc", "ibcc"), ("hcbcc", "ibcc"), ("hcbcc", "cbcc"))


def databases(settings: Settings, data: str, level: float) -> list[Job]:
    """Fit every model to every random database of a level."""
    return [
        job(thinned, data=data, level=level, database=database, model=model)
        for database in range(settings.databases)
        for model in MODELS
    ]


def gather_level(settings: Settings, results: Results, data: str, level: float) -> Data:
    """Compare the models on the databases of a level, pair by pair."""

    def of(model: str) -> list[Result]:
        wanted = (
            job(thinned, data=data, level=level, database=database, model=model)
            for database in range(settings.databases)
        )
        return [results[one.name] for one in wanted]

    return compare({model: of(model) for model in MODELS}, level)


def compare(found: Mapping[str, Sequence[Result]], sparsity: float) -> Data:
    """Compare models on the same databases, in percentage points.

    Parameters
    ----------
    found
        The results of each model, one per database, in the same order.
    sparsity
        Share of missing labels.
    """
    accuracy = {
        model: 100 * np.array([one["accuracy"] for one in of]) for model, of in found.items()
    }
    shared = 100 * np.array([one["accuracy_ties_shared"] for one in found["majority"]])
    level: Data = {
        "sparsity": sparsity,
        "databases": len(shared),
        "accuracy": {model: float(values.mean()) for model, values in accuracy.items()},
        "accuracy_majority_ties_shared": float(shared.mean()),
        "improvement": {
            model: interval(accuracy[model] - accuracy["majority"]) for model in SAMPLERS
        },
        "improvement_ties_shared": {
            model: interval(accuracy[model] - shared) for model in SAMPLERS
        },
        "gain": {f"{a}-{b}": interval(accuracy[a] - accuracy[b]) for a, b in PAIRS},
        "clusters": {
            model: interval(np.array([np.mean(one["clusters"]) for one in found[model]]))
            for model in CLUSTERED
        },
    }
    if all("pairs_wrong" in one for one in found["hcbcc"]):
        level["pairs_wrong"] = {
            model: interval(100 * np.array([one["pairs_wrong"] for one in found[model]]))
            for model in CLUSTERED
        }
    return level


def interval(values: np.ndarray[Any, Any]) -> dict[str, float | None]:
    """Give mean, standard deviation, and the 95 % t-interval of the mean; null for one value.

    Examples
    --------
    >>> interval(np.array([1.0, 2.0, 3.0]))
    {'mean': 2.0, 'sd': 1.0, 'low': -0.484138, 'high': 4.484138}
    """
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return {"mean": round(mean, 6), "sd": None, "low": None, "high": None}
    sd = float(values.std(ddof=1))
    half = float(stats.t.ppf(0.975, n - 1)) * sd / math.sqrt(n)
    return {
        "mean": round(mean, 6),
        "sd": round(sd, 6),
        "low": round(mean - half, 6),
        "high": round(mean + half, 6),
    }


def table(name: str, levels: Sequence[Data]) -> Table:
    """One row per level: the vote's accuracy, improvements with intervals, clusters."""
    rows = [
        [
            in_percent(level["sparsity"]),
            str(level["databases"]),
            f"{level['accuracy']['majority']:.2f}",
            *(with_interval(level["improvement"][model]) for model in SAMPLERS),
            *(f"{level['clusters'][model]['mean']:.2f}" for model in CLUSTERED),
        ]
        for level in levels
    ]
    header = ["missing, %", "databases", "vote, %", *(model_name(model) for model in SAMPLERS)]
    header += [f"clusters {model_name(model)}" for model in CLUSTERED]
    return Table(f"{name}: improvement over the vote, points", header, rows)


def with_interval(one: Mapping[str, float | None]) -> str:
    """Write a mean difference with its interval.

    Examples
    --------
    >>> with_interval({"mean": -1.25, "low": -2.0, "high": 0.5})
    '−1.25 (−2.00 to +0.50)'
    """
    mean, low, high = one["mean"], one["low"], one["high"]
    assert mean is not None
    if low is None or high is None:
        return signed(mean)
    each = "each time" if signed(low) == signed(high) else reach(low, high)
    return f"{signed(mean)} ({each})"


def draw_curves(ax: Axes, name: str, levels: Sequence[Data]) -> None:
    """Draw improvement against sparsity: means, bands of their 95 % intervals."""
    sparsity = [100 * level["sparsity"] for level in levels]
    for model in SAMPLERS:
        look = LOOK_OF[model]
        points = [level["improvement"][model] for level in levels]
        mean = [point["mean"] for point in points]
        low, high = (
            [point["mean"] if point[end] is None else point[end] for point in points]
            for end in ("low", "high")
        )
        ax.fill_between(sparsity, low, high, color=look.color, alpha=0.2, linewidth=0)
        ax.plot(
            sparsity, mean, color=look.color, marker=look.marker, markersize=4, linewidth=1.4,
            label=model_name(model),
        )  # fmt: skip
    ax.axhline(0, color="#555555", linewidth=0.9, linestyle="--")
    ax.set_title(name, fontsize=9)
    ax.set_xlabel("missing labels, %")
    clean(ax)


def explain(figure: Figure, data: Data) -> Figure:
    """Add one legend for all panels of curves, and how they were made."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    say_how(figure, data)
    return figure
