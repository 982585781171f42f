"""The joint of truths and labels at given matrices and class balance, written down."""

import itertools
from math import log


def log_joint_given(problem, z, balance, matrix):
    """log p(z, Y | tau, Psi), balance (T,), matrix (L, T, C); z maps counted items to classes."""
    truths = sum(log(balance[t]) for t in z.values())
    return truths + sum(log(matrix[l][z[i]][c]) for i, l, c in problem.labels)


def all_states_given(problem):
    """Every z: known items stay."""
    free = problem.free
    for classes in itertools.product(range(problem.n_classes), repeat=len(free)):
        yield {**problem.gold, **dict(zip(free, classes, strict=True))}
