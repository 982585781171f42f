"""What is computed: one model fitted to one data set, whole or thinned, and the numbers of it.

To thin a set to ``n`` labels:

1. of every item, keep one of its labels, each equally likely;
2. of every annotator who has none among those, keep one of theirs, each equally likely;
3. of the labels that are left, keep as many more as are missing to ``n``, every subset equally
   likely.

So every item and every annotator keeps at least one label. The first two steps keep at most one
label per item and one per annotator: ``n >= items + annotators`` always works.

The paper shows the clusters of its synthetic sets only as a picture: the three types here are
ours. Members of a type differ as in hcBCC's generative model, Psi[l, t] ~ Dir(15 eta[t]), where
15 is the prior mean a / b of beta with the synthetic experiments' a = 30, b = 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import coterie
from coterie.errors import DataError
from coterie.simulation import Group
from coterie.studies.pool import Job
from reproduction.settings import CLUSTERED, PAPER, SAMPLED, Settings

Result = dict[str, Any]
"""What a job gives, ready for JSON."""
Results = Mapping[str, Result]
"""Results by the names of the jobs."""

STRENGTH = 15.0
MEANS = {
    "expert": [[0.85, 0.10, 0.05], [0.05, 0.85, 0.10], [0.10, 0.05, 0.85]],
    "novice": [[0.55, 0.25, 0.20], [0.20, 0.55, 0.25], [0.25, 0.20, 0.55]],
    "says c": [[0.20, 0.15, 0.65], [0.15, 0.20, 0.65], [0.10, 0.15, 0.75]],
}
SHARES = {"expert": 0.25, "novice": 0.45, "says c": 0.30}
SYNTHETIC_PRIOR = {"hcbcc": coterie.HCBCCPrior(strength=coterie.Gamma(30.0, 2.0))}

load = lru_cache(maxsize=None)(coterie.datasets.load)


def job(work: Callable[..., Result], **told: str | int | float) -> Job:
    """Make a job, whoever asks for it: of one name ("describe data=rte") it is done once."""
    words = [f"{key}={value}" for key, value in told.items()]
    return Job(" ".join([work.__name__, *words]), work, told)


def seed_of(root: int, name: str) -> int:
    """Derive a seed from a name: the order of jobs, or which others there are, changes nothing."""
    return int(np.random.SeedSequence([root, *name.encode()]).generate_state(2, np.uint64)[0])


def seeded(job: Job, settings: Settings) -> Job:
    """Give a job that can be done: it is told the settings and its seed too."""
    seed = seed_of(settings.seed, job.name)
    return replace(job, told={"settings": settings, "seed": seed, **job.told})


# ---- data


@lru_cache(maxsize=8)
def synthetic(name: str, settings: Settings) -> coterie.Crowd:
    """Draw a synthetic set in which everybody has labelled everything.

    ``dataset1``: the three types, members differ (hcBCC's model); ``dataset2``: the same means,
    members are copies (cBCC's model); ``dataset3``: novices only, each with a matrix of their own
    (iBCC's model).
    """
    strength = np.inf if name == "dataset2" else STRENGTH
    kinds = ["novice"] if name == "dataset3" else list(MEANS)
    return coterie.simulate(
        [Group(kind, MEANS[kind], strength, SHARES[kind]) for kind in kinds],
        items=settings.items,
        annotators=settings.annotators,
        classes=3,
        labels_per_item=settings.annotators,
        random_state=np.random.default_rng(np.random.SeedSequence([settings.seed, *name.encode()])),
    )


def choose_labels(
    item: NDArray[np.int64], annotator: NDArray[np.int64], n_kept: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Choose the labels to keep, by the three steps above; sorted, shape (n_kept,)."""
    order = rng.permutation(len(item))  # the first of a random order is one of them at random
    kept = np.zeros(len(item), bool)
    kept[order[np.unique(item[order], return_index=True)[1]]] = True
    covered = np.zeros(int(annotator.max()) + 1, bool)
    covered[annotator[kept]] = True
    order = rng.permutation(np.flatnonzero(~covered[annotator]))
    kept[order[np.unique(annotator[order], return_index=True)[1]]] = True
    missing = n_kept - int(kept.sum())
    if missing < 0 or n_kept > len(item):
        raise DataError(
            f"of {len(item):,} labels, {n_kept:,} cannot be kept so that every item and every "
            f"annotator keeps one; this draw needs at least {int(kept.sum()):,}"
        )
    kept[rng.choice(np.flatnonzero(~kept), missing, replace=False)] = True
    return np.flatnonzero(kept)


def n_kept(items: int, annotators: int, sparsity: float) -> int:
    """Give the number of labels at this share of missing ones."""
    return round((1 - sparsity) * items * annotators)


def thin(
    annotations: coterie.Annotations, sparsity: float, rng: np.random.Generator
) -> coterie.Annotations:
    """Keep so many labels, at random, that this share of all pairs has none."""
    kept = choose_labels(
        annotations.item_of_label.astype(np.int64),
        annotations.codes.item_annotator.astype(np.int64),
        n_kept(annotations.n_items, annotations.n_annotators, sparsity),
        rng,
    )
    return coterie.read(
        annotations.to_frame().iloc[kept],
        item="item",
        annotator="annotator",
        label="label",
        classes=annotations.classes.tolist(),
        extra_answers=annotations.extra_answers.tolist() or None,
    )


# ---- jobs


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
    posterior = _fit(
        model, dataset.annotations, "paper", chains_of(settings, seed, settings.chains)
    )
    result = scores(posterior, dataset.truth)
    if model not in SAMPLED:
        return result
    result["converged"] = posterior.converged
    result["chains_left_out"] = len(posterior.run["left_out"])
    if model in CLUSTERED:
        result["clusters"] = posterior.n_coteries.mean(axis=1).tolist()
        if run == 0:
            result["cooccurrence"] = percent_triangle(posterior.cooccurrence().to_numpy())
    if model == "hcbcc" and run == 0:
        point = posterior.partition()
        result |= {
            "order": np.lexsort((-np.nan_to_num(point.membership), point.group)).tolist(),
            "classes": [str(name) for name in posterior.annotations.classes],
            "coteries": _coteries(posterior, None),
            "coteries_asked": _coteries(posterior, PAPER[data].shown),
        }
    return result


def thinned(
    settings: Settings, seed: int, data: str, level: float, database: int, model: str
) -> Result:
    """Fit a model to a random database: a set of which a share of the labels is left."""
    real = data in settings.real_sets
    source = load(data) if real else synthetic(data, settings)
    name = f"database data={data} level={level} database={database}"  # the same for every model
    rng = np.random.default_rng(seed_of(settings.seed, name))
    annotations = thin(source.annotations, level, rng)
    prior = "paper" if real else SYNTHETIC_PRIOR.get(model, "paper")
    posterior = _fit(model, annotations, prior, chains_of(settings, seed, 1))
    result = scores(posterior, source.truth) | {"labels": annotations.n_labels}
    if model in CLUSTERED:
        result["clusters"] = float(posterior.n_coteries.mean())
        if not real:
            together = posterior.cooccurrence().to_numpy()
            result["pairs_wrong"] = pairs_wrong(together, source.groups)
            if database == 0:
                result["cooccurrence"] = percent_triangle(together)
    return result


def _fit(model: str, data: coterie.Annotations, prior: Any, told: Result) -> coterie.Posterior:
    if model not in SAMPLED:
        return coterie.MajorityVote(probabilities="shares").fit(data).posterior_
    kind = {"ibcc": coterie.IBCC, "cbcc": coterie.CBCC, "hcbcc": coterie.HCBCC}[model]
    return kind(prior=prior, **told).fit(data).posterior_


def chains_of(settings: Settings, seed: int, chains: int) -> dict[str, Any]:
    """Give what every sampler is told: lengths and seed, no early stop, one thread."""
    lengths = {"sweeps": settings.sweeps, "burn_in": settings.burn_in, "chains": chains}
    return {**lengths, "early_stop": False, "random_state": seed, "n_jobs": 1, "progress": False}


def scores(posterior: coterie.Posterior, truth: pd.Series) -> Result:
    """Score the labels, ties to the lowest class, as the paper does; and with ties shared."""
    score = posterior.score(truth, ties="lowest")
    return {
        "items": score.items,
        "right": round(score.accuracy * score.items),
        "accuracy": score.accuracy,
        "accuracy_ties_shared": posterior.score(truth).accuracy,
    }


def _coteries(posterior: coterie.Posterior, k: int | None) -> list[Result]:
    """Describe the coteries of the point partition, of so many if told."""
    numbers = ("share", "label_share", "accuracy", "accuracy_low", "accuracy_high")
    return [
        {
            "size": int(row["size"]),
            **{name: round(float(row[name]), 6) for name in numbers},
            "role": str(row["role"]),
            "matrix": matrix.to_numpy().round(4).tolist(),
        }
        for _, row in posterior.coteries(k).iterrows()
        for matrix in [posterior.confusion(coterie=int(row["coterie"]), k=k)]
    ]


def pairs_wrong(together: NDArray[np.float64], groups: pd.Series) -> float:
    """Give the expected share of pairs that are together and should not be, or the reverse.

    >>> pairs_wrong(np.array([[1, 0.8, 0], [0.8, 1, 0.4], [0, 0.4, 1]]), pd.Series([1, 1, 2]))
    0.2
    """
    true = groups.to_numpy()[:, None] == groups.to_numpy()
    above = np.triu_indices(len(true), 1)
    return round(float(np.abs(together - true)[above].mean()), 12)


def percent_triangle(matrix: NDArray[np.float64]) -> list[list[int]]:
    """Write a symmetric matrix of probabilities as whole percents, the part below the diagonal.

    >>> percent_triangle(np.array([[1, 0.25, 0], [0.25, 1, 0.4], [0, 0.4, 1]]))
    [[], [25], [0, 40]]
    """
    percent = np.rint(100 * matrix).astype(int)
    return [percent[l, :l].tolist() for l in range(len(percent))]


def from_triangle(rows: list[list[int]]) -> NDArray[np.float64]:
    """Read what :func:`percent_triangle` writes, shape (annotators, annotators)."""
    matrix = np.eye(len(rows))
    for l, row in enumerate(rows):
        matrix[l, :l] = matrix[:l, l] = np.array(row) / 100
    return matrix
