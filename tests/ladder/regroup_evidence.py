"""How probable every grouping is when beta and eta are integrated out, by quadrature."""

import numpy as np
from scipy.special import gammaln, roots_genlaguerre, roots_jacobi

from ladder.regroup import ALPHA
from reference import consensus as reference
from reference.exact import normalise
from reference.joint import log_p_partition

NODES = 48


def strengths(shape, rate):
    """Nodes and weights of a Gamma."""
    x, weight = roots_genlaguerre(NODES, shape - 1)
    return x / rate, weight / weight.sum()


def means(a, b):
    """Nodes and weights of a Beta."""
    x, weight = roots_jacobi(NODES, b - 1, a - 1)
    return (1 + x) / 2, weight / weight.sum()


def row(n, beta, a, b):
    """Mean over eta[t] ~ Dir(a, b) of p(counts n (people, 2)), for every beta."""
    eta, weight = means(a, b)
    log_p = np.zeros((len(beta), len(eta)))
    for one, other in n:
        for k, share in ((one, eta), (other, 1 - eta)):
            x = beta[:, None] * share
            log_p += gammaln(x + k) - gammaln(x)
        log_p -= (gammaln(beta + one + other) - gammaln(beta))[:, None]
    return np.exp(log_p) @ weight


def evidence(stage, people):
    """p(what these people said), all parameters of their coterie integrated out."""
    prior, n = stage.case.prior, stage.n[list(people)]
    if not stage.is_consensus:
        result = 1.0
        for t in range(2):
            beta, weight = strengths(prior.strength.shape[t], prior.strength.rate[t])
            result *= weight @ row(n[:, t], beta, *(prior.mean_strength[t] * prior.mean[t]))
        return result
    beta, weight = strengths(float(prior.strength.shape), float(prior.strength.rate))
    result = 0.0
    for d, share in zip(*reference.points(prior), strict=True):
        base = prior.mean_strength * reference.base(d, stage.w, 2)
        result += share * weight @ (row(n[:, 0], beta, *base[0]) * row(n[:, 1], beta, *base[1]))
    return result


def partition_probabilities(stage):
    """Probabilities of every grouping of the people."""
    log_p = {}
    for groups in stage.partitions():
        log_p[groups] = log_p_partition(dict(zip(stage.people, groups, strict=True)), ALPHA)
        for m in set(groups):
            people = [l for l, k in zip(stage.people, groups, strict=True) if k == m]
            log_p[groups] += np.log(evidence(stage, people))
    return normalise(log_p)
