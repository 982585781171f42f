"""MajorityVote: the class that most annotators gave."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.kernels.em import estimate_from
from coterie.kernels.vote import elect, skill_vote, vote_shares
from coterie.models.base import Estimator
from coterie.posterior import Posterior
from coterie.words.visible import quoted

Ties = Literal["lowest", "random", "split"]
Probabilities = Literal["skill", "shares"]


class MajorityVote(Estimator):
    """The class that most annotators gave, as probable as so much agreement makes it.

    Extra answers ("unsure") are no votes, known labels are certain, and an item without votes gets
    the class proportions. The confusion matrices set each annotator's answers against the vote.

    Parameters
    ----------
    probabilities
        ``"skill"``: what the votes are worth if all annotators are equally good, by how often
        labels of one item agree. ``"shares"``: the share of each class in the item's votes, which
        crowd-kit gives (and ``fit_predict_proba`` and ``probas_`` do here).
    ties
        What becomes of an item whose most frequent classes tie: ``"lowest"`` labels it with the
        first of them in class order, ``"random"`` with one of them drawn at random. ``"split"``
        gives each of them an equal part of its probability, and none to the classes that lost (its
        label is the lowest).
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
        probabilities: Probabilities = "skill",
        ties: Ties = "lowest",
        random_state: int | np.random.Generator | None = None,
        duplicates: str = "error",
    ) -> None:
        self.probabilities = probabilities
        self.ties = ties
        self.random_state = random_state
        self.duplicates = duplicates

    def _fit(self, annotations: Annotations) -> Posterior:
        for name, known in (("ties", get_args(Ties)), ("probabilities", get_args(Probabilities))):
            if getattr(self, name) not in known:
                raise DataError(
                    f"{name} must be one of {list(known)}, got {quoted(getattr(self, name))}"
                )
        codes = annotations.codes
        votes = annotations.votes
        shares = vote_shares(votes, codes.gold)
        if self.ties == "random":
            shift = np.random.default_rng(self.random_state).random(annotations.n_items)
        else:
            shift = np.zeros(annotations.n_items)
        winner, n_tied = elect(shares, shift)
        tied = (n_tied > 1) & votes.any(axis=1)
        if self.ties == "split":
            most = shares[tied].max(axis=1, keepdims=True)
            shares[tied] = (shares[tied] == most) / n_tied[tied, None]
        self.n_ties_ = int(np.count_nonzero(tied))
        parameters = estimate_from(codes, shares)
        honest = self.probabilities == "skill"
        return Posterior(
            annotations=annotations,
            item_probability=self._believed(votes, shares, codes.gold) if honest else shares,
            raw_probability=shares if honest else None,
            class_balance=parameters.class_balance,
            confusion_mean=np.ascontiguousarray(parameters.confusion.swapaxes(1, 2)),
            label=winner,
            model=type(self).__name__,
            method=self.method,
            abilities=replace(self.abilities, probabilities=honest),
            settings=self.get_params(),
        )

    def _believed(
        self, votes: NDArray[np.int32], shares: NDArray[np.float64], gold: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Give what the votes are worth; known, silent and split items keep their shares."""
        keep = (gold >= 0) | ~votes.any(axis=1)
        if self.ties == "split":
            keep |= (shares == shares.max(axis=1, keepdims=True)).sum(axis=1) > 1
        return np.where(keep[:, None], shares, skill_vote(votes))

    @property
    def probas_(self) -> pd.DataFrame:
        """crowd-kit's name: the vote shares, index ``task``, one column per label."""
        return self._fitted().probabilities(raw=True).rename_axis(index="task")
