"""The log joints, from the paper's section 3 and appendix B (with the corrections of the design).

``z`` maps each counted item to its class, ``q`` each annotator with labels to a cluster. The
priors are resolved ``IBCCPrior``, ``CBCCPrior``, ``HCBCCPrior``.
"""

from collections import Counter
from math import lgamma, log

from coterie.priors import Gamma


def log_rising(x, n):
    """log Gamma(x + n) / Gamma(x)"""
    return lgamma(x + n) - lgamma(x)


def log_p_truth(z, class_weights):
    """log p(z | eps, mu), correction 1: the gamma functions run over n[t]."""
    n = Counter(z.values())
    return (
        lgamma(sum(class_weights))
        - lgamma(len(z) + sum(class_weights))
        + sum(lgamma(n[t] + w) - lgamma(w) for t, w in enumerate(class_weights))
    )


def log_p_partition(q, alpha):
    """log p(q | alpha) of the Chinese restaurant process."""
    sizes = Counter(q.values()).values()
    return len(sizes) * log(alpha) + sum(lgamma(s) for s in sizes) - log_rising(alpha, len(q))


def log_gamma_density(x, shape, rate):
    return shape * log(rate) - lgamma(shape) + (shape - 1) * log(x) - rate * x


def log_p_concentration(alpha, prior):
    """log p(alpha), zero if alpha is a fixed number."""
    if isinstance(prior, Gamma):
        return log_gamma_density(alpha, float(prior.shape), float(prior.rate))
    return 0.0


def count(problem, z, owner):
    """n[owner, t, c], the labels of each owner of a matrix by true class and answer."""
    return Counter((owner(l), z[i], c) for i, l, c in problem.labels)


def log_p_labels(problem, z, owner, strength, mean):
    """log p(Y | z, ...) with each owner's confusion matrix integrated out.

    ``strength(o, t)`` and ``mean(o, t, c)`` are the Dirichlet's beta and eta for owner o.
    """
    n = count(problem, z, owner)
    total = 0.0
    for o in {o for o, _, _ in n}:
        for t in range(problem.n_classes):
            beta = strength(o, t)
            total -= log_rising(beta, sum(n[o, t, c] for c in range(problem.n_answers)))
            for c in range(problem.n_answers):
                total += log_rising(beta * mean(o, t, c), n[o, t, c])
    return total


def log_joint_ibcc(problem, prior, z):
    """log p(Y, z)"""
    labels = log_p_labels(
        problem,
        z,
        owner=lambda l: l,
        strength=lambda o, t: prior.strength[t],
        mean=lambda o, t, c: prior.mean[t, c],
    )
    return labels + log_p_truth(z, prior.class_weights)


def log_joint_cbcc(problem, prior, z, q, alpha):
    """log p(Y, z, q, alpha)"""
    labels = log_p_labels(
        problem,
        z,
        owner=lambda l: q[l],
        strength=lambda o, t: prior.strength[t],
        mean=lambda o, t, c: prior.mean[t, c],
    )
    return (
        labels
        + log_p_truth(z, prior.class_weights)
        + log_p_partition(q, alpha)
        + log_p_concentration(alpha, prior.concentration)
    )


def log_p_labels_hcbcc(problem, z, q, beta, eta):
    """log p(Y | z, q, beta, eta) with beta[m, t], eta[m, t, c]"""
    return log_p_labels(
        problem,
        z,
        owner=lambda l: l,
        strength=lambda l, t: beta[q[l], t],
        mean=lambda l, t, c: eta[q[l], t, c],
    )


def log_p_parameters(prior, beta, eta):
    """log p(beta, eta) of one cluster, beta (T,), eta (T, C)"""
    total = 0.0
    for t, (phi, gamma) in enumerate(zip(prior.mean_strength, prior.mean, strict=True)):
        total += log_gamma_density(beta[t], prior.strength.shape[t], prior.strength.rate[t])
        total += lgamma(phi) - sum(lgamma(phi * g) for g in gamma)
        total += sum((phi * g - 1) * log(e) for g, e in zip(gamma, eta[t], strict=True))
    return total


def log_joint_hcbcc(problem, prior, z, q, alpha, beta, eta):
    """log p(Y, z, q, alpha, beta, eta)"""
    return (
        log_p_labels_hcbcc(problem, z, q, beta, eta)
        + log_p_truth(z, prior.class_weights)
        + log_p_partition(q, alpha)
        + log_p_concentration(alpha, prior.concentration)
        + sum(log_p_parameters(prior, beta[m], eta[m]) for m in set(q.values()))
    )


def stirling(n, s):
    """Unsigned Stirling numbers of the first kind."""
    if n == 0:
        return int(s == 0)
    if s < 0:
        return 0
    return stirling(n - 1, s - 1) + (n - 1) * stirling(n - 1, s)


def log_augmented(counts, prior, t, beta, eta, nu, s):
    """log p(beta, eta, nu, s | Y, z, q) of one row t of one cluster, up to a constant (appendix B).

    ``counts`` and ``s`` are lists over the members of the cluster of their n[c] and s[c]; ``nu``
    one number per member, ignored where the member has no labels of class t (correction 2).
    """
    total = 0.0
    for n, nu_l, s_l in zip(counts, nu, s, strict=True):
        if sum(n) > 0:
            total += (beta - 1) * log(nu_l) + (sum(n) - 1) * log(1 - nu_l)
        for n_c, s_c, eta_c in zip(n, s_l, eta, strict=True):
            total += log(stirling(n_c, s_c)) + s_c * log(beta * eta_c)
    phi, gamma = prior.mean_strength[t], prior.mean[t]
    total += sum((phi * g - 1) * log(e) for g, e in zip(gamma, eta, strict=True))
    return total + log_gamma_density(beta, prior.strength.shape[t], prior.strength.rate[t])


def log_p_auxiliaries(n, beta, eta, nu, s):
    """log p(labels, nu, s | beta, eta) of one member, matrix integrated out, up to a constant.

    n and s have shape (T, C), beta and nu (T,), eta (T, C). Summed over s and integrated over nu
    it is the probability of the labels; nu is ignored where there are no labels (correction 2).
    """
    total = 0.0
    for t, row in enumerate(n):
        if sum(row) > 0:
            total += (beta[t] - 1) * log(nu[t]) + (sum(row) - 1) * log(1 - nu[t])
        for n_c, s_c, eta_c in zip(row, s[t], eta[t], strict=True):
            total += log(stirling(n_c, s_c)) + s_c * log(beta[t] * eta_c)
    return total
