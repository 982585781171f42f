"""Consensus written down from its definition, slowly and without increments: the specification.

    alpha ~ Gamma or fixed;  q ~ CRP(alpha)
    w ~ Dir(guess weights);  d[m] on the midpoints of (0, 1), with Beta weights
    beta[m] ~ Gamma;  b[m, t, c] = d[m] 1[c = t] + (1 - d[m]) w[c]
    eta[m, t] ~ Dir(phi b[m, t]);  Psi[l, t] ~ Dir(beta[m] eta[m, t]), m = q[l]
    pi ~ Dir(class weights);  z[i] ~ pi
    rho ~ Dir(kind weights);  k[i] ~ rho;  v ~ Dir(hard guess weights)
    g[j] = 1 with probability 1 - lam[k[i]];  y[j] ~ Psi[l, z[i]] if g[j] = 1, else ~ v

``z`` maps each counted item to its class, ``k`` each labelled item to its kind, ``g`` is one
number per label in the order of ``sorted(problem.labels)``, ``q`` maps each annotator with labels
to a coterie; ``d`` (as points), ``beta`` and ``eta`` are by coterie.
"""

from collections import Counter
from dataclasses import dataclass
from math import lgamma, log
from typing import Any

import numpy as np

from reference.joint import (
    log_gamma_density,
    log_p_concentration,
    log_p_partition,
    log_p_truth,
    log_rising,
)


@dataclass(frozen=True)
class Values:
    """Everything that is sampled, pi, rho, v and Psi integrated out."""

    z: Any
    k: Any
    g: Any
    q: Any
    alpha: Any
    w: Any  # (C,)
    d: Any  # m -> number of the point
    beta: Any  # m -> number
    eta: Any  # m -> (T, C)


def points(prior):
    """The values of d, and their probabilities."""
    n = prior.knowledge_points
    d = np.array([(j + 0.5) / n for j in range(n)])
    density = d ** (prior.knowledge.a - 1) * (1 - d) ** (prior.knowledge.b - 1)
    return d, density / density.sum()


def base(d, w, n_classes):
    """b of one coterie, shape (T, C)."""
    b = np.array([[(1 - d) * w[c] for c in range(len(w))] for _ in range(n_classes)])
    for t in range(n_classes):
        b[t, t] += d
    return b


def log_dirichlet(x, shapes):
    """log density of Dir(shapes) at x"""
    return (
        lgamma(sum(shapes))
        - sum(lgamma(s) for s in shapes)
        + sum((s - 1) * log(p) for s, p in zip(shapes, x, strict=True))
    )


def log_p_mean(prior, j, w, eta):
    """log p(eta | d, w) of one coterie whose d is point j"""
    b = base(points(prior)[0][j], w, len(eta))
    return sum(
        log_dirichlet(row, prior.mean_strength * b_t) for row, b_t in zip(eta, b, strict=True)
    )


def log_p_coterie(prior, j, w, beta, eta):
    """log p(d, beta, eta | w) of one coterie"""
    shape, rate = float(prior.strength.shape), float(prior.strength.rate)
    return (
        log(points(prior)[1][j])
        + log_gamma_density(beta, shape, rate)
        + log_p_mean(prior, j, w, eta)
    )


def counts_of(problem, z, g):
    """n[l, t, c] of the labels with g = 1, and how often each answer has g = 0."""
    own, guessed = Counter(), Counter()
    for (i, l, c), from_matrix in zip(sorted(problem.labels), g, strict=True):
        if from_matrix:
            own[l, z[i], c] += 1
        else:
            guessed[c] += 1
    return own, guessed


def log_p_labels(problem, prior, values):
    """log p(Y | z, g, q, beta, eta), the matrices and v integrated out"""
    n, guessed = counts_of(problem, values.z, values.g)
    answers = range(problem.n_answers)
    total = log_p_sequence([guessed[c] for c in answers], prior.hard_guess_weights)
    for l in problem.active:
        m = values.q[l]
        for t in range(problem.n_classes):
            total -= log_rising(values.beta[m], sum(n[l, t, c] for c in answers))
            for c in answers:
                total += log_rising(values.beta[m] * values.eta[m][t][c], n[l, t, c])
    return total


def log_p_sequence(counts, weights):
    """log probability of draws with these counts from a distribution ~ Dir(weights)"""
    total = -log_rising(sum(weights), sum(counts))
    return total + sum(log_rising(w, n) for w, n in zip(weights, counts, strict=True))


def log_p_sources(problem, prior, k, g):
    """log p(g | k)"""
    total = 0.0
    for (i, _, _), from_matrix in zip(sorted(problem.labels), g, strict=True):
        lam = prior.guessing[k[i]]
        p = 1 - lam if from_matrix else lam
        total += log(p) if p > 0 else -np.inf
    return total


def log_joint(problem, prior, values):
    """log p(Y, z, k, g, q, alpha, w, d, beta, eta)"""
    v = values
    total = log_p_labels(problem, prior, v)
    total += log_p_truth(v.z, prior.class_weights)
    total += log_p_truth(v.k, prior.kind_weights)
    total += log_p_sources(problem, prior, v.k, v.g)
    total += log_p_partition(v.q, v.alpha) + log_p_concentration(v.alpha, prior.concentration)
    total += log_dirichlet(v.w, prior.guess_weights)
    for m in set(v.q.values()):
        total += log_p_coterie(prior, v.d[m], v.w, v.beta[m], v.eta[m])
    return total


@dataclass(frozen=True)
class Drawn:
    """What the items are given."""

    pi: Any  # (T,)
    rho: Any  # (kinds,)
    v: Any  # (C,)
    psi: Any  # (L, T, C)


def p_item(problem, prior, drawn, i, t, k, g=None):
    """p(z[i] = t, k[i] = k, g, labels of i | pi, rho, v, Psi); g None is summed over."""
    lam = prior.guessing[k]
    p = drawn.pi[t] * drawn.rho[k]
    labels = [(l, c) for j, l, c in sorted(problem.labels) if j == i]
    for place, (l, c) in enumerate(labels):
        terms = (lam * drawn.v[c], (1 - lam) * drawn.psi[l, t, c])
        p *= sum(terms) if g is None else terms[g[place]]
    return p
