"""The prior correlation of two annotators: the paper's formula against draws from the priors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coterie.studies.job import Job
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import Results, job
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import LOOK_OF, clean, model_name, new_figure, say_how
from coterie.studies.paper.theory import MEAN, correlation_formula
from coterie.studies.paper.theory import correlation as draw_crowds
from coterie.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASES = (
    ("ibcc", 3.0, math.inf),
    *(
        (model, strength, concentration)
        for model in ("cbcc", "hcbcc")
        for strength in (3.0, 10.0)
        for concentration in (0.1, 1.0, 10.0)
    ),
)
"""Model, beta (phi in hcBCC), alpha."""
FAR = 4.0
"""Standard errors beyond which an estimate is called far from the formula."""


def jobs(settings: Settings) -> list[Job]:
    """Draw crowds from each prior."""
    return [_job(*case) for case in CASES]


def _job(model: str, strength: float, concentration: float) -> Job:
    return job(draw_crowds, model=model, strength=strength, concentration=concentration)


def gather(settings: Settings, results: Results) -> Data:
    """Set the formula beside the estimates, cell by cell (true class, answer, answer)."""
    cases = []
    for model, strength, concentration in CASES:
        found = results[_job(model, strength, concentration).name]
        formula = correlation_formula(np.asarray(MEAN), strength, concentration)
        distance = (np.array(found["estimate"]) - formula) / np.array(found["error"])
        cases.append(
            {
                "model": model,
                "strength": strength,
                # JSON has no infinity.
                "concentration": None if math.isinf(concentration) else concentration,
                "formula": formula.round(8).tolist(),
                "estimate": np.array(found["estimate"]).round(8).tolist(),
                "error": np.array(found["error"]).round(8).tolist(),
                "furthest": float(np.abs(distance).max()),
            }
        )
    return {"mean": MEAN, "crowds": settings.crowds, "cases": cases}


def tables(data: Data) -> list[Table]:
    """One row per prior: the correlation of equal answers, and the furthest of all 27 cells."""
    rows = []
    for case in data["cases"]:
        alpha = "infinite" if case["concentration"] is None else f"{case['concentration']:g}"
        rows.append(
            [
                model_name(case["model"]),
                f"{case['strength']:g}",
                alpha,
                f"{case['formula'][0][0][0]:.4f}",
                f"{case['estimate'][0][0][0]:.4f} ± {case['error'][0][0][0]:.4f}",
                f"{case['formula'][0][0][1]:.4f}",
                f"{case['estimate'][0][0][1]:.4f} ± {case['error'][0][0][1]:.4f}",
                f"{case['furthest']:.1f}",
            ]
        )
    header = [
        "model", "beta (phi)", "alpha", "equal answers: formula", "draws", "different: formula",
        "draws", "furthest cell, standard errors",
    ]  # fmt: skip
    return [Table("Given a true class whose prior mean is (0.7, 0.2, 0.1)", header, rows)]


def words(data: Data) -> list[str]:
    """Say whether the formula holds."""
    furthest = max(case["furthest"] for case in data["cases"])
    holds = "agrees with" if furthest <= FAR else "DIFFERS from"
    n = sum(np.size(case["formula"]) for case in data["cases"])
    return [
        f"The formula {holds} {data['crowds']:,} crowds a prior in all {n} cells: the furthest is "
        f"{furthest:.1f} standard errors away. It holds for a fixed alpha; in hcBCC phi stands for "
        "beta, and in iBCC every correlation is zero."
    ]


def draw(data: Data) -> Figure:
    """Draw estimates against the formula."""
    figure = new_figure(4.4, 3.8)
    ax = figure.subplots()
    for model in ("ibcc", "cbcc", "hcbcc"):
        cases = [case for case in data["cases"] if case["model"] == model]
        formula, estimate, error = (
            np.concatenate([np.ravel(case[key]) for case in cases])
            for key in ("formula", "estimate", "error")
        )
        look = LOOK_OF[model]
        ax.errorbar(
            formula, estimate, 2 * error, fmt=look.marker, color=look.color, markersize=3.5,
            elinewidth=0.8, alpha=0.8, label=model_name(model),
        )  # fmt: skip
    ends = [min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])]
    ax.plot(ends, ends, color="#555555", linewidth=0.8, zorder=0)
    ax.set_xlabel("correlation by the formula")
    ax.set_ylabel("correlation in draws, ± 2 standard errors")
    ax.legend(frameon=False)
    clean(ax)
    say_how(figure, data)
    return figure


EXPERIMENT = Experiment(
    "correlation",
    "The prior correlation of two annotators",
    "Equation of the prior correlation, and its appendix",
    jobs,
    gather,
    tables,
    words,
    draw,
)
