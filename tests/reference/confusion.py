"""Exact posterior moments of the annotators' confusion matrices, by enumeration."""

from math import exp

import numpy as np

from reference.exact import RowMarginal, log_p_partition_marginal
from reference.joint import count, log_rising

NEWCOMER = "newcomer"  # stands for every annotator without labels: they are exchangeable


def confusion_moment(case, power):
    """E of Psi[l, t, c]^power given Y, shape (annotators, T, C).

    It is the probability that l calls ``power`` more items c whose truth is known to be t.
    """
    problem, prior = case.problem, case.prior
    result = np.zeros((problem.n_annotators, problem.n_classes, problem.n_answers))
    row = RowMarginal(prior) if case.model == "hcbcc" else None
    for state, p in case.posterior().items():
        truth, groups = state if case.has_groups else (state, range(len(problem.active)))
        z = dict(zip(problem.free, truth, strict=True)) | problem.gold
        q = dict(zip(problem.active, groups, strict=True))
        n = count(problem, z, owner=lambda l: l)
        for l in range(problem.n_annotators):
            for seat, share in seats(case, q, l):
                result[l] += p * share * more_labels(case, n, seat, l, power, row)
    return result


def seats(case, q, l):
    """Where l sits: at their own place, or as a newcomer at any place with its probability."""
    if l in q:
        yield q, 1.0
    elif not case.has_groups:
        yield q | {l: NEWCOMER}, 1.0
    else:
        before = log_p_partition_marginal(q, case.prior.concentration)
        for m in {*q.values(), NEWCOMER}:
            seated = q | {l: m}
            yield seated, exp(log_p_partition_marginal(seated, case.prior.concentration) - before)


def more_labels(case, n, q, l, power, row):
    """The probability of ``power`` more answers c of l to items of class t, shape (T, C)."""
    problem, prior = case.problem, case.prior
    answers = range(problem.n_answers)
    result = np.zeros((problem.n_classes, problem.n_answers))
    members = [other for other in q if q[other] == q[l]]
    for t in range(problem.n_classes):
        rows = {other: [n[other, t, c] for c in answers] for other in members}
        for c in answers:
            if case.model == "hcbcc":
                after = rows | {l: [x + power * (a == c) for a, x in enumerate(rows[l])]}
                counts = [[tuple(x) for x in some.values()] for some in (after, rows)]
                log_p = row(t, counts[0]) - row(t, counts[1])
            else:
                pooled = np.sum(list(rows.values()), axis=0)
                beta = prior.strength[t]
                log_p = log_rising(pooled[c] + beta * prior.mean[t, c], power)
                log_p -= log_rising(pooled.sum() + beta, power)
            result[t, c] = exp(log_p)
    return result
