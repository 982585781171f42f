"""What jobs do: fit one model to one data set and give the numbers that are wanted of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import coterie
from coterie.abilities import SAMPLED
from coterie.studies.paper.crowds import PRIOR, synthetic
from coterie.studies.paper.job import Result, seed_of
from coterie.studies.paper.paper import SHOWN
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.thinning import thin

SAMPLERS = {"ibcc": coterie.IBCC, "cbcc": coterie.CBCC, "hcbcc": coterie.HCBCC}
CLUSTERED = tuple(name for name, model in SAMPLERS.items() if model.abilities.coteries)
GROUPING = "hcbcc"
"""The model whose coteries are shown."""

load = lru_cache(maxsize=None)(coterie.datasets.load)


def describe(settings: Settings, seed: int, data: str) -> Result:
    """Count the items, annotators and labels of a real set."""
    annotations = load(data).annotations
    return {
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "labels": annotations.n_labels,
        "labels_per_annotator": float(annotations.labels_per_annotator.mean()),
        "labels_per_item": float(annotations.labels_per_item.mean()),
        "sparsity": annotations.sparsity,
    }


def whole(settings: Settings, seed: int, data: str, model: str, run: int) -> Result:
    """Fit a model to a whole real set; pool the chains.

    The first run also gives the co-occurrences, and hcBCC's coteries.
    """
    dataset = load(data)
    posterior = _fit(model, dataset.annotations, settings, seed, chains=settings.chains)
    result = _scores(posterior, dataset.truth)
    if posterior.method not in SAMPLED:
        return result
    result["converged"] = posterior.converged
    result["chains_left_out"] = len(posterior.run["left_out"])
    if posterior.abilities.coteries:
        result["clusters"] = posterior.n_coteries.mean(axis=1).tolist()
        if run == 0:
            result["cooccurrence"] = percent_triangle(posterior.cooccurrence().to_numpy())
            if model == GROUPING:
                result |= _grouping(posterior, SHOWN[data])
    return result


def thinned(
    settings: Settings, seed: int, data: str, level: float, database: int, model: str
) -> Result:
    """Fit a model to a random database: a set of which a share of the labels is left."""
    real = data in settings.real_sets
    source = load(data) if real else synthetic(data, settings)
    groups = None if real else source.groups
    name = f"database data={data} level={level} database={database}"  # the same for every model
    rng = np.random.default_rng(seed_of(settings.seed, name))
    annotations = thin(source.annotations, level, rng)
    prior = "paper" if groups is None else PRIOR.get(model, "paper")
    posterior = _fit(model, annotations, settings, seed, chains=1, prior=prior)
    result = _scores(posterior, source.truth) | {"labels": annotations.n_labels}
    if posterior.abilities.coteries:
        result["clusters"] = float(posterior.n_coteries.mean())
        if groups is not None:
            together = posterior.cooccurrence().to_numpy()
            result["pairs_wrong"] = pairs_wrong(together, groups)
            if database == 0:
                result["cooccurrence"] = percent_triangle(together)
    return result


def _fit(
    model: str,
    annotations: coterie.Annotations,
    settings: Settings,
    seed: int,
    *,
    chains: int,
    prior: Any = "paper",
) -> coterie.Posterior:
    if model not in SAMPLERS:
        return coterie.MajorityVote(probabilities="shares").fit(annotations).posterior_
    estimator = SAMPLERS[model](
        prior=prior,
        sweeps=settings.sweeps,
        burn_in=settings.burn_in,
        early_stop=False,
        chains=chains,
        random_state=seed,
        n_jobs=1,
        progress=False,
    )
    return estimator.fit(annotations).posterior_


def _scores(posterior: coterie.Posterior, truth: pd.Series) -> Result:
    """Score the labels, ties to the lowest class, as the paper does; and with ties shared."""
    score = posterior.score(truth, ties="lowest")
    return {
        "items": score.items,
        "right": round(score.accuracy * score.items),
        "accuracy": score.accuracy,
        "accuracy_ties_shared": posterior.score(truth).accuracy,
    }


def _grouping(posterior: coterie.Posterior, asked: int) -> Result:
    """Give the coteries, as many as there are and so many as asked for, and an order by them."""
    point = posterior.partition()
    order = np.lexsort((-np.nan_to_num(point.membership), point.group))
    return {
        "order": order.tolist(),
        "classes": [str(name) for name in posterior.annotations.classes],
        "coteries": _coteries(posterior, None),
        "coteries_asked": _coteries(posterior, asked),
    }


def _coteries(posterior: coterie.Posterior, k: int | None) -> list[dict[str, Any]]:
    """Describe the coteries of the point partition, of so many if told."""
    numbers = ("share", "label_share", "accuracy", "accuracy_low", "accuracy_high")
    found = []
    for _, row in posterior.coteries(k).iterrows():
        matrix = posterior.confusion(coterie=int(row["coterie"]), k=k).to_numpy()
        found.append(
            {
                "size": int(row["size"]),
                **{name: round(float(row[name]), 6) for name in numbers},
                "role": str(row["role"]),
                "matrix": matrix.round(4).tolist(),
            }
        )
    return found


def pairs_wrong(together: NDArray[np.float64], groups: pd.Series) -> float:
    """Give the expected share of pairs that are together and should not be, or the reverse.

    Examples
    --------
    >>> pairs_wrong(np.array([[1, 0.8, 0], [0.8, 1, 0.4], [0, 0.4, 1]]), pd.Series([1, 1, 2]))
    0.2
    """
    true = groups.to_numpy()[:, None] == groups.to_numpy()
    above = np.triu_indices(len(true), 1)
    return round(float(np.abs(together - true)[above].mean()), 12)


def percent_triangle(matrix: NDArray[np.float64]) -> list[list[int]]:
    """Write a symmetric matrix of probabilities as whole percents, the part below the diagonal.

    Examples
    --------
    >>> percent_triangle(np.array([[1, 0.25, 0], [0.25, 1, 0.4], [0, 0.4, 1]]))
    [[], [25], [0, 40]]
    """
    percent = np.rint(100 * matrix).astype(int)
    return [percent[l, :l].tolist() for l in range(len(percent))]


def from_triangle(rows: list[list[int]]) -> NDArray[np.float64]:
    """Read what :func:`percent_triangle` writes: the whole matrix, shape (annotators, annotators).

    Examples
    --------
    >>> from_triangle([[], [25], [0, 40]])
    array([[1.  , 0.25, 0.  ],
           [0.25, 1.  , 0.4 ],
           [0.  , 0.4 , 1.  ]])
    """
    matrix = np.eye(len(rows))
    for l, row in enumerate(rows):
        matrix[l, :l] = matrix[:l, l] = np.array(row) / 100
    return matrix
