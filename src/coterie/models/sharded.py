"""What models that take shards share: votes of all items, and the posterior over shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.data.votes import count_votes
from coterie.inference.soft_shards import SoftShards, weigh_shard
from coterie.io.scan.scanned import Scan
from coterie.kernels.soft.items import codes_of
from coterie.kernels.soft.parts import Sums, Weights
from coterie.kernels.soft.variational import class_probability
from coterie.kernels.vote import (
    even_shares,
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


def votes_of(items: SoftShards) -> Votes:
    """Sum up the votes of all items, in whole numbers."""
    n_items = items.shards.n_items

    def summed(k: int, codes: Codes) -> tuple[Any, int, int, int]:
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


def vote_start(items: SoftShards) -> Callable[[Codes], FloatArray]:
    """Give what gives the vote shares of a shard's items."""
    return partial(shares_of, votes_of(items).mean)


def shares_of(mean: FloatArray, codes: Codes) -> FloatArray:
    """Give the vote shares of some items; of one without votes the mean of all."""
    return vote_shares(count_votes(codes), codes.gold, mean)


def even_votes(codes: Codes) -> FloatArray:
    """Give the vote shares of some items; even ones where nobody voted."""
    return even_shares(count_votes(codes), codes.gold)


def numbers_of(sums: Sums) -> tuple[FloatArray, FloatArray]:
    """Give expected counts in fixed point as numbers: of classes, and of what everybody said."""
    return sums.cell_total / sums.scale, sums.said / sums.scale


def found_by_weights(scan: Scan, weights: Weights, k: int) -> FoundItems:
    """Weigh the items of a shard as the last pass of the fit did."""
    return FoundItems(weigh_shard(scan, weights, k))


def found_of_classes(scan: Scan, weights: Weights, classes: FloatArray, k: int) -> FoundItems:
    """Weigh the items of a shard, sub-types summed to classes, as variational Bayes ends.

    Parameters
    ----------
    scan, weights, k
        The labels, what the last pass multiplied, and which shard.
    classes
        The Dirichlet of the class proportions, shape (classes,).
    """
    codes = codes_of(scan.open(k), scan.n_classes, scan.n_answers)
    return FoundItems(class_probability(codes, weigh_shard(scan, weights, k), classes))


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
