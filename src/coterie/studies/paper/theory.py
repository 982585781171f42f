"""What jobs do that check the paper's formulas: the prior correlation, and the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import coterie
from coterie.abilities import SAMPLED
from coterie.studies.paper.job import Result
from coterie.studies.paper.settings import Settings

MEAN = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.3, 0.45]]
"""eta: no two cells of a row alike, so that an exchange of rows and columns would show."""
CROWD_SIZE = 10

FloatArray = NDArray[np.float64]


def correlation_formula(
    mean: FloatArray, strength: float, concentration: float
) -> NDArray[np.float64]:
    """Give the prior correlation of two annotators' answers, given the truth.

    ``1 / ((1 + alpha)(1 + beta))`` for equal answers; for different answers a, b its negative
    times ``sqrt(eta_a eta_b / ((1 - eta_a)(1 - eta_b)))``. In hcBCC, phi stands for beta.

    Parameters
    ----------
    mean
        eta, shape (classes, answers).
    strength, concentration
        beta (phi in hcBCC), and alpha; infinity where every annotator is alone (iBCC).

    Returns
    -------
    Array of shape (classes, answers, answers).

    Examples
    --------
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
    mean = np.asarray(MEAN)
    rng = np.random.default_rng(seed)
    prior = _prior(model, strength, concentration)
    deviation = np.empty((settings.crowds, CROWD_SIZE, *mean.shape))
    for k in range(settings.crowds):
        crowd = coterie.simulate(
            prior, items=1, annotators=CROWD_SIZE, classes=3, labels_per_item=1, random_state=rng
        )
        deviation[k] = crowd.confusion - mean
    scale = np.sqrt(mean * (1 - mean))
    products = pair_products(deviation / scale)
    error = products.std(axis=0, ddof=1) / np.sqrt(len(products))
    return {"estimate": products.mean(axis=0).tolist(), "error": error.tolist()}


def pair_products(deviation: FloatArray) -> FloatArray:
    """Average d_l[t, a] d_l'[t, b] over the pairs l != l' of each crowd.

    Parameters
    ----------
    deviation
        Shape (crowds, annotators, classes, answers).

    Returns
    -------
    Array of shape (crowds, classes, answers, answers).

    Examples
    --------
    >>> pair_products(np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1)).item() == (2 + 3 + 6) / 3
    True
    """
    n = deviation.shape[1]
    total = deviation.sum(axis=1)
    everything = np.einsum("kta,ktb->ktab", total, total)
    itself = np.einsum("klta,kltb->ktab", deviation, deviation)
    products: FloatArray = (everything - itself) / (n * (n - 1))
    return products


def _prior(model: str, strength: float, concentration: float) -> Any:
    alpha = concentration
    return {
        "ibcc": coterie.IBCCPrior(mean=MEAN, strength=strength),
        "cbcc": coterie.CBCCPrior(mean=MEAN, strength=strength, concentration=alpha),
        "hcbcc": coterie.HCBCCPrior(mean=MEAN, mean_strength=strength, concentration=alpha),
    }[model]


def _limits() -> dict[str, tuple[Any, Any]]:
    """Name the limits: a model near its limit, and what it should become."""
    gamma = coterie.Gamma
    return {
        "alpha to infinity in cBCC": (
            coterie.CBCC(prior=coterie.CBCCPrior(concentration=1e12)),
            coterie.IBCC(),
        ),
        "beta to infinity in hcBCC": (
            coterie.HCBCC(prior=coterie.HCBCCPrior(strength=gamma(1e8, 1e2))),
            coterie.CBCC(),
        ),
        "phi, a, b to infinity in hcBCC, a/b = 3": (
            coterie.HCBCC(prior=coterie.HCBCCPrior(mean_strength=1e7, strength=gamma(3e7, 1e7))),
            coterie.IBCC(),
        ),
        "alpha to 0 in cBCC": (
            coterie.CBCC(prior=coterie.CBCCPrior(concentration=1e-12)),
            coterie.MajorityVote(),
        ),
    }


LIMITS = tuple(_limits())


def limit(settings: Settings, seed: int, limit: str) -> Result:
    """Fit a model near a limit, and what it should become, to one crowd; compare the items.

    The yardstick is the distance between two independent runs of the limiting model itself.
    """
    crowd = coterie.simulate("mixed", items=60, annotators=12, classes=3, random_state=seed)
    near, target = _limits()[limit]
    first = _run(near, crowd, settings, seed)
    second = _run(target, crowd, settings, seed + 1)
    again = _run(target, crowd, settings, seed + 2)
    clusters = near.posterior_.n_coteries
    return {
        "difference": _largest(first, second),
        "yardstick": _largest(second, again),
        "labels_differ": float((first.argmax(axis=1) != second.argmax(axis=1)).mean()),
        "clusters": float(clusters.mean()),
        "clusters_of_limit": _clusters(target),
        "annotators": crowd.annotations.n_annotators,
    }


def _run(model: Any, crowd: coterie.Crowd, settings: Settings, seed: int) -> FloatArray:
    if model.method in SAMPLED:
        model.set_params(
            sweeps=settings.sweeps,
            burn_in=settings.burn_in,
            early_stop=False,
            chains=settings.chains,
            random_state=seed,
            n_jobs=1,
            progress=False,
        )
    probability: FloatArray = model.fit(crowd.annotations).predict_proba().to_numpy()
    return probability


def _largest(first: FloatArray, second: FloatArray) -> float:
    return float(np.abs(first - second).max())


def _clusters(model: Any) -> float | None:
    posterior = model.posterior_
    return float(posterior.n_coteries.mean()) if posterior.abilities.coteries else None
