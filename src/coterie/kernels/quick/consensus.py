"""The quick consensus: both models tempered, half and half, drawn towards the vote.

    tau[i] = 1 / (1 + rho (n[i] - 1))
    F = softmax(tau L_skill) / 2 + softmax(tau L_matrix) / 2
    P ~ F^0.75 ((V + 1/T) / (n + 1))^0.25,   then 0.98 P + 0.02 / T

Only what comes out is tempered; inside, full weights find the truth. A finished posterior cannot
be tempered instead: saturated, it has lost the evidence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.mixing import Mixing, mix, tempering
from coterie.kernels.quick.likeness import intraclass_correlation, overlap_of
from coterie.kernels.quick.matrix import balance_of, fit_matrices, matrices_of, new_counts
from coterie.kernels.quick.skill import fit_skills

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]

START = 0.5
"""Labels that an even vote is worth where the first model starts."""
MIXING = Mixing(vote_power=0.25, floor=0.02)
"""What both are mixed with: the vote among the logs, and equal shares, so that nothing is certain.
How far labels are tempered depends on the data."""


class Consensus(NamedTuple):
    """What the quick consensus finds."""

    probability: FloatArray  # (items, classes)               as reported
    raw: FloatArray  # (items, classes)               both models, not tempered
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

    Parameters
    ----------
    codes, votes
        The labels, and how many of them each class of each item got, shape (items, classes).
    tolerance, most
        A model stops when no probability moves by so much, or after so many passes.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> from coterie.data.votes import count_votes
    >>> codes = encode([0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [0, 0, 0, 1, 1, 0], sizes=(2, 3, 2, 2))
    >>> quick_consensus(codes, count_votes(codes)).probability.round(2).tolist()
    [[0.82, 0.18], [0.44, 0.56]]
    """
    probability = start_from(votes, codes.gold)
    n_labels = np.diff(codes.item_start)
    if codes.n_classes < 2:
        return only_class(codes, probability)
    by_skill, by_matrix = np.zeros_like(probability), np.zeros_like(probability)
    first = fit_skills(codes, probability, by_skill, tolerance, most)
    counts = new_counts(codes, probability)
    second = fit_matrices(codes, probability, by_matrix, counts, (tolerance, most))
    correlation = intraclass_correlation(votes)
    mixing = replace(MIXING, overlap=overlap_of(correlation))
    tau = tempering(n_labels, mixing.overlap)[:, None]
    both = (softmax(tau * by_skill) + softmax(tau * by_matrix)) / 2
    reported = mix(both, votes, mixing)
    raw = (softmax(by_skill) + softmax(by_matrix)) / 2
    balance = balance_of(counts)
    for result in (reported, raw):
        result[n_labels == 0] = balance
        clamp(result, codes.gold)
    matrices = matrices_of(codes, counts)
    passes = (first, second)
    return Consensus(
        reported, raw, balance, matrices, correlation, mixing, passes, max(passes) < most
    )


def tempered_skills(
    codes: Codes, votes: IntArray, tolerance: float = 1e-3, most: int = 100
) -> FloatArray:
    """Give the probabilities of the skill model alone, tempered, shape (items, classes).

    The parameters are those of :func:`quick_consensus`.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> from coterie.data.votes import count_votes
    >>> codes = encode([0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [0, 0, 0, 1, 1, 0], sizes=(2, 3, 2, 2))
    >>> tempered_skills(codes, count_votes(codes)).round(2).tolist()
    [[0.8, 0.2], [0.35, 0.65]]
    """
    probability = start_from(votes, codes.gold)
    if codes.n_classes < 2:
        return np.ones_like(probability)
    log_weight = np.zeros_like(probability)
    fit_skills(codes, probability, log_weight, tolerance, most)
    overlap = overlap_of(intraclass_correlation(votes))
    tau = tempering(np.diff(codes.item_start), overlap)[:, None]
    return softmax(tau * log_weight)


def start_from(votes: NDArray[np.int32], gold: NDArray[np.int32]) -> FloatArray:
    """Give where the models start: the votes and half a label, spread evenly; gold is certain."""
    start: FloatArray = votes + START / max(votes.shape[1], 1)
    start /= start.sum(axis=1, keepdims=True)
    clamp(start, gold)
    return start


def clamp(probability: FloatArray, gold: NDArray[np.int32]) -> None:
    """Make known classes certain, in place."""
    (known,) = np.nonzero(gold >= 0)
    probability[known] = 0
    probability[known, gold[known]] = 1


def softmax(log_weight: FloatArray) -> FloatArray:
    """Give the probabilities of log weights, rows summing to one."""
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def only_class(codes: Codes, probability: FloatArray) -> Consensus:
    """Give the result where there is nothing to choose: one class, or none."""
    certain = np.ones_like(probability)
    shape = (len(codes.annotator_start) - 1, codes.n_classes, codes.n_answers)
    counts = new_counts(codes, certain)
    matrices = np.full(shape, 1 / max(codes.n_answers, 1))
    if codes.n_classes == 1 and codes.n_answers > 1:
        matrices = matrices_of(codes, counts)
    balance = np.full(codes.n_classes, 1 / max(codes.n_classes, 1))
    return Consensus(certain, certain, balance, matrices, 0.0, MIXING, (0, 0), True)
