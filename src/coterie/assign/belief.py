"""What decisions are made of: beliefs about items and answers, as arrays, off a Posterior.

Belief is what the model *reports*: probabilities that may be tempered and mixed, because these are
the ones that are calibrated. How somebody answers is the posterior mean of their matrix, that is
the predictive distribution of the next answer with the matrix integrated out. Where a model gives
likeliest matrices, the mean is that of the Dirichlets which the counts imply.

Labels of one item share mistakes. A label of an item that has n others is new evidence with
probability ease / (1 + overlap n), and otherwise says nothing that the others have not said: that
is how the model itself counts a label among n + 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.errors import CoterieError
from coterie.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

GUESSED = "% guessed"
"""How the names of kinds of hard items end; the number before it is the share of guesses."""
STRENGTH = 10.0
"""Labels that a row of a matrix is taken to rest on before there are any."""


@dataclass(frozen=True, eq=False)
class Belief:
    """What a posterior says of items and of answers to come.

    Parameters
    ----------
    items
        Probability of each class for each item, as reported, shape (items, classes).
    matrix
        Mean confusion matrices, the last one of somebody new, shape (annotators + 1, classes,
        answers).
    n_labels
        Labels that each item has, shape (items,).
    ease
        What a label of each item tells, were it the only one: 1 is all that the matrix says, shape
        (items,).
    overlap
        How alike labels of one item are, beyond their truth.
    """

    items: FloatArray
    matrix: FloatArray
    n_labels: IntArray
    ease: FloatArray
    overlap: float

    @property
    def newcomer(self) -> int:
        """The row of ``matrix`` that is of somebody new."""
        return len(self.matrix) - 1


def belief_of(posterior: Posterior) -> Belief:
    """Read off a posterior what decisions are made of.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=20, annotators=6, random_state=0)
    >>> belief = belief_of(coterie.QuickConsensus().fit(crowd.annotations).posterior_)
    >>> belief.items.shape, belief.matrix.shape, belief.newcomer
    ((20, 3), (7, 3, 3), 6)
    """
    require_beliefs(posterior)
    a = posterior.annotations
    matrix = mean_matrices(posterior)
    return Belief(
        items=np.ascontiguousarray(posterior.item_probability, np.float64),
        matrix=np.concatenate([matrix, newcomer_matrix(posterior, matrix)[None]]),
        n_labels=a.labels_per_item.astype(np.int64),
        ease=ease_of(posterior),
        overlap=posterior.mixing.overlap,
    )


def require_beliefs(posterior: Posterior) -> None:
    """Raise where probabilities are shares of votes, or matrices judge nobody."""
    if posterior.abilities.probabilities and posterior.abilities.accuracies:
        return
    raise CoterieError(
        f"{posterior.model} counts votes and judges nobody, so that nothing can be decided from"
        " it; fit a model that does, such as Consensus or QuickConsensus"
    )


def mean_matrices(posterior: Posterior) -> FloatArray:
    """Give everybody's mean matrix, shape (annotators, classes, answers).

    Likeliest matrices take an answer that was not yet given for one that is never given. Rows rest
    on their labels instead, and on ``STRENGTH`` labels of the whole crowd.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "a"), ("q1", "bob", "a"), ("q2", "ann", "b"), ("q2", "bob", "b")]
    >>> posterior = coterie.DawidSkene().fit(rows).posterior_
    >>> posterior.confusion_mean[0].round(2).tolist(), mean_matrices(posterior)[0].round(2).tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[0.77, 0.23], [0.23, 0.77]])
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


def newcomer_matrix(posterior: Posterior, matrix: FloatArray) -> FloatArray:
    """Give how somebody new is expected to answer, shape (classes, answers).

    Annotators without labels have the model's own predictive; where there are none, people are as
    those who have labels are on average.
    """
    idle = posterior.annotations.labels_per_annotator == 0
    chosen = matrix[idle if idle.any() else ~idle]
    if len(chosen) == 0:
        a = posterior.annotations
        return np.full((a.n_classes, a.n_answers), 1 / max(a.n_answers, 1))
    return np.asarray(chosen.mean(axis=0), np.float64)


def ease_of(posterior: Posterior) -> FloatArray:
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


def worth_of(n_labels: IntArray | int, overlap: float) -> FloatArray:
    """Give how much of one more label is new evidence, for items that have n: 1 / (1 + overlap n).

    Examples
    --------
    >>> worth_of(np.array([0, 1, 4]), 0.25).tolist()
    [1.0, 0.8, 0.5]
    """
    return np.asarray(1 / (1 + overlap * np.asarray(n_labels)), np.float64)
