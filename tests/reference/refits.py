"""Exact numbers of tiny iBCC problems: beliefs, matrices, and the refit after one more answer."""

from dataclasses import replace

import numpy as np

import coterie
from builders.posteriors import annotate
from coterie.abilities import POINT
from coterie.posterior import Draws, Posterior
from reference.exact import all_truths
from reference.joint import count, log_joint_ibcc


def weights(problem, prior):
    """Every truth with p(Y, z)."""
    return [(z, np.exp(log_joint_ibcc(problem, prior, z))) for z in all_truths(problem)]


def beliefs(problem, prior):
    """p(z[i] | Y), shape (items, classes), and p(Y)."""
    p, found = np.zeros((problem.n_items, problem.n_classes)), weights(problem, prior)
    for z, w in found:
        for i, t in z.items():
            p[i, t] += w
    total = sum(w for _, w in found)
    return p / total, total


def mean_matrices(problem, prior):
    """E[Psi | Y], shape (annotators, classes, answers)."""
    shape = problem.n_annotators, problem.n_classes, problem.n_answers
    mean, found = np.zeros(shape), weights(problem, prior)
    total = sum(w for _, w in found)
    for z, w in found:
        n = count(problem, z, lambda l: l)
        for l in range(shape[0]):
            for t in range(shape[1]):
                row = [prior.strength[t] * prior.mean[t, c] + n[l, t, c] for c in range(shape[2])]
                mean[l, t] += w / total * np.array(row) / sum(row)
    return mean


def posterior_of(problem, prior):
    """A Posterior with the exact numbers."""
    words = [[f"{kind}{k}" for k in range(n)] for kind, n in
             (("q", problem.n_items), ("w", problem.n_annotators), ("c", problem.n_classes),
              ("x", problem.n_answers - problem.n_classes))]  # fmt: skip
    p, _ = beliefs(problem, prior)
    triples = np.array(problem.labels).T
    return Posterior(
        annotate(triples, *words[:3], words[3]), p, p.mean(axis=0), mean_matrices(problem, prior),
        model="DawidSkene", method=coterie.DawidSkene.method, abilities=POINT,  # matrices are means
    )  # fmt: skip


def sampled_posterior_of(problem, prior, n_draws, rng):
    """The same with draws that are independent, as those of an endless chain of IBCC."""
    found = weights(problem, prior)
    chance = np.array([w for _, w in found])
    shape = n_draws, problem.n_annotators, problem.n_classes, problem.n_answers
    matrices, balance = np.zeros(shape), np.zeros((n_draws, problem.n_classes))
    for d, k in enumerate(rng.choice(len(found), n_draws, p=chance / chance.sum())):
        z, _ = found[k]
        n = count(problem, z, lambda l: l)
        for l, t in np.ndindex(*shape[1:3]):
            said = [n[l, t, c] for c in range(shape[3])]
            matrices[d, l, t] = rng.dirichlet(prior.strength[t] * prior.mean[t] + said)
        totals = np.bincount(list(z.values()), minlength=shape[2])
        balance[d] = rng.dirichlet(prior.class_weights + totals)
    return replace(
        posterior_of(problem, prior),
        draws=Draws(matrices[None].astype(np.float32), balance[None]),
        model="IBCC", method=coterie.IBCC.method, abilities=coterie.IBCC.abilities,
    )  # fmt: skip


def entropy(p):
    """In bits."""
    return -np.sum(p * np.log2(p, where=p > 0, out=np.zeros_like(p)), axis=-1)


def refitted_information(problem, prior, i, l):
    """What an answer of l about i tells: every answer enumerated, everything fitted again."""
    before, total = beliefs(problem, prior)
    bits = entropy(before[i])
    for c in range(problem.n_answers):
        more = replace(problem, labels=(*problem.labels, (i, l, c)))
        after, chance = beliefs(more, prior)
        bits -= chance / total * entropy(after[i])
    return bits
