"""A given number of coteries: reach it, and keep it while one is split and two are merged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.posterior.partition.moves import Order, prices
from coterie.posterior.partition.walk import Merge, Walk

TRIES, TRY_CELLS = 3, 200_000
"""Splits of a coterie that are tried; draws times annotators beyond which it is one."""


class Split(NamedTuple):
    """Who leaves coterie m for a new one, and what that changes the summed loss by."""

    change: float
    m: int
    apart: Order


def reach_number(walk: Walk) -> None:
    """Merge or split coteries, where it costs least, until their number is within the limits."""
    while (spare := walk.n_coteries - walk.limits.most) > 0:
        merged: set[int] = set()
        done = 0
        # Many at once while many are to go: what they cost together is exact, each coterie once.
        for pair in walk.merges():
            if done < at_once(spare) and not merged & {pair.m, pair.other}:
                walk.join(pair)
                merged |= {pair.m, pair.other}
                done += 1
    if walk.n_coteries < walk.limits.least:
        split_most(walk)


def at_once(left: int) -> int:
    """Say how many of the steps that are left to take before looking again."""
    return (left + 3) // 4


def split_most(walk: Walk) -> None:
    """Split coteries, where it costs least, until there are enough."""
    found = [best_split(walk, members) for members in walk.coteries()]
    while (short := walk.limits.least - walk.n_coteries) > 0:
        found.sort(key=lambda split: split.change)
        chosen, found = found[: at_once(short)], found[at_once(short) :]
        for split in chosen:
            walk.gather(split.apart, None)
            for m in (split.m, int(walk.group[split.apart[0]])):
                if walk.state.size[m] > 1:
                    found.append(best_split(walk, np.flatnonzero(walk.group == m)))


def best_split(walk: Walk, members: Order) -> Split:
    """Find a cheap split of a coterie: its costliest member leaves, or two halves part."""
    m = int(walk.group[members[0]])
    price = prices(members, walk.state, walk.sample)
    best = Split(-float(price.max()), m, members[[price.argmax()]])
    for _ in range(TRIES if walk.sample.row.size <= TRY_CELLS else 1):
        walk.rng.shuffle(members)
        change, apart = walk.halve(members)
        walk.gather(apart, m)
        if change < best.change:
            best = Split(change, m, apart)
    return best


def exchange(walk: Walk) -> bool:
    """Merge two coteries and split one, so that their number stays; say whether it helped."""
    merges = walk.merges()
    splits = [best_split(walk, members) for members in walk.coteries()]
    pair, split = cheapest(merges, sorted(splits, key=lambda split: split.change))
    if pair is not None and split is not None and pair.change + split.change < walk.least_gain:
        walk.join(pair)
        walk.gather(split.apart, None)
        return True
    return any(resplit(walk, pair) for pair in merges)


def cheapest(merges: list[Merge], splits: list[Split]) -> tuple[Merge | None, Split | None]:
    """Give the merge and the split of different coteries that cost least together.

    Both lists have the cheapest first.
    """
    best: tuple[float, Merge | None, Split | None] = (np.inf, None, None)
    for pair in merges:
        for split in splits:
            if pair.change + split.change >= best[0]:
                break
            if split.m not in (pair.m, pair.other):
                best = (pair.change + split.change, pair, split)
                break
    return best[1], best[2]


def resplit(walk: Walk, pair: Merge) -> bool:
    """Merge two coteries and split their union otherwise; undo it unless that helps."""
    if walk.state.size[pair.m] + walk.state.size[pair.other] < 3:
        return False
    moved = walk.join(pair)
    members = np.flatnonzero(walk.group == walk.group[moved[0]])
    walk.rng.shuffle(members)
    if walk.split_or_undo(members, walk.least_gain - pair.change):
        return True
    walk.gather(moved, None)
    return False
