"""From one partition downhill, until no step helps."""

from __future__ import annotations

import numpy as np

from coterie.partition.moves import Order
from coterie.partition.number import exchange
from coterie.partition.walk import MOST_ROUNDS, Walk

MOST_STEPS = 2e8
"""Steps that it may take to find which coteries to merge; only noise takes more."""


def descend(walk: Walk) -> None:
    """Move single annotators and merge coteries until neither helps."""
    for _ in range(MOST_ROUNDS):
        walk.settle(walk.everybody())
        if not merge(walk):
            break


def merge(walk: Walk) -> bool:
    """Merge the pairs of coteries that gain by it, cheapest first, each coterie once."""
    steps = np.square(walk.state.length, dtype=np.float64).sum()
    if walk.n_coteries <= walk.limits.least or steps > MOST_STEPS:
        return False
    merged: set[int] = set()
    for pair in walk.merges():
        if pair.change >= walk.least_gain:
            break
        if not merged & {pair.m, pair.other}:
            walk.join(pair)
            merged |= {pair.m, pair.other}
    return bool(merged)


def refine(walk: Walk, rounds: int = MOST_ROUNDS) -> None:
    """Break up, split and exchange coteries until nothing helps."""
    fixed = walk.limits.least == walk.limits.most
    for _ in range(rounds):
        improved = False
        for members in walk.coteries():
            if walk.is_coterie(members):
                improved |= walk.scatter(members) or split(walk, members)
        if not improved and not (fixed and exchange(walk)):
            return
        descend(walk)


def split(walk: Walk, members: Order) -> bool:
    """Split a coterie in two if that helps, and there may be one more."""
    if walk.n_coteries >= walk.limits.most:
        return False
    return walk.split_or_undo(members, walk.least_gain)
