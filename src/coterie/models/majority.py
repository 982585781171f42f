"""MajorityVote: the class that most annotators gave."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.arguments import check_one_of, check_whole
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.data.shards import codes_of
from coterie.data.votes import count_votes
from coterie.errors import Argument, DataError
from coterie.inference.ascent import in_memory, in_shards
from coterie.io.scan.scanned import Scan
from coterie.kernels.expected import Sums, estimate
from coterie.kernels.vote import elect, skill_vote, vote_shares
from coterie.models.base import Estimator
from coterie.models.sharded import Votes, sharded, votes_of
from coterie.posterior import Posterior
from coterie.posterior.gathered import FoundItems

FloatArray = NDArray[np.float64]

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
    n_ties_: int = field(init=False)

    probabilities: Probabilities = "skill"
    ties: Ties = "lowest"
    random_state: int | np.random.Generator | None = None
    duplicates: str = "error"

    def _fit(self, annotations: Annotations) -> Posterior:
        self._check()
        codes = annotations.codes
        votes = annotations.votes
        shares = vote_shares(votes, codes.gold)
        if self.ties == "random":
            shift = np.random.default_rng(self.random_state).random(annotations.n_items)
        else:
            shift = np.zeros(annotations.n_items)
        winner, tied = decide(votes, shares, shift, split=self.ties == "split")
        self.n_ties_ = int(np.count_nonzero(tied))
        found = believed(self, votes, shares, codes.gold)
        return Posterior(
            annotations=annotations,
            item_probability=found.probability,
            raw_probability=found.raw,
            label=winner,
            **self._found(in_memory(codes).count(shares, annotations.n_classes)),
        )

    def _fit_shards(self, scan: Scan) -> Posterior:
        self._check()
        if self.ties == "random":
            raise DataError(
                [
                    Argument("ties", "random", of="MajorityVote"),
                    " draws for all items in turn, which a scan does not hold",
                ],
                remedy="choose ties='lowest' or 'split', or coterie.read the labels if they fit",
            )
        items = in_shards(scan)
        votes = votes_of(items, scan.n_items)
        found = partial(found_by_votes, scan, self, votes)
        self.n_ties_ = sum(items.map(lambda codes: count_ties(codes, votes)))

        def shares(codes: Codes) -> NDArray[np.float64]:
            return decided(codes, self, votes)[1]

        return sharded(scan, found, self._found(items.count(shares, scan.n_classes)))

    def _check(self) -> None:
        for name, known in (("ties", get_args(Ties)), ("probabilities", get_args(Probabilities))):
            argument = Argument(name, of="MajorityVote")
            check_one_of(getattr(self, name), argument, known, f"one of {list(known)}")
        if self.random_state is not None:
            check_whole(self.random_state, Argument("random_state", of="MajorityVote"), 0)

    def _found(self, sums: Sums) -> dict[str, Any]:
        """Give what a posterior says of everybody."""
        parameters = estimate(sums)
        return {
            "class_balance": parameters.class_balance[0],
            "confusion_mean": np.ascontiguousarray(parameters.confusion.swapaxes(1, 2)),
            "model": type(self).__name__,
            "method": self.method,
            "abilities": replace(self.abilities, probabilities=self.probabilities == "skill"),
            "settings": self.get_params(),
        }

    @property
    def probas_(self) -> pd.DataFrame:
        """crowd-kit's name: the vote shares, index ``task``, one column per label."""
        return self._fitted().probabilities(raw=True).rename_axis(index="task")


def decide(
    votes: NDArray[np.int32], shares: FloatArray, shift: FloatArray, *, split: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Elect the class of every item, and mark ties; split ones share evenly, in ``shares``."""
    winner, n_tied = elect(shares, shift)
    tied = (n_tied > 1) & votes.any(axis=1)
    if split:
        most = shares[tied].max(axis=1, keepdims=True)
        shares[tied] = (shares[tied] == most) / n_tied[tied, None]
    return winner, tied


def believed(
    model: MajorityVote,
    votes: NDArray[np.int32],
    shares: FloatArray,
    gold: NDArray[np.int32],
    agreement: float | None = None,
) -> FoundItems:
    """Give what the votes are worth; known, silent and split items keep their shares."""
    if model.probabilities != "skill":
        return FoundItems(shares)
    keep = (gold >= 0) | ~votes.any(axis=1)
    if model.ties == "split":
        keep |= (shares == shares.max(axis=1, keepdims=True)).sum(axis=1) > 1
    worth = np.where(keep[:, None], shares, skill_vote(votes, agreement))
    return FoundItems(worth, raw=shares)


def decided(
    codes: Codes, model: MajorityVote, votes: Votes
) -> tuple[NDArray[np.int32], FloatArray, NDArray[np.int64], NDArray[np.bool_]]:
    """Give the votes of a shard's items, their shares, who wins, and where there are ties."""
    counts = count_votes(codes)
    shares = vote_shares(counts, codes.gold, votes.mean)
    split = model.ties == "split"
    return counts, shares, *decide(counts, shares, np.zeros(len(shares)), split=split)


def count_ties(codes: Codes, votes: Votes) -> int:
    """Count the items of a shard whose vote tied."""
    return int(np.count_nonzero(decided(codes, MajorityVote(), votes)[3]))


def found_by_votes(scan: Scan, model: MajorityVote, votes: Votes, k: int) -> FoundItems:
    """Count the votes of a shard's items again."""
    codes = codes_of(scan.open(k), scan.n_classes, scan.n_answers)
    counts, shares, winner, _ = decided(codes, model, votes)
    found = believed(model, counts, shares, codes.gold, votes.agreement)
    return found._replace(label=winner)
