"""Draws from the prior of Consensus, many at once; its posterior by importance sampling.

z and the kinds are summed exactly; everything else comes from the prior, and every draw weighs as
much as the labels are probable under it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.priors import Gamma
from reference.consensus import points


@dataclass(frozen=True)
class Worlds:
    """Draws of everything above the items, the first axis the draws."""

    alpha: Any  # (n,)
    q: Any  # (n, L)   numbered by first appearance
    w: Any  # (n, C)
    d: Any  # (n, L)   the number of the point, by annotator
    beta: Any  # (n, L)   by annotator
    eta: Any  # (n, L, T, C)   by annotator
    psi: Any  # (n, L, T, C)
    pi: Any  # (n, T)
    rho: Any  # (n, kinds)
    v: Any  # (n, C)


def dirichlet(shapes, rng, size=None):
    """Dirichlet draws over the last axis, for shapes that are not tiny."""
    gammas = rng.standard_gamma(shapes if size is None else np.broadcast_to(shapes, size))
    return gammas / gammas.sum(axis=-1, keepdims=True)


def draw_partitions(n_people, alpha, rng):
    """CRP draws, one for each alpha, shape (n, L), numbered by first appearance."""
    q = np.zeros((len(alpha), n_people), int)
    n_clusters = np.ones(len(alpha), int)
    for l in range(1, n_people):
        place = rng.random(len(alpha)) * (l + alpha)
        joins = place < l
        seat = np.minimum(place.astype(int), l - 1)
        q[:, l] = np.where(joins, q[np.arange(len(alpha)), seat], n_clusters)
        n_clusters += ~joins
    return q


def draw_worlds(prior, n, n_people, n_classes, rng):
    """Draw n worlds from the prior."""
    n_answers = len(prior.guess_weights)
    alpha = prior.concentration
    alpha = (
        rng.gamma(float(alpha.shape), 1 / float(alpha.rate), n)
        if isinstance(alpha, Gamma)
        else np.full(n, alpha)
    )
    q = draw_partitions(n_people, alpha, rng)
    w = dirichlet(prior.guess_weights, rng, (n, n_answers))
    where, shares = points(prior)
    # One of each for every possible coterie, then by annotator.
    d = rng.choice(len(where), (n, n_people), p=shares)
    shape, rate = float(prior.strength.shape), float(prior.strength.rate)
    beta = rng.gamma(shape, 1 / rate, (n, n_people))
    knows = where[d][:, :, None, None]
    b = knows * np.eye(n_classes, n_answers) + (1 - knows) * w[:, None, None, :]
    eta = dirichlet(prior.mean_strength * b, rng)
    d, beta = np.take_along_axis(d, q, 1), np.take_along_axis(beta, q, 1)
    eta = np.take_along_axis(eta, q[:, :, None, None], 1)
    return Worlds(
        alpha=alpha,
        q=q,
        w=w,
        d=d,
        beta=beta,
        eta=eta,
        psi=dirichlet(beta[:, :, None, None] * eta, rng),
        pi=dirichlet(prior.class_weights, rng, (n, n_classes)),
        rho=dirichlet(prior.kind_weights, rng, (n, len(prior.guessing))),
        v=dirichlet(prior.hard_guess_weights, rng, (n, n_answers)),
    )


def item_weights(problem, prior, worlds, i):
    """p(z[i] = t, k[i] = k, labels of i | world), shape (n, kinds, T)."""
    result = worlds.pi[:, None, :] * worlds.rho[:, :, None]
    lam = prior.guessing[:, None]
    for j, l, c in problem.labels:
        if j == i:
            result = result * (
                (1 - lam) * worlds.psi[:, l, None, :, c] + lam * worlds.v[:, c, None, None]
            )
    if i in problem.gold:
        known = np.arange(problem.n_classes) == problem.gold[i]
        result = result * known
    return result


def weigh(problem, prior, worlds):
    """Log weights of the worlds, and each item's p(k, t | world, labels) for the counted items."""
    log_weight, items = 0.0, {}
    labelled = {i for i, _, _ in problem.labels}
    for i in problem.counted:
        joint = item_weights(problem, prior, worlds, i)
        total = joint.sum(axis=(1, 2))
        log_weight = log_weight + np.log(total)
        if i in labelled:
            items[i] = joint / total[:, None, None]
    return log_weight, items


class Importance:
    """Posterior means from weighted draws, with their standard errors."""

    def __init__(self, log_weight):
        weight = np.exp(log_weight - log_weight.max())
        self.weight = weight / weight.sum()

    def mean(self, values):
        """The mean of values, one per draw, and its standard error."""
        values = np.asarray(values, float)
        mean = self.weight @ values
        return float(mean), float(np.sqrt(np.sum(self.weight**2 * (values - mean) ** 2)))

    @property
    def effective(self):
        """How many equally weighted draws these are worth."""
        return 1 / np.sum(self.weight**2)
