"""A given number of coteries: reach it, and keep it while one is split and two are merged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.partition.moves import Order
from coterie.partition.walk import Merge, Walk

TRIES, TRY_CELLS = 3, 200_000
"""Splits of a coterie that are tried; draws times annotators beyond which it is one."""

RESPLIT_CELLS = 10_000_000
"""Draws times members of the unions that are split otherwise in one round."""

MOST_ONE_BY_ONE = 10
"""Coteries that are split off one by one; of more, the most come from single annotators."""


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
    while (short := walk.limits.least - walk.n_coteries) > MOST_ONE_BY_ONE:
        members = np.flatnonzero(walk.state.size[walk.group] > 1)
        price = walk.prices(members)
        for l in members[np.argsort(-price, kind="stable")[: at_once(short)]]:
            walk.gather(np.array([l]), None)
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
    price = walk.prices(members)
    best = Split(-float(price.max()), m, members[[price.argmax()]])
    for _ in range(TRIES if walk.sample.row.size <= TRY_CELLS else 1):
        walk.rng.shuffle(members)
        change, apart = walk.halve(members)
        walk.gather(apart, m)
        if change < best.change:
            best = Split(change, m, apart)
    return best


def exchange(walk: Walk) -> bool:
    """Merge two coteries for each that is split, so that their number stays; say if it helped."""
    merges = list(walk.merges())
    splits = [best_split(walk, members) for members in walk.coteries()]
    chosen = match(merges, splits, walk.least_gain)
    for pair, split in chosen:
        walk.join(pair)
        walk.gather(split.apart, None)
    if chosen:
        return True
    left = RESPLIT_CELLS // walk.sample.row.shape[1]
    for pair in merges:
        left -= int(walk.state.size[pair.m] + walk.state.size[pair.other])
        if left >= 0 and resplit(walk, pair):
            return True
    return False


def match(merges: list[Merge], splits: list[Split], least_gain: float) -> list[tuple[Merge, Split]]:
    """Match cheap merges with cheap splits while that helps, each coterie once."""
    used: set[int] = set()
    chosen = []
    splits = sorted(splits, key=lambda split: split.change)
    for pair in sorted(merges, key=lambda pair: pair.change):
        if used & {pair.m, pair.other}:
            continue
        for split in splits:
            if pair.change + split.change >= least_gain:
                break
            if split.m not in used | {pair.m, pair.other}:
                chosen.append((pair, split))
                used |= {split.m, pair.m, pair.other}
                break
    return chosen


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
