"""MajorityVote: the class that most annotators gave."""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

import numpy as np

from coterie.abilities import Abilities, Method
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.kernels.em import estimate_from
from coterie.kernels.vote import count_votes, elect, vote_shares
from coterie.models.base import Estimator
from coterie.posterior import Posterior

Ties = Literal["lowest", "random", "split"]


class MajorityVote(Estimator):
    """The class that most annotators gave; its probability is its share of the votes.

    Extra answers ("unsure") are no votes, known labels are certain, and an item without votes gets
    the class proportions. The confusion matrices set each annotator's answers against the vote.

    Parameters
    ----------
    ties
        What becomes of an item whose most frequent classes tie: ``"lowest"`` labels it with the
        first of them in class order, ``"random"`` with one of them drawn at random. ``"split"``
        gives each of them an equal part of its probability, and none to the classes that lost (its
        label is the lowest). Probabilities are the vote shares in the other two.
    random_state
        Seed or generator of the random ties.
    duplicates
        What an annotator's repeated label of one item means, see :func:`coterie.read`.

    Attributes
    ----------
    n_ties_ : int
        Number of items whose vote tied; known labels and items without votes are none.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "yes")]
    >>> model = coterie.MajorityVote().fit(rows)
    >>> model.predict().to_dict()
    {'q1': 'no', 'q2': 'yes'}
    >>> model.n_ties_
    1
    """

    method: ClassVar[Method] = "count"
    abilities: ClassVar[Abilities] = Abilities(probabilities=False, accuracies=False)
    n_ties_: int

    def __init__(
        self,
        *,
        ties: Ties = "lowest",
        random_state: int | np.random.Generator | None = None,
        duplicates: str = "error",
    ) -> None:
        self.ties = ties
        self.random_state = random_state
        self.duplicates = duplicates

    def _fit(self, annotations: Annotations) -> Posterior:
        if self.ties not in get_args(Ties):
            raise DataError(f"ties must be one of {list(get_args(Ties))}, got {self.ties!r}")
        codes = annotations.codes
        votes = count_votes(codes)
        probability = vote_shares(votes, codes.gold)
        if self.ties == "random":
            shift = np.random.default_rng(self.random_state).random(annotations.n_items)
        else:
            shift = np.zeros(annotations.n_items)
        winner, n_tied = elect(probability, shift)
        tied = (n_tied > 1) & votes.any(axis=1)
        if self.ties == "split":
            most = probability[tied].max(axis=1, keepdims=True)
            probability[tied] = (probability[tied] == most) / n_tied[tied, None]
        self.n_ties_ = int(np.count_nonzero(tied))
        parameters = estimate_from(codes, probability)
        return Posterior(
            annotations=annotations,
            item_probability=probability,
            class_balance=parameters.truth,
            confusion_mean=np.ascontiguousarray(parameters.said.swapaxes(1, 2)),
            label=winner,
            model=type(self).__name__,
            method=self.method,
            abilities=self.abilities,
            settings=self.get_params(),
        )
