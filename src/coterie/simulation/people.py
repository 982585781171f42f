"""Annotators drawn from the prior of a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coterie.priors import CBCCPrior, ConsensusPrior, Gamma, HCBCCPrior, IBCCPrior
from coterie.simulation.crowd import (
    FloatArray,
    HardItems,
    IntArray,
    People,
    draw_dirichlet,
    draw_log_dirichlet,
)

Prior = IBCCPrior | CBCCPrior | HCBCCPrior | ConsensusPrior


def draw_people(
    prior: Prior, n_annotators: int, sizes: tuple[int, int], rng: np.random.Generator
) -> People:
    """Draw coteries, confusion matrices and class proportions, in this order, from the prior.

    Of iBCC every annotator is a group; of Consensus some items are hard, and class weights that
    wait for votes are its ``class_base``. ``sizes`` are the numbers of classes and of answers.
    """
    if isinstance(prior, ConsensusPrior) and prior.class_weights is None:
        prior = replace(prior, class_weights=prior.class_base)
    prior = prior.resolve(*sizes)
    if isinstance(prior, IBCCPrior):
        group = np.arange(n_annotators)
    else:
        concentration = prior.concentration
        if isinstance(concentration, Gamma):
            shape, rate = np.asarray(concentration.shape), np.asarray(concentration.rate)
            concentration = float(rng.gamma(shape, 1 / rate))
        group = _draw_crp(n_annotators, concentration, rng)
    if isinstance(prior, ConsensusPrior):
        return _draw_consensus(prior, group, rng)
    if isinstance(prior, HCBCCPrior):
        confusion = _draw_around_coteries(prior, group, rng)
    else:
        shape = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)  # (T, C)
        matrices = draw_dirichlet(np.broadcast_to(shape, (group.max() + 1, *sizes)), rng)
        confusion = matrices[group]
    balance = draw_dirichlet(prior.class_weights, rng)
    return People(group.tolist(), confusion, balance)


def _draw_crp(n_annotators: int, concentration: float, rng: np.random.Generator) -> IntArray:
    """Seat annotators one by one; coteries are numbered as they appear, shape (annotators,)."""
    group = np.zeros(n_annotators, np.int64)
    n_coteries = 1
    for l in range(1, n_annotators):
        # Sit with an earlier annotator, each equally likely, or alone with weight alpha.
        seat = rng.random() * (l + concentration)
        if seat < l:
            group[l] = group[int(seat)]
        else:
            group[l] = n_coteries
            n_coteries += 1
    return group


def _draw_around_coteries(
    prior: HCBCCPrior, group: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Draw Psi[l, t] ~ Dir(beta[m, t] * eta[m, t]), shape (annotators, classes, answers)."""
    mean = np.asarray(prior.mean)  # (T, C)
    n_coteries = group.max() + 1
    shape, rate = np.asarray(prior.strength.shape), np.asarray(prior.strength.rate)  # (T,)
    strength = rng.gamma(shape, 1 / rate, size=(n_coteries, len(mean)))
    centre_shape = np.asarray(prior.mean_strength)[:, None] * mean
    log_centre = draw_log_dirichlet(np.broadcast_to(centre_shape, (n_coteries, *mean.shape)), rng)
    return draw_dirichlet((strength[:, :, None] * np.exp(log_centre))[group], rng)


def _draw_consensus(prior: ConsensusPrior, group: IntArray, rng: np.random.Generator) -> People:
    """Draw around b[m, t, c] = d[m] 1[c = t] + (1 - d[m]) w[c], and what hard items are."""
    weights, n_coteries = np.asarray(prior.class_weights), group.max() + 1
    guess = draw_dirichlet(prior.guess_weights, rng)
    n_classes, n_answers = len(weights), len(guess)
    point = (np.arange(prior.knowledge_points) + 0.5) / prior.knowledge_points
    density = point ** (prior.knowledge.a - 1) * (1 - point) ** (prior.knowledge.b - 1)
    known = rng.choice(point, n_coteries, p=density / density.sum())[:, None, None]
    base = known * np.eye(n_classes, n_answers) + (1 - known) * guess  # (coteries, T, C)
    shape, rate = np.asarray(prior.strength.shape), np.asarray(prior.strength.rate)
    strength = rng.gamma(shape, 1 / rate, n_coteries)[:, None, None]
    centre = np.exp(draw_log_dirichlet(prior.mean_strength * base, rng))
    confusion = draw_dirichlet((strength * centre)[group], rng)
    balance = draw_dirichlet(weights, rng)
    hard = HardItems(
        draw_dirichlet(prior.kind_weights, rng),
        np.asarray(prior.guessing),
        draw_dirichlet(prior.hard_guess_weights, rng),
    )
    return People(group.tolist(), confusion, balance, hard)
