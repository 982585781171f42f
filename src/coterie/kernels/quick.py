"""The quick consensus: two models without sampling, tempered, half and half, drawn to the vote.

    tau[i] = 1 / (1 + rho (n[i] - 1))
    F = softmax(tau L_skill) / 2 + softmax(tau L_matrix) / 2
    P ~ F^0.75 ((V + 1/T) / (n + 1))^0.25,   then 0.98 P + 0.02 / T

Both are fitted by expectation-maximisation item by item, each weighed by what all *other* items say
(CVB0): an item that helped to call its annotators good would otherwise believe them twice. Only
what comes out is tempered; inside, full weights find the truth. A finished posterior cannot be
tempered instead: saturated, it has lost the evidence.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.vote import Mixing, mix, softmax, tempering
from coterie.numeric import FloatArray, IntArray, LongArray
from coterie.numeric.compile import entry, jit

START = 0.5  # labels that an even vote is worth where the first model starts
RIGHT, SEEN, STRENGTH = 7.0, 10.0, 4.0  # the crowd's skill starts so; it is worth so many labels
# What the crowd's matrix is worth beside an annotator's own, and the one-coin matrix beside the
# crowd's, in labels of each true class; and even classes beside those found, each in all items.
OWN, CROWD, BALANCE = 10.0, 1000.0, 0.1
STRETCH = 8  # ratios that are multiplied before a logarithm is taken: they cannot underflow
SPREADS = np.logspace(-1, 2, 60)  # the values of a that are tried: the curve is flat
# What both are mixed with: the vote among the logs, and equal shares, so that nothing is certain.
MIXING = Mixing(vote_power=0.25, floor=0.02)


class Consensus(NamedTuple):
    """What the quick consensus finds."""

    probability: FloatArray  # (items, classes)   as reported
    raw: FloatArray  # (items, classes)   both models, not tempered
    class_balance: FloatArray  # (classes,)
    confusion: FloatArray  # (annotators, classes, answers)
    correlation: float  # of the labels of one item
    mixing: Mixing  # how the reported ones came to be
    passes: tuple[int, int]  # of the skill and of the matrix model
    converged: bool


def quick_consensus(
    codes: Codes, votes: IntArray, tolerance: float = 1e-3, most: int = 100
) -> Consensus:
    """Run both models and blend them; the same input gives the same bits.

    A model stops when no probability moves by the tolerance, or after so many passes; votes are
    (items, classes).
    """
    p, n_labels, known = start_of(codes, votes), np.diff(codes.item_start), codes.gold >= 0
    first, by_skill, _ = run(False, codes, p, tolerance, most)
    second, by_matrix, said = run(True, codes, p, tolerance, most)
    correlation = intraclass_correlation(votes)
    mixing = replace(MIXING, overlap=min(0.75, 1.5 * correlation))
    tau = tempering(n_labels, mixing.overlap)[:, None]
    reported = mix((softmax(tau * by_skill) + softmax(tau * by_matrix)) / 2, votes, mixing)
    raw = (softmax(by_skill) + softmax(by_matrix)) / 2
    counted = p[known | (n_labels > 0)]
    balance = counted.sum(axis=0) + (BALANCE * len(counted) or 1.0)
    balance /= balance.sum()
    for result in (reported, raw):
        result[n_labels == 0], result[known] = balance, p[known]
    crowd, total = said[-1, :-1], said[-1, -1]
    skill = (np.trace(crowd) + RIGHT) / (total.sum() + SEEN)
    coin = np.full_like(crowd, (1 - skill) / max(codes.n_answers - 1, 1))
    np.fill_diagonal(coin, skill)
    own = said[:-1, :-1] + OWN * (crowd + CROWD * coin) / (total + CROWD)
    confusion = (own / own.sum(axis=1, keepdims=True)).swapaxes(1, 2)
    passes, converged = (first, second), max(first, second) < most
    return Consensus(reported, raw, balance, confusion, correlation, mixing, passes, converged)


def tempered_skills(codes: Codes, votes: IntArray) -> FloatArray:
    """Give the probabilities of the skill model alone, tempered, as :func:`quick_consensus` has."""
    _, logs, _ = run(False, codes, start_of(codes, votes))
    overlap = min(0.75, 1.5 * intraclass_correlation(votes))
    return softmax(tempering(np.diff(codes.item_start), overlap)[:, None] * logs)


def start_of(codes: Codes, votes: IntArray) -> FloatArray:
    """Give where the models start: the votes and half a label, spread evenly; gold is certain."""
    p = votes.astype(np.float64) + START / max(codes.n_classes, 1)
    p /= p.sum(axis=1, keepdims=True)
    known = codes.gold >= 0
    p[known] = np.eye(codes.n_classes)[codes.gold[known]]
    return p


def run(
    by_matrix: bool, codes: Codes, p: FloatArray, tolerance: float = 1e-3, most: int = 100
) -> tuple[int, FloatArray, FloatArray]:
    """Fit a model, and change p; give passes, log weights, and expected counts of labels.

    These are by annotator, answer and class; the last row is the crowd's, the last column of all
    answers. Those of skills are of right labels and all. With one class there is no choice.
    """
    shape = (codes.n_answers + 1, codes.n_classes) if by_matrix else (2, 1)
    logs, said = np.zeros_like(p), np.zeros((len(codes.annotator_start), *shape))
    labels = codes.item_start, codes.item_annotator, codes.item_answer, codes.gold
    most = most if codes.n_classes > 1 else 0
    return fit(by_matrix, *labels, p, logs, said, tolerance, most), logs, said


@entry
def fit(
    by_matrix: bool, start: LongArray, annotator: IntArray, answer: IntArray, gold: IntArray,
    p: FloatArray, logs: FloatArray, said: FloatArray, tolerance: float, most: int,
) -> int:  # fmt: skip
    """Pass over the items until no probability moves by the tolerance; give the passes made.

    Skill: an annotator is right with one chance, drawn towards the crowd's; mistakes fall evenly,
    and extra answers say nothing. Matrix: a confusion matrix per annotator, drawn towards the
    crowd's, which is drawn towards one coin for all; and class proportions.
    """
    n_classes, n_items = p.shape[1], 0
    in_class, product = np.zeros(n_classes), np.ones(n_classes)
    for i in range(len(gold)):
        if gold[i] >= 0 or start[i] < start[i + 1]:
            n_items += 1
            in_class += p[i]
        for k in range(start[i], start[i + 1]):
            count(1.0, by_matrix, annotator[k], answer[k], p[i], said)
    spread = BALANCE * n_items
    for done in range(most):
        right, seen, largest = RIGHT, SEEN, 0.0
        for t in range(said.shape[2]):
            right += said[-1, t, t]
            seen += said[-1, -1, t]
        skill = right / seen
        other = (1 - skill) / max(said.shape[1] - 2, 1)
        for i in range(len(gold)):
            first, last, now = start[i], start[i + 1], p[i]
            if first == last:
                continue
            for k in range(first, last):
                count(-1.0, by_matrix, annotator[k], answer[k], now, said)
            for t in range(n_classes):
                in_class[t] -= now[t]
                share = (in_class[t] + spread) / (n_items - 1 + spread * n_classes)
                logs[i, t] = math.log(share) if by_matrix else 0.0
            for k in range(first, last):
                l, c = annotator[k], answer[k]
                if by_matrix:
                    for t in range(n_classes):
                        coin = skill if c == t else other
                        base = (said[-1, c, t] + CROWD * coin) / (said[-1, -1, t] + CROWD)
                        product[t] *= (said[l, c, t] + OWN * base) / (said[l, -1, t] + OWN)
                elif c < n_classes:
                    own = (said[l, 0, 0] + STRENGTH * skill) / (said[l, -1, 0] + STRENGTH)
                    for t in range(n_classes):
                        product[t] *= own if c == t else (1 - own) / (n_classes - 1)
                if (k + 1 - first) % STRETCH == 0 or k + 1 == last:
                    for t in range(n_classes):
                        logs[i, t] += math.log(product[t])
                        product[t] = 1.0
            if gold[i] < 0:
                highest, total = logs[i].max(), 0.0
                for t in range(n_classes):
                    total += math.exp(logs[i, t] - highest)
                for t in range(n_classes):
                    before, now[t] = now[t], math.exp(logs[i, t] - highest) / total
                    largest = max(largest, abs(now[t] - before))
            for t in range(n_classes):
                in_class[t] += now[t]
            for k in range(first, last):
                count(1.0, by_matrix, annotator[k], answer[k], now, said)
        if largest < tolerance:
            return done + 1
    return most


@jit
def count(sign: float, by_matrix: bool, l: int, c: int, p: FloatArray, said: FloatArray) -> None:
    """Count a label of an item with these probabilities, or take it out (sign -1)."""
    if by_matrix:
        for row in (np.int64(l), np.int64(-1)):
            for t in range(len(p)):
                said[row, c, t] += sign * p[t]
                said[row, -1, t] += sign * p[t]
    elif c < len(p):
        for row in (np.int64(l), np.int64(-1)):
            said[row, 0, 0] += sign * p[c]
            said[row, -1, 0] += sign


def intraclass_correlation(votes: IntArray) -> float:
    """Give 1 / (1 + a), a the spread under which each label is best foretold by the item's others.

    It maximises the sum over labels of log((V[i, y] - 1 + a f[y]) / (n[i] - 1 + a)), with f the
    shares of the classes among all labels, and a log-normal prior of median e. Without two labels
    of one item, a = e; of one class nothing is said.
    """
    several = votes[votes.sum(axis=1) > 1]
    if votes.shape[1] < 2:
        return 0.0
    if len(several) == 0:
        return 1 / (1 + math.e)
    share = (votes.sum(axis=0) + 1.0) / (votes.sum() + votes.shape[1])
    # Few distinct rows stand for many items.
    rows, times = np.unique(several, axis=0, return_counts=True)
    total, others = rows.sum(axis=1, keepdims=True), np.maximum(rows - 1, 0)
    score = [
        float((times[:, None] * rows * np.log((others + a * share) / (total - 1 + a))).sum())
        - (math.log(a) - 1) ** 2 / 2
        for a in SPREADS
    ]
    return float(1 / (1 + SPREADS[int(np.argmax(score))]))
