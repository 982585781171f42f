"""Dawid and Skene's model written down densely: no increments, no codes, all in logarithms.

``said[i, l, c]`` is how often annotator l called item i answer c; ``tau`` has shape (classes,),
``psi`` (annotators, classes, answers).
"""

import numpy as np


def dense(codes):
    """How often each annotator gave each item each answer, from the rows by annotator."""
    n_annotators = len(codes.annotator_start) - 1
    said = np.zeros((len(codes.gold), n_annotators, codes.n_answers))
    for l in range(n_annotators):
        for k in range(codes.annotator_start[l], codes.annotator_start[l + 1]):
            said[codes.annotator_item[k], l, codes.annotator_answer[k]] += 1
    return said


def log_joint(said, gold, tau, psi):
    """log p(truth of i = t, labels of i), shape (items, classes); -inf off a known class."""
    with np.errstate(divide="ignore"):
        log_tau, log_psi = np.log(tau), np.log(psi)
    n_items, n_classes = len(said), len(tau)
    joint = np.empty((n_items, n_classes))
    for i in range(n_items):
        for t in range(n_classes):
            given = said[i] > 0
            joint[i, t] = log_tau[t] + (said[i][given] * log_psi[:, t][given]).sum()
            if gold[i] >= 0 and gold[i] != t:
                joint[i, t] = -np.inf
    return joint


def e_step(said, gold, tau, psi):
    """Class probabilities of the items, and the log likelihood of all that is known."""
    joint = log_joint(said, gold, tau, psi)
    peak = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - peak)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, float((np.log(total) + peak).sum())


def m_step(said, gold, probability, smoothing):
    """Tau and psi from the class probabilities; rows without any count are uniform."""
    evidence = said.any(axis=(1, 2)) | (gold >= 0)
    truth = probability[evidence].sum(axis=0) + smoothing
    counts = np.einsum("it,ilc->ltc", probability, said) + smoothing
    return _shares(truth), _shares(counts)


def _shares(counts):
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / counts.shape[-1])


def log_posterior(said, gold, tau, psi, smoothing):
    """Log likelihood plus the log Dirichlet(1 + smoothing) priors, up to a constant."""
    _, log_likelihood = e_step(said, gold, tau, psi)
    if smoothing == 0:
        return log_likelihood
    return log_likelihood + smoothing * (np.log(tau).sum() + np.log(psi).sum())
