"""The paper's formulas: the prior correlation of two annotators, and the limits of the models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import coterie
from coterie.studies.table import Table
from coterie.words.numbers import in_percent
from reproduction import base, work
from reproduction.base import Experiment
from reproduction.settings import MODELS, Settings
from reproduction.work import Result, job

FloatArray = NDArray[np.float64]

MEAN = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.3, 0.45]]
"""eta: no two cells of a row alike, so that an exchange of rows and columns would show."""
CASES = (
    ("ibcc", 3.0, math.inf),
    *((m, beta, a) for m in ("cbcc", "hcbcc") for beta in (3.0, 10.0) for a in (0.1, 1.0, 10.0)),
)
"""Model, beta (phi in hcBCC), alpha."""


def correlation_formula(mean: FloatArray, strength: float, concentration: float) -> FloatArray:
    """Give the prior correlation of two annotators' answers, given the truth.

    ``1 / ((1 + alpha)(1 + beta))`` for equal answers; for different answers a, b its negative
    times ``sqrt(eta_a eta_b / ((1 - eta_a)(1 - eta_b)))``. In hcBCC, phi stands for beta; alpha is
    infinity where every annotator is alone (iBCC). Shape (classes, answers, answers).

    >>> correlation_formula(np.array([[0.5, 0.5]]), 3.0, 1.0)
    array([[[ 0.125, -0.125],
            [-0.125,  0.125]]])
    """
    odds = np.sqrt(mean / (1 - mean))
    shape = -odds[:, :, None] * odds[:, None, :]
    same = np.arange(mean.shape[1])
    shape[:, same, same] = 1.0
    correlation: FloatArray = shape / ((1 + concentration) * (1 + strength))
    return correlation


def correlation(
    settings: Settings, seed: int, model: str, strength: float, concentration: float
) -> Result:
    """Estimate the prior correlation from crowds drawn from a prior, with its standard error.

    Given the matrices of two annotators their answers are independent, so that the products of
    the matrices' cells are averaged, which is what products of answers would tend to. Pairs of
    one crowd share clusters: the crowd is the independent unit.
    """
    mean, n = np.asarray(MEAN), 10
    rng = np.random.default_rng(seed)
    alpha = {"concentration": concentration}
    prior: Any = {
        "ibcc": lambda: coterie.IBCCPrior(mean=MEAN, strength=strength),
        "cbcc": lambda: coterie.CBCCPrior(mean=MEAN, strength=strength, **alpha),
        "hcbcc": lambda: coterie.HCBCCPrior(mean=MEAN, mean_strength=strength, **alpha),
    }[model]()
    told = {"items": 1, "annotators": n, "classes": 3, "labels_per_item": 1, "random_state": rng}
    crowds = [coterie.simulate(prior, **told).confusion for _ in range(settings.crowds)]
    deviation = (np.array(crowds) - mean) / np.sqrt(mean * (1 - mean))
    # d_l[t, a] d_l'[t, b], averaged over the pairs l != l' of each crowd.
    total = deviation.sum(axis=1)
    everything = np.einsum("kta,ktb->ktab", total, total)
    itself = np.einsum("klta,kltb->ktab", deviation, deviation)
    products = (everything - itself) / (n * (n - 1))
    error = products.std(axis=0, ddof=1) / np.sqrt(len(products))
    return {"estimate": products.mean(axis=0).tolist(), "error": error.tolist()}


class Correlation(Experiment):
    name = "correlation"
    title = "The prior correlation of two annotators"
    source = "Equation of the prior correlation, and its appendix"

    def jobs(self, settings):
        return [
            job(correlation, model=model, strength=strength, concentration=alpha)
            for model, strength, alpha in CASES
        ]

    def gather(self, settings, results):
        cases = []
        for (model, strength, alpha), one in zip(CASES, self.jobs(settings), strict=True):
            case = {"model": model, "strength": strength}
            case["concentration"] = None if math.isinf(alpha) else alpha  # JSON has no infinity
            formula = correlation_formula(np.asarray(MEAN), strength, alpha)
            estimate, error = (np.array(results[one.name][key]) for key in ("estimate", "error"))
            arrays = {"formula": formula, "estimate": estimate, "error": error}
            case |= {name: array.round(8).tolist() for name, array in arrays.items()}
            case["furthest"] = float(np.abs((estimate - formula) / error).max())
            cases.append(case)
        return {"mean": MEAN, "crowds": settings.crowds, "cases": cases}

    def tables(self, data):
        rows = []
        for case in data["cases"]:
            alpha = case["concentration"]
            row = [MODELS[case["model"]], f"{case['strength']:g}"]
            row += ["infinite" if alpha is None else f"{alpha:g}"]
            for b in (0, 1):  # the same answer, and another
                formula, estimate, error = (
                    case[key][0][0][b] for key in ("formula", "estimate", "error")
                )
                row += [f"{formula:.4f}", f"{estimate:.4f} ± {error:.4f}"]
            rows.append([*row, f"{case['furthest']:.1f}"])
        header = [
            "model", "beta (phi)", "alpha", "equal answers: formula", "draws",
            "different: formula", "draws", "furthest cell, standard errors",
        ]  # fmt: skip
        return [Table("Given a true class whose prior mean is (0.7, 0.2, 0.1)", header, rows)]

    def draw(self, data):
        figure = base.new_figure(4.4, 3.8)
        ax = figure.subplots()
        for model in ("ibcc", "cbcc", "hcbcc"):
            cases = [case for case in data["cases"] if case["model"] == model]
            formula, estimate, error = (
                np.concatenate([np.ravel(case[key]) for case in cases])
                for key in ("formula", "estimate", "error")
            )
            look = base.LOOK_OF[model]
            ax.errorbar(
                formula, estimate, 2 * error, fmt=look.marker, color=look.color, markersize=3.5,
                elinewidth=0.8, alpha=0.8, label=MODELS[model],
            )  # fmt: skip
        ends = [min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])]
        ax.plot(ends, ends, color="#555555", linewidth=0.8, zorder=0)
        ax.set_xlabel("correlation by the formula")
        ax.set_ylabel("correlation in draws, ± 2 standard errors")
        ax.legend(frameon=False)
        base.clean(ax)
        return figure


def _limits() -> dict[str, tuple[Any, Any]]:
    """Name the limits: a model near its limit, and what it should become."""
    c, hc, g = coterie.CBCCPrior, coterie.HCBCCPrior, coterie.Gamma
    return {
        "alpha to infinity in cBCC": (coterie.CBCC(prior=c(concentration=1e12)), coterie.IBCC()),
        "beta to infinity in hcBCC": (
            coterie.HCBCC(prior=hc(strength=g(1e8, 1e2))),
            coterie.CBCC(),
        ),
        "phi, a, b to infinity in hcBCC, a/b = 3": (
            coterie.HCBCC(prior=hc(mean_strength=1e7, strength=g(3e7, 1e7))),
            coterie.IBCC(),
        ),
        "alpha to 0 in cBCC": (coterie.CBCC(prior=c(concentration=1e-12)), coterie.MajorityVote()),
    }


BECOMES = dict(zip(_limits(), ("iBCC", "cBCC", "iBCC", "the vote, says the paper"), strict=True))
VOTE = list(BECOMES)[-1]


def limit(settings: Settings, seed: int, limit: str) -> Result:
    """Fit a model near a limit, and what it should become, to one crowd; compare the items.

    The yardstick is the distance between two independent runs of the limiting model itself.
    """
    crowd = coterie.simulate("mixed", items=60, annotators=12, classes=3, random_state=seed)
    near, target = _limits()[limit]
    found = []
    for k, model in enumerate((near, target, target)):
        if hasattr(model, "sweeps"):
            model.set_params(**work.chains_of(settings, seed + k, settings.chains))
        found.append(model.fit(crowd.annotations).predict_proba().to_numpy())
    first, second, again = found
    many = target.posterior_.abilities.coteries
    return {
        "difference": float(np.abs(first - second).max()),
        "yardstick": float(np.abs(second - again).max()),
        "labels_differ": float((first.argmax(axis=1) != second.argmax(axis=1)).mean()),
        "clusters": float(near.posterior_.n_coteries.mean()),
        "clusters_of_limit": float(target.posterior_.n_coteries.mean()) if many else None,
        "annotators": crowd.annotations.n_annotators,
    }


class Limits(Experiment):
    name = "limits"
    title = "The limits of the models"
    source = "Related work, and the text after the priors"

    def jobs(self, settings):
        return [job(limit, limit=name) for name in BECOMES]

    def gather(self, settings, results):
        jobs = zip(BECOMES.items(), self.jobs(settings), strict=True)
        return {"limits": {n: {"becomes": what, **results[one.name]} for (n, what), one in jobs}}

    def tables(self, data):
        rows = []
        # In the last but one limit all clusters are alike: their number means nothing.
        expected = dict(zip(BECOMES, ("{annotators:.2f}", "{clusters_of_limit:.2f}", "any", "1.00"),
                            strict=True))  # fmt: skip
        for name, one in data["limits"].items():
            distances = [f"{one[key]:.4f}" for key in ("difference", "yardstick")]
            row = [name, one["becomes"], *(["–", "–"] if name == VOTE else distances)]
            row += [in_percent(one["labels_differ"], 1), f"{one['clusters']:.2f}"]
            rows.append([*row, expected[name].format(**one)])
        header = [
            "limit", "becomes", "largest difference of a probability",
            "between two runs of the limit", "labels that differ, %", "clusters",
            "clusters in the limit",
        ]  # fmt: skip
        return [Table("On one crowd of 60 items and 12 annotators", header, rows, left=(0, 1))]

    def draw(self, data):
        names = [name for name in data["limits"] if name != VOTE]
        figure = base.new_figure(6.4, 2.0)
        ax = figure.subplots()
        for key, label, look in (
            ("difference", "model at its limit, and what it becomes", base.LOOK_OF["hcbcc"]),
            ("yardstick", "two runs of what it becomes", base.LOOK_OF["majority"]),
        ):
            values = [data["limits"][name][key] for name in names]
            ax.plot(values, range(len(names)), look.marker, color=look.color, label=label)
        ax.set_yticks(range(len(names)), [f"{name}: {BECOMES[name]}" for name in names])
        ax.set_xlim(left=0)
        ax.margins(y=0.3)
        ax.invert_yaxis()
        ax.set_xlabel("largest difference of an item's probability")
        base.clean(ax)
        figure.legend(loc="outside upper center", ncols=2, frameon=False)
        return figure
