"""A result beside the vote, scored by one truth."""

from __future__ import annotations

from typing import Any, NamedTuple

from coterie.data.annotations import Annotations
from coterie.io.scan.scanned import Scan
from coterie.metrics import Score
from coterie.models.majority import MajorityVote
from coterie.posterior import Posterior
from coterie.posterior.sharded import ShardedPosterior


class Scored(NamedTuple):
    """What a truth says of a result, and of the vote."""

    own: Score
    vote: Score

    def by_model(self, model: str) -> dict[str, Score]:
        """Give both by the names of the models, the vote first; a vote is there once."""
        return {MajorityVote.__name__: self.vote, model: self.own}


def score_vote(labels: Annotations | Scan, truth: Any) -> Score:
    """Score the vote, in which repeated labels that were let in all count.

    It takes a moment: asked before a fit, it shows whether a truth fits the labels.

    Parameters
    ----------
    labels
        The labels.
    truth
        As for :meth:`coterie.Posterior.score`.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")]
    >>> score_vote(coterie.read(rows), {"q1": "yes", "q2": "no"}).accuracy
    0.75
    """
    return MajorityVote(duplicates="keep").fit(labels).posterior_.score(truth)


def score_beside_vote(posterior: Posterior, truth: Any, vote: Score | None = None) -> Scored:
    """Score a result and the vote by the same truth.

    Parameters
    ----------
    posterior
        The result, in memory or in shards.
    truth
        As for :meth:`coterie.Posterior.score`.
    vote
        What :func:`score_vote` gave, if it was asked before.
    """
    if vote is None:
        there = posterior.scan if isinstance(posterior, ShardedPosterior) else posterior.annotations
        vote = score_vote(there, truth)
    return Scored(posterior.score(truth), vote)
