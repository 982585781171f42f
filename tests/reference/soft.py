"""Items in cells, written down densely: weights, the variational bound, the exact evidence.

``row[l, f]`` is the row of a pool from which annotator l draws an answer to an item in cell f;
``shape[r, c]`` are the rows' Dirichlet shapes; cell f = t S + s belongs to class t = f // S.
"""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, xlogy


def log_beta(a):
    return gammaln(a).sum(axis=-1) - gammaln(a.sum(axis=-1))


def labels_of(codes, i):
    span = range(codes.item_start[i], codes.item_start[i + 1])
    return [(codes.item_annotator[k], codes.item_answer[k]) for k in span]


def counted(codes):
    return [i for i in range(len(codes.gold)) if codes.gold[i] >= 0 or labels_of(codes, i)]


def log_weights(codes, log_prior, log_rows, row, n_subtypes=1):
    """log of prior times the labels' rows, shape (items, cells); -inf off a known class."""
    weights = np.tile(log_prior, (len(codes.gold), 1)).astype(float)
    for i in range(len(codes.gold)):
        for f in range(len(log_prior)):
            for l, c in labels_of(codes, i):
                weights[i, f] += log_rows[row[l, f], c]
            if codes.gold[i] >= 0 and f // n_subtypes != codes.gold[i]:
                weights[i, f] = -np.inf
    return weights


def counts(codes, probability, row, n_rows):
    """Expected items per cell, (cells,), and labels per row, (rows, answers)."""
    cells, said = np.zeros(probability.shape[1]), np.zeros((n_rows, codes.n_answers))
    for i in counted(codes):
        for f, p in enumerate(probability[i]):
            cells[f] += p
            for l, c in labels_of(codes, i):
                said[row[l, f], c] += p
    return cells, said


def dirichlets(model, codes, probability):
    """The Dirichlets of an M-step: of classes, of sub-types, of rows."""
    class_weight, subtype_weight, shape, row = model
    cells, said = counts(codes, probability, row, len(shape))
    cells = cells.reshape(len(class_weight), -1)
    return class_weight + cells.sum(axis=1), subtype_weight + cells, shape + said


def expected_logs(shape):
    return digamma(shape) - digamma(shape.sum(axis=-1, keepdims=True))


def e_step(model, codes, found):
    """Probabilities of cells given the Dirichlets, and the sum of the log normalisers."""
    classes, subtypes, rows = found
    log_prior = (expected_logs(classes)[:, None] + expected_logs(subtypes)).ravel()
    weights = log_weights(codes, log_prior, expected_logs(rows), model[3], subtypes.shape[1])
    total = logsumexp(weights, axis=1)
    return np.exp(weights - total[:, None]), total[counted(codes)].sum()


def kl(shape, prior):
    return np.sum(
        log_beta(prior) - log_beta(shape) + ((shape - prior) * expected_logs(shape)).sum(-1)
    )


def distances(model, found):
    """KL of all Dirichlets from the prior."""
    subtypes = np.broadcast_to(model[1], found[1].shape)
    priors = (model[0], subtypes, model[2])
    return sum(kl(a, b) for a, b in zip(found, priors, strict=True))


def bound(model, codes, probability, found):
    """E log p - E log q for any probabilities and any Dirichlets, term by term."""
    classes, subtypes, rows = found
    cells, said = counts(codes, probability, model[3], len(model[2]))
    log_prior = (expected_logs(classes)[:, None] + expected_logs(subtypes)).ravel()
    expected = cells @ log_prior + (said * expected_logs(rows)).sum()
    p = probability[counted(codes)]
    return expected - xlogy(p, p).sum() - distances(model, found)


def bound_after_m(model, codes, probability):
    """The same, with the Dirichlets of an M-step from these probabilities."""
    found = dirichlets(model, codes, probability)
    p = probability[counted(codes)]
    return log_joint_of(model, found) - xlogy(p, p).sum()


def log_joint_of(model, found):
    subtypes = np.broadcast_to(model[1], found[1].shape)
    priors = (model[0], subtypes, model[2])
    return sum(np.sum(log_beta(a) - log_beta(b)) for a, b in zip(found, priors, strict=True))


def log_joint(model, codes, cell):
    """log p(cells, labels), tau, pi and rows integrated out; cell[i] = -1 where not counted."""
    probability = np.eye(len(model[0]) * len(model[1]))[cell] * (np.array(cell) >= 0)[:, None]
    return log_joint_of(model, dirichlets(model, codes, probability))


def evidence(model, codes):
    """log p(labels, known classes) by enumeration, and the exact probabilities of cells."""
    n_subtypes, n_cells = len(model[1]), len(model[0]) * len(model[1])
    active = counted(codes)
    options = [
        [f for f in range(n_cells) if codes.gold[i] < 0 or f // n_subtypes == codes.gold[i]]
        for i in active
    ]
    states, logs = list(product(*options)), []
    for state in states:
        cell = np.full(len(codes.gold), -1)
        cell[active] = state
        logs.append(log_joint(model, codes, cell))
    total = logsumexp(logs)
    exact = np.zeros((len(codes.gold), n_cells))
    for state, p in zip(states, np.exp(np.array(logs) - total), strict=True):
        exact[active, state] += p
    return total, exact
