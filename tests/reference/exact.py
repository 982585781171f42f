"""Exact posteriors of small problems: every truth, every partition, everything else integrated."""

import itertools
from collections import Counter
from functools import cache
from math import exp, lgamma, log

import numpy as np
from numpy.polynomial import polynomial
from scipy.integrate import quad
from scipy.special import logsumexp, poch
from scipy.stats import gamma as gamma_distribution

from coterie.priors import Gamma
from reference.joint import (
    count,
    log_gamma_density,
    log_joint_cbcc,
    log_joint_ibcc,
    log_p_partition,
    log_p_truth,
    log_rising,
)


def all_truths(problem):
    """Every z, as dictionaries over the counted items."""
    for classes in itertools.product(range(problem.n_classes), repeat=len(problem.free)):
        yield dict(zip(problem.free, classes, strict=True)) | problem.gold


def all_partitions(things):
    """Every set partition, as dictionaries with clusters numbered by first appearance."""
    if not things:
        yield {}
        return
    for smaller in all_partitions(things[:-1]):
        for m in range(len(set(smaller.values())) + 1):
            yield smaller | {things[-1]: m}


def key(problem, z, q=None):
    """A state as a tuple: the truths of the free items, the clusters of the annotators."""
    truth = tuple(z[i] for i in problem.free)
    return truth if q is None else (truth, tuple(q[l] for l in problem.active))


def normalise(log_p):
    """Turn a dictionary of log weights into probabilities."""
    total = logsumexp(list(log_p.values()))
    return {state: exp(value - total) for state, value in log_p.items()}


def posterior_ibcc(problem, prior):
    """p(z | Y)"""
    return normalise(
        {key(problem, z): log_joint_ibcc(problem, prior, z) for z in all_truths(problem)}
    )


@cache
def log_p_given_size(n_clusters, n_people, concentration):
    """log of the integral of alpha^M / (alpha)_(L) over alpha's prior."""
    if not isinstance(concentration, Gamma):
        return n_clusters * log(concentration) - log_rising(concentration, n_people)
    return log(alpha_moment(n_clusters, n_people, concentration, 0))


@cache
def alpha_moment(n_clusters, n_people, concentration, power):
    """The integral of alpha^power alpha^M / (alpha)_(L) over alpha's prior."""
    a, b = float(concentration.shape), float(concentration.rate)

    def density(log_alpha):  # in log alpha: smooth, and zero at both ends
        alpha = exp(log_alpha)
        log_p = (power + n_clusters + 1) * log_alpha - log_rising(alpha, n_people)
        return exp(log_p + log_gamma_density(alpha, a, b))

    return quad(density, -40, 10, limit=500, epsabs=0, epsrel=1e-11, points=[-5, -2, 0, 2])[0]


def log_p_partition_marginal(q, concentration):
    """log p(q), alpha integrated out if it has a prior."""
    sizes = Counter(q.values()).values()
    seats = sum(lgamma(size) for size in sizes)
    return seats + log_p_given_size(len(sizes), len(q), concentration)


def posterior_cbcc(problem, prior):
    """p(z, q | Y)"""
    one = 1.0  # the joint at alpha = 1, with p(q | 1) and p(alpha = 1) taken out again
    fixed = type(prior)(prior.mean, prior.strength, prior.class_weights, one)
    return normalise(
        {
            key(problem, z, q): log_joint_cbcc(problem, fixed, z, q, one)
            - log_p_partition(q, one)
            + log_p_partition_marginal(q, prior.concentration)
            for z in all_truths(problem)
            for q in all_partitions(problem.active)
        }
    )


def rising_polynomial(n):
    """Coefficients of x (x + 1) ... (x + n - 1)."""
    result = np.ones(1)
    for j in range(n):
        result = polynomial.polymul(result, [j, 1])
    return result


def mean_over_eta(counts, weights):
    """Coefficients in beta of E over eta ~ Dir(weights) of the product of (beta eta[c])_(n[l, c]).

    The product is a polynomial in beta eta, and E of eta^k is a ratio of rising factorials: exact
    for any number of answers.
    """
    total = np.ones(1)
    for c, weight in enumerate(weights):
        one = np.ones(1)
        for n in counts:
            one = polynomial.polymul(one, rising_polynomial(n[c]))
        total = polynomial.polymul(total, one * poch(weight, np.arange(len(one))))
    return total / poch(sum(weights), np.arange(len(total)))


class RowMarginal:
    """log of the probability of one row t of one cluster's labels, beta and eta integrated out."""

    def __init__(self, prior):
        self.prior = prior
        self.known = {}
        self.nodes = [
            gamma_nodes(shape, rate)
            for shape, rate in zip(prior.strength.shape, prior.strength.rate, strict=True)
        ]

    def __call__(self, t, counts):
        counts = tuple(sorted(n for n in counts if sum(n) > 0))
        if (t, counts) not in self.known:
            self.known[t, counts] = self.integrate(t, counts) if counts else 0.0
        return self.known[t, counts]

    def integrate(self, t, counts):
        beta, weights = self.nodes[t]
        numerator = mean_over_eta(counts, self.prior.mean_strength[t] * self.prior.mean[t])
        below = np.prod([poch(beta, sum(n)) for n in counts], axis=0)
        return log(weights @ (polynomial.polyval(beta, numerator) / below))


def gamma_nodes(shape, rate):
    """Nodes and weights of E over Gamma(shape, rate), by Gauss and Legendre (for shapes > 2)."""
    prior = gamma_distribution(shape, scale=1 / rate)
    low, high = prior.ppf(1e-14), prior.isf(1e-14)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    x = low + (high - low) * (nodes + 1) / 2
    log_density = (shape - 1) * np.log(x / high) - rate * (x - high)
    weights = weights * np.exp(log_density - log_density.max())
    return x, weights / weights.sum()


def posterior_hcbcc(problem, prior):
    """p(z, q | Y), beta, eta and alpha integrated out"""
    row = RowMarginal(prior)
    log_p = {}
    for z in all_truths(problem):
        n = count(problem, z, owner=lambda l: l)
        for q in all_partitions(problem.active):
            value = log_p_truth(z, prior.class_weights)
            value += log_p_partition_marginal(q, prior.concentration)
            for m in set(q.values()):
                for t in range(problem.n_classes):
                    answers = range(problem.n_answers)
                    value += row(t, [tuple(n[l, t, c] for c in answers) for l in q if q[l] == m])
            log_p[key(problem, z, q)] = value
    return normalise(log_p)


def item_probabilities(problem, posterior):
    """p(z[i] = t | Y), shape (items, classes), from a posterior over z or (z, q)."""
    result = np.zeros((problem.n_items, problem.n_classes))
    for i, t in problem.gold.items():
        result[i, t] = 1
    for state, p in posterior.items():
        truth = state[0] if isinstance(state[0], tuple) else state
        for i, t in zip(problem.free, truth, strict=True):
            result[i, t] += p
    return result


def predictive(problem, posterior, class_weights):
    """E of (n[t] + eps mu[t]) / (N + eps): what an item without labels is."""
    totals = item_probabilities(problem, posterior)[problem.counted].sum(axis=0)
    return (totals + class_weights) / (len(problem.counted) + sum(class_weights))


def concentration_mean(problem, posterior, concentration):
    """E of alpha given Y."""
    n = len(problem.active)

    @cache
    def mean(n_clusters):
        top = alpha_moment(n_clusters, n, concentration, 1)
        return top / alpha_moment(n_clusters, n, concentration, 0)

    return sum(p * mean(len(set(q))) for (_, q), p in posterior.items())
