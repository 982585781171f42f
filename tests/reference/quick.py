"""The quick consensus written down slowly: everything is counted again for every item."""

import numpy as np


def softmax(logs):
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def counts(rows, probability, without, shape):
    """Expected n[l, t, c] of all items but one; rows are (item, annotator, answer)."""
    said = np.zeros(shape)
    for i, l, c in rows:
        if i != without:
            said[l, :, c] += probability[i]
    return said


def skill_weights(rows, i, probability, crowd, n_classes):
    """The log weights of item i's classes under the skill model, all other items counted."""
    logs = np.zeros(n_classes)
    for j, l, c in rows:
        if j != i or c >= n_classes:
            continue
        others = [(a, b) for a, who, b in rows if who == l and a != i and b < n_classes]
        right = sum(probability[a, b] for a, b in others)
        p = (right + 4 * crowd) / (len(others) + 4)
        logs += [
            np.log(p) if t == c else np.log((1 - p) / (n_classes - 1)) for t in range(n_classes)
        ]
    return logs


def crowd_skill(rows, probability, n_classes):
    seen = [(i, c) for i, _, c in rows if c < n_classes]
    return (sum(probability[i, c] for i, c in seen) + 7) / (len(seen) + 10)


def matrix_weights(rows, i, probability, crowd, known, shape):
    """The log weights of item i's classes under the matrix model, all other items counted."""
    _, n_classes, n_answers = shape
    said = counts(rows, probability, i, shape)
    together = said.sum(axis=0)
    n = len(known)
    totals = sum(probability[j] for j in known if j != i)
    logs = np.log((totals + 0.1 * n) / (n - 1 + 0.1 * n * n_classes))
    for j, l, c in rows:
        if j == i:
            for t in range(n_classes):
                coin = crowd if t == c else (1 - crowd) / (n_answers - 1)
                base = (together[t, c] + 1000 * coin) / (together[t].sum() + 1000)
                logs[t] += np.log((said[l, t, c] + 10 * base) / (said[l, t].sum() + 10))
    return logs


def consensus(rows, gold, shape, tolerance=1e-3, most=100):
    """The reported probabilities; gold is a class per item, -1 where unknown."""
    n_items, n_classes = len(gold), shape[1]
    votes = np.zeros((n_items, n_classes))
    for i, _, c in rows:
        if c < n_classes:
            votes[i, c] += 1
    n_labels = np.bincount([i for i, _, _ in rows], minlength=n_items)
    probability = (votes + 0.5 / n_classes) / (votes.sum(axis=1, keepdims=True) + 0.5)
    for i in np.flatnonzero(gold >= 0):
        probability[i] = np.eye(n_classes)[gold[i]]
    known = [i for i in range(n_items) if gold[i] >= 0 or n_labels[i] > 0]

    def run(weigh, skill):
        logs = np.zeros((n_items, n_classes))
        for _ in range(most):
            crowd, moved = skill(), 0.0
            for i in np.flatnonzero(n_labels):
                logs[i] = weigh(i, crowd)
                if gold[i] < 0:
                    new = softmax(logs[i])
                    moved = max(moved, np.abs(new - probability[i]).max())
                    probability[i] = new
            if moved < tolerance:
                break
        return logs

    first = run(
        lambda i, crowd: skill_weights(rows, i, probability, crowd, n_classes),
        lambda: crowd_skill(rows, probability, n_classes),
    )

    def of_all():
        together = counts(rows, probability, None, shape).sum(axis=0)
        return (np.trace(together) + 7) / (together.sum() + 10)

    second = run(lambda i, crowd: matrix_weights(rows, i, probability, crowd, known, shape), of_all)
    rho = min(0.75, 1.5 * correlation(votes))
    result = np.empty_like(probability)
    balance = sum(probability[i] for i in known) + 0.1 * len(known)
    for i in range(n_items):
        tau = 1 / (1 + rho * max(n_labels[i] - 1, 0))
        mixed = softmax(tau * first[i]) / 2 + softmax(tau * second[i]) / 2
        mixed = mixed**0.75 * ((votes[i] + 1 / n_classes) / (votes[i].sum() + 1)) ** 0.25
        result[i] = 0.98 * mixed / mixed.sum() + 0.02 / n_classes
        if gold[i] >= 0:
            result[i] = np.eye(n_classes)[gold[i]]
        elif n_labels[i] == 0:
            result[i] = balance / balance.sum()
    return result


def correlation(votes):
    """1 / (1 + a) for the a that best foretells each label from the item's others."""
    share = (votes.sum(axis=0) + 1) / (votes.sum() + votes.shape[1])
    items = [row for row in votes if row.sum() > 1]
    if not items:
        return 1 / (1 + np.e)

    def score(a):
        total = -((np.log(a) - 1) ** 2) / 2
        for row in items:
            for c in np.flatnonzero(row):
                total += row[c] * np.log((row[c] - 1 + a * share[c]) / (row.sum() - 1 + a))
        return total

    return 1 / (1 + max(np.logspace(-1, 2, 60), key=score))
