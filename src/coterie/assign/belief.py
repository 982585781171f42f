"""What decisions are made of: beliefs about items and answers, and what one more answer tells.

Belief is what the model *reports*: probabilities that may be tempered and mixed, because these are
the ones that are calibrated. How somebody answers is the posterior mean of their matrix, that is
the predictive distribution of the next answer with the matrix integrated out. Where a model gives
likeliest matrices, the mean is that of the Dirichlets which the counts imply.

Labels of one item share mistakes. A label of an item that has n others is new evidence with
probability ease / (1 + overlap n), and otherwise says nothing that the others have not said: that
is how the model itself counts a label among n + 1.

With belief p, matrix Psi and worth w, an answer c has the chance m[c] = sum over t of p[t] Psi[t,c]
and leaves the belief p[t] (w Psi[t,c] / m[c] + 1 - w): Bayes' rule with probability w, else nothing
new. On average that is p again, so that no answer is expected to move belief anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from coterie.errors import CoterieError
from coterie.numeric import FloatArray, LongArray
from coterie.posterior import Posterior

GUESSED = "% guessed"
"""How the names of kinds of hard items end; the number before it is the share of guesses."""
STRENGTH = 10.0
"""Labels that a row of a matrix is taken to rest on before there are any."""
NOISE = 1e-12
"""Gains up to this are those of rounding."""


@dataclass(frozen=True, eq=False)
class Belief:
    """What a posterior says of items and of answers to come."""

    items: FloatArray  # (items, classes)   probabilities, as reported
    matrix: FloatArray  # (annotators + 1, classes, answers)   mean; the last of somebody new
    n_labels: LongArray  # (items,)
    ease: FloatArray  # (items,)   what a label tells, were it the only one: 1 is all of the matrix
    overlap: float  # how alike labels of one item are, beyond their truth


def belief_of(posterior: Posterior) -> Belief:
    """Read off a posterior what decisions are made of.

    Somebody new answers as annotators without labels do, by the model's own predictive; where there
    are none, as those who have labels do on average.
    """
    if not (posterior.abilities.probabilities and posterior.abilities.accuracies):
        raise CoterieError(
            f"{posterior.model} counts votes and judges nobody, so that nothing can be decided from"
            " it; fit a model that does, such as Consensus or QuickConsensus"
        )
    a, matrix = posterior.annotations, _mean_matrices(posterior)
    idle = a.labels_per_annotator == 0
    alike = matrix[idle if idle.any() else ~idle]
    if len(alike) == 0:
        alike = np.full((1, a.n_classes, a.n_answers), 1 / max(a.n_answers, 1))
    return Belief(
        items=np.ascontiguousarray(posterior.item_probability, np.float64),
        matrix=np.concatenate([matrix, alike.mean(axis=0)[None]]),
        n_labels=a.labels_per_item.astype(np.int64),
        ease=_ease(posterior),
        overlap=posterior.mixing.overlap,
    )


def _mean_matrices(posterior: Posterior) -> FloatArray:
    """Give everybody's mean matrix, shape (annotators, classes, answers).

    Likeliest matrices take an answer that was not yet given for one that is never given. Rows rest
    on their labels instead, and on ``STRENGTH`` labels of the whole crowd.
    """
    codes, probability = posterior.annotations.codes, posterior.item_probability
    if not posterior.abilities.likeliest or codes.n_answers == 0:
        return np.asarray(posterior.confusion_mean, np.float64)
    said = np.zeros((len(codes.annotator_start) - 1, codes.n_answers, codes.n_classes))
    item = np.repeat(np.arange(len(probability)), np.diff(codes.item_start))
    np.add.at(said, (codes.item_annotator, codes.item_answer), probability[item])
    crowd = said.sum(axis=0) + 1
    said += STRENGTH * crowd / crowd.sum(axis=0)
    return np.ascontiguousarray((said / said.sum(axis=1, keepdims=True)).swapaxes(1, 2))


def _ease(posterior: Posterior) -> FloatArray:
    """Give what a label of each item tells, at most 1.

    Of what is reported a part may be shares of votes, which labels move by far less. Where the
    model tells kinds of items, labels of hard ones are guesses to a part; matrices are of all
    items, so that an average item counts 1.
    """
    n_labels = posterior.annotations.labels_per_item
    kinds = posterior.item_numbers.get("kind")
    own = 1 - posterior.mixing.vote_share
    if kinds is None or n_labels.sum() == 0:
        return np.full(len(n_labels), own)
    guessed = [
        float(name.removesuffix(GUESSED)) / 100 if name.endswith(GUESSED) else 0.0
        for name in kinds.columns
    ]
    known = 1 - kinds.values @ np.array(guessed)
    average = float((known * n_labels).sum() / n_labels.sum())
    return np.asarray(own * np.minimum(known / max(average, 1e-12), 1.0), np.float64)


def worth_of(n_labels: LongArray | int, overlap: float) -> FloatArray:
    """Give how much of one more label is new evidence, for items that have n: 1 / (1 + overlap n).

    Examples
    --------
    >>> worth_of(np.array([0, 1, 4]), 0.25).tolist()
    [1.0, 0.8, 0.5]
    """
    return np.asarray(1 / (1 + overlap * np.asarray(n_labels)), np.float64)


def expect_answers(belief: FloatArray, matrix: FloatArray) -> FloatArray:
    """Give the chance of each answer, (..., answers), from (..., classes) and (..., classes, A)."""
    return np.asarray(np.einsum("...t,...tc->...c", belief, matrix))


def inform_all(items: FloatArray, worth: FloatArray, matrix: FloatArray) -> FloatArray:
    """Give what one more answer of each matrix about each item tells: information, and gain.

    Information, in bits about the class, is the sum over t, c of p[t] q[t,c] log2(q[t,c] / m[c])
    with q = w Psi + (1 - w) m; the gain is by how much the chance of a right label rises.

    Parameters
    ----------
    items, worth
        Belief, shape (items, classes), and what a label is worth, shape (items,).
    matrix
        Shape (people, classes, answers).

    Returns
    -------
    Array of shape (2, items, people).
    """
    w, p = worth[:, None, None, None], items[:, None]
    chance = expect_answers(p, matrix)[:, :, None]
    said = w * matrix + (1 - w) * chance
    bits = expect_answers(p, rel_entr(said, chance)).sum(axis=2) / np.log(2)
    after = (p[..., None] * said).max(axis=2, initial=0.0).sum(axis=2)
    return np.maximum([bits, after - p.max(axis=2, initial=0.0)], 0.0)


def usual_information(balance: FloatArray, matrix: FloatArray) -> FloatArray:
    """Give the bits that an answer tells of an item of which only the class balance is known.

    Examples
    --------
    >>> noise, expert = [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    >>> usual_information(np.array([0.5, 0.5]), np.array([noise, expert])).tolist()
    [0.0, 1.0]
    """
    return np.asarray(inform_all(balance[None], np.ones(1), matrix)[0, 0])


def without_noise(gain: FloatArray) -> FloatArray:
    """Give gains, 0 where there is only the error of rounding: no label changes."""
    return np.where(gain > NOISE, gain, 0.0)
