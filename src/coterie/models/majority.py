"""The vote: the class that most annotators gave, by itself and beside what a model found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.arguments import check_one_of, check_whole
from coterie.data.codes import Codes, count_votes
from coterie.errors import Argument, DataError
from coterie.inference.ascent import Items, in_memory, in_shards
from coterie.io.scan.scanned import Scan
from coterie.kernels import vote as kernel
from coterie.kernels.expected import Part, estimate
from coterie.metrics import Score
from coterie.models.base import Estimator, Labels, setting
from coterie.numeric import FloatArray
from coterie.posterior import Posterior
from coterie.posterior.sharded import FoundItems, ShardedPosterior

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
    shards: ClassVar[bool] = True
    n_ties_: int = field(init=False)

    probabilities: Probabilities = setting(
        "skill", check_one_of, get_args(Probabilities), f"one of {list(get_args(Probabilities))}"
    )
    ties: Ties = setting(
        "lowest", check_one_of, get_args(Ties), f"one of {list(get_args(Ties))}", "text"
    )
    random_state: int | np.random.Generator | None = setting(None, check_whole, 0)
    duplicates: str = "error"

    def _fit(self, labels: Labels) -> Posterior:
        self._check()
        shift = np.zeros(1)
        if self.ties == "random":
            if isinstance(labels, Scan):
                asked = Argument("ties", "random", of="MajorityVote")
                why = " draws for all items in turn, which a scan does not hold"
                remedy = "choose ties='lowest' or 'split', or coterie.read the labels if they fit"
                raise DataError([asked, why], remedy=remedy)
            shift = np.random.default_rng(self.random_state).random(labels.n_items)
        items = items_of(labels)
        vote = Vote(self.probabilities, self.ties, shift, *known_of_all(items, labels.n_items))
        self.n_ties_ = sum(items.map(lambda codes: int(np.count_nonzero(vote.decide(codes)[3]))))
        sums = items.count(lambda codes: vote.decide(codes)[1], labels.n_classes)
        balance, confusion = estimate(sums)
        return self._posterior(
            labels,
            partial(vote.found, items.part),
            class_balance=balance[0],
            confusion_mean=np.ascontiguousarray(confusion.swapaxes(1, 2)),
            abilities=replace(self.abilities, probabilities=self.probabilities == "skill"),
        )

    @property
    def probas_(self) -> pd.DataFrame:
        """crowd-kit's name: the vote shares, index ``task``, one column per label."""
        return self._fitted().probabilities(raw=True).rename_axis(index="task")


class Vote(NamedTuple):
    """How items are decided by their votes, and what is known of all items."""

    probabilities: Probabilities
    ties: Ties
    shift: FloatArray  # (items,) or (1,)   which of the classes that tie is elected, in [0, 1)
    mean: FloatArray  # (classes,)   shares of the classes, for items without votes
    agreement: float  # how often two labels of an item agree

    def decide(
        self, codes: Codes
    ) -> tuple[NDArray[np.int32], FloatArray, NDArray[np.int64], NDArray[np.bool_]]:
        """Give the votes of some items, their shares, who wins, and where there are ties."""
        votes = count_votes(codes)
        shares = kernel.vote_shares(votes, codes.gold, self.mean)
        winner, n_tied = kernel.elect(shares, self.shift)
        tied = (n_tied > 1) & votes.any(axis=1)
        if self.ties == "split":
            most = shares[tied].max(axis=1, keepdims=True)
            shares[tied] = (shares[tied] == most) / n_tied[tied, None]
        return votes, shares, winner, tied

    def found(self, part: Callable[[int], Part], k: int) -> FoundItems:
        """Give what the votes are worth; known, silent and split items keep their shares."""
        codes = part(k).codes
        votes, shares, winner, tied = self.decide(codes)
        if self.probabilities != "skill":
            return FoundItems(shares, winner)
        keep = (codes.gold >= 0) | ~votes.any(axis=1)
        if self.ties == "split":
            keep |= tied
        worth = np.where(keep[:, None], shares, kernel.skill_vote(votes, self.agreement))
        return FoundItems(worth, winner, raw=shares)


def items_of(labels: Labels, *kinds: Any) -> Items:
    """Hold what a model climbs on: all items as one part, or those of each shard."""
    return in_shards(labels) if isinstance(labels, Scan) else in_memory(labels.codes, *kinds)


def known_of_all(items: Items, n_items: int) -> tuple[FloatArray, float]:
    """Give the mean shares of the classes, and how often two labels of an item agree."""

    def summed(codes: Codes) -> tuple[Any, int, int, int]:
        votes = count_votes(codes)
        heard = votes.any(axis=1) | (codes.gold >= 0)
        shares, pairs = kernel.vote_shares(votes, codes.gold)[heard], kernel.pair_agreement(votes)
        total = kernel.fixed_point(shares, n_items).sum(axis=0)
        return total, len(shares), int(kernel.fixed_point(pairs, n_items).sum()), len(pairs)

    totals, n_voted, agreed, n_several = zip(*items.map(summed), strict=True)
    mean = kernel.mean_share(np.sum(totals, axis=0), sum(n_voted), n_items)
    return mean, kernel.mean_agreement(sum(agreed), sum(n_several), n_items)


class Scored(NamedTuple):
    """What a truth says of a result, and of the vote."""

    own: Score
    vote: Score

    def by_model(self, model: str) -> dict[str, Score]:
        """Give both by the names of the models, the vote first; a vote is there once."""
        return {MajorityVote.__name__: self.vote, model: self.own}


def score_vote(labels: Labels, truth: Any) -> Score:
    """Score the vote, in which repeated labels that were let in all count.

    It takes a moment: asked before a fit, it shows whether a truth fits the labels. The truth is
    given as for :meth:`coterie.Posterior.score`.
    """
    return MajorityVote(duplicates="keep").fit(labels).posterior_.score(truth)


def score_beside_vote(posterior: Posterior, truth: Any, vote: Score | None = None) -> Scored:
    """Score a result and the vote, unless :func:`score_vote` gave that, by the same truth."""
    if vote is None:
        there = posterior.scan if isinstance(posterior, ShardedPosterior) else posterior.annotations
        vote = score_vote(there, truth)
    return Scored(posterior.score(truth), vote)
