"""What models that take shards share: votes of all items, and the posterior over shards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.data.shards import codes_of
from coterie.data.votes import count_votes
from coterie.inference.ascent import Items, Start, part_of_shard
from coterie.io.scan.scanned import Scan
from coterie.kernels.expected import Weights, class_probability, weigh
from coterie.kernels.vote import (
    fixed_point,
    mean_agreement,
    mean_share,
    pair_agreement,
    vote_shares,
)
from coterie.posterior.gathered import Found, FoundItems
from coterie.posterior.sharded import ShardedPosterior, people_of

FloatArray = NDArray[np.float64]


class Votes(NamedTuple):
    """What votes of one item need to know of all others."""

    mean: FloatArray  # (classes,)   shares of the classes, for items without votes
    agreement: float  # how often two labels of an item agree


def votes_of(items: Items, n_items: int) -> Votes:
    """Sum up the votes of all items, of which there are so many, in whole numbers."""

    def summed(codes: Codes) -> tuple[Any, int, int, int]:
        votes = count_votes(codes)
        heard = votes.any(axis=1) | (codes.gold >= 0)
        shares, pairs = vote_shares(votes, codes.gold)[heard], pair_agreement(votes)
        total = fixed_point(shares, n_items).sum(axis=0)
        return total, len(shares), int(fixed_point(pairs, n_items).sum()), len(pairs)

    totals, n_voted, agreed, n_several = zip(*items.map(summed), strict=True)
    mean = mean_share(np.sum(totals, axis=0), sum(n_voted), n_items)
    return Votes(mean, mean_agreement(sum(agreed), sum(n_several), n_items))


def votes_in_shards(scan: Scan) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Give the votes and the known classes of all items, in the order of the shards."""
    codes = [codes_of(scan.open(k), scan.n_classes, scan.n_answers) for k in range(len(scan))]
    votes = [np.zeros((0, scan.n_classes), np.int32), *map(count_votes, codes)]
    return np.concatenate(votes), np.concatenate([np.zeros(0, np.int32), *(c.gold for c in codes)])


def vote_start(items: Items, n_items: int) -> Start:
    """Give what gives the vote shares of some items; of one without votes the mean of all."""
    mean = votes_of(items, n_items).mean
    return lambda codes: vote_shares(count_votes(codes), codes.gold, mean)


def found_by_weights(
    scan: Scan, weights: Weights, k: int, *, classes: FloatArray | None = None
) -> FoundItems:
    """Weigh the items of a shard as the last pass of the fit did.

    Given the Dirichlet of the class proportions, (classes,), cells are summed to classes, as
    variational Bayes ends.
    """
    part = part_of_shard(scan, k)
    found = weigh(part, weights)
    return FoundItems(found if classes is None else class_probability(part.codes, found, classes))


def sharded(
    scan: Scan, found: Found, told: Mapping[str, Any], names: Any = None
) -> ShardedPosterior:
    """Make the posterior over shards.

    Parameters
    ----------
    scan
        The labels.
    found
        Gives what was found of a shard's items.
    told
        The other fields of a posterior.
    names
        What items are called, by their place among all, where a run has noted any.
    """
    none = np.empty((0, scan.n_classes))
    return ShardedPosterior(
        annotations=people_of(scan),
        item_probability=none,
        scan=scan,
        found=found,
        names=names,
        **told,
    )
