"""The search for the partition of least expected loss: its steps, its starts, how much of both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from coterie.partition import moves
from coterie.partition.cooccurrence import share_together
from coterie.partition.measure import block_values, distinct_draws, losses_of_draws
from coterie.partition.moves import (
    NEW,
    NONE,
    TOLERANCE,
    FloatArray,
    IntArray,
    Order,
    Sample,
    empty_state,
    lay_out,
)

MOST_ROUNDS = 50
"""Rounds of a loop that still improves; a handful is usual."""
HALVE_ROUNDS = 5
"""Rounds in which the members of a coterie choose between two halves."""
MOST_STEPS = 2e8
"""Steps that finding which coteries to merge, or the first sweep of a start, may take."""
TRIES, TRY_CELLS = 3, 200_000
"""Splits of a coterie that are tried; draws times annotators beyond which it is one."""
RESPLIT_CELLS = 10_000_000
"""Draws times members of the unions that are split otherwise in one round."""
MOST_ONE_BY_ONE = 10
"""Coteries that are split off one by one; of more, the most come from single annotators."""
MOST_IN_TREE = 2_000
"""Annotators for whom a table of all pairs is made."""
MOST_SCREENED = 100
"""Drawn partitions that are compared, with as many others."""
MOST_CELLS = 200_000
"""Draws times annotators for which k coteries are reached from one, or from all apart."""
SEARCH_CELLS, POLISH_CELLS = 2_000_000, 50_000_000
"""Draws times annotators with which the search goes through its starts, and improves the best."""
LEAST_DRAWS = 50
"""Draws that are always used, however many the annotators."""
STARTS, MOST_STARTS = 4_000_000, 60
"""Cells that all random starts may take together, and the most starts."""
REFINED, ROUNDS = 2_000_000, 4_000_000
"""Cells that ends of descents that are improved further may take together, and all rounds of one
such improvement."""


class Merge(NamedTuple):
    """Two coteries, and what their union changes the summed loss by."""

    change: float
    m: int
    other: int


class Split(NamedTuple):
    """Who leaves coterie m for a new one, and what that changes the summed loss by."""

    change: float
    m: int
    apart: Order


class Walk:
    """A partition on its way, and what may be done to it.

    Parameters
    ----------
    sample
        The draws.
    rng
        Decides in which order annotators and coteries are looked at.
    k
        The number of coteries; None leaves it to the loss.
    """

    def __init__(self, sample: Sample, rng: np.random.Generator, k: int | None = None) -> None:
        self.sample, self.rng, self.state = sample, rng, empty_state(sample)
        n = len(self.state.group)
        self._room = np.zeros(n), np.zeros(n, np.int32)
        self._arrays: tuple[Any, Any] = (tuple(self.state), tuple(sample))
        # One more than there can be: with as many as annotators, there still is no need to look
        # for a seat in every coterie.
        self.least, self.most = (1, n + 1) if k is None else (k, k)
        self.least_gain = -TOLERANCE * sample.total

    @property
    def group(self) -> IntArray:
        """The coterie of each annotator, shape (annotators,)."""
        return self.state.group

    @property
    def n_coteries(self) -> int:
        """How many coteries there are now."""
        return int(self.state.slot[-1])

    def everybody(self) -> Order:
        """Give all annotators, shuffled."""
        return self.rng.permutation(len(self.group))

    def coteries(self) -> list[Order]:
        """Give the members of each coterie of at least two; coteries and members shuffled."""
        order = self.everybody()
        order = order[self.state.size[self.group[order]] > 1]
        order = order[np.argsort(self.group[order], kind="stable")]
        if not len(order):
            return []
        found = np.split(order, np.flatnonzero(np.diff(self.group[order])) + 1)
        return [found[q] for q in self.rng.permutation(len(found))]

    def seat(self, group: IntArray) -> None:
        """Give everybody the seat of a partition with codes below the number of annotators."""
        moves.seat(np.arange(len(group)), np.ascontiguousarray(group), *self._arrays)

    def sweep(self, order: Order, least: int | None = None) -> float:
        """Move each annotator to where it costs least; give the change of the summed loss."""
        least = self.least if least is None else least
        return moves.sweep(order, least, self.most, *self._room, *self._arrays)

    def settle(self, order: Order, least: int | None = None) -> float:
        """Sweep until nobody moves; give the change of the summed loss."""
        change = 0.0
        for _ in range(MOST_ROUNDS):
            moved = self.sweep(order, least)
            change += moved
            if moved >= self.least_gain:
                break
            self.rng.shuffle(order)
        return change

    def clear(self, members: Order) -> float:
        """Take annotators out; give the change of the summed loss."""
        return -float(sum(moves.prices(members, True, *self._arrays).tolist()))

    def gather(self, members: Order, m: int = NEW) -> None:
        """Seat annotators in one coterie, wherever they are."""
        moves.seat(members, np.full(len(members), m, np.int32), *self._arrays)

    def scatter(self, members: Order) -> bool:
        """Seat the members of a coterie anew, one by one; undo it unless that helps."""
        change = self.clear(members) + self.sweep(members, least=1)
        change += self.settle(members, least=1)
        if change < self.least_gain and self.n_coteries >= self.least:
            return True
        self.gather(members)
        return False

    def halve(self, members: Order, least_gain: float = np.inf) -> Split | None:
        """Split a coterie around its first two members; undo it unless it gains that much."""
        m = int(self.group[members[0]])
        change = moves.halve(members, HALVE_ROUNDS, *self._arrays)
        split = Split(change, m, members[self.group[members] != m])
        if change < least_gain:
            return split
        self.gather(split.apart, m)
        return None

    def best_split(self, members: Order) -> Split:
        """Find a cheap split of a coterie: its costliest member leaves, or two halves part."""
        m = int(self.group[members[0]])
        price = moves.prices(members, False, *self._arrays)
        best = Split(-float(price.max()), m, members[[price.argmax()]])
        for _ in range(TRIES if self.sample.row.size <= TRY_CELLS else 1):
            self.rng.shuffle(members)
            split = self.halve(members)
            assert split is not None  # any is
            self.gather(split.apart, m)
            best = min(best, split, key=lambda one: one.change)
        return best

    def merges(self) -> Iterator[Merge]:
        """Give each coterie's cheapest merge, the cheapest first."""
        order = np.argsort(self.group, kind="stable")
        partner, change = np.full(len(order), NONE, np.int32), np.full(len(order), np.inf)
        seen = np.full(len(self.state.length), NONE, np.int32)
        used = self.state.slot[: self.n_coteries]
        smallest = used[np.argsort(self.state.size[used], kind="stable")[:2]]
        rest = (partner, change, seen, *self._room, *self._arrays)
        moves.find_partners(order, smallest, *rest)
        ranked = np.argsort(change, kind="stable")
        ranked = ranked[np.isfinite(change[ranked])]
        return (Merge(float(change[m]), int(m), int(partner[m])) for m in ranked)

    def join(self, merge: Merge) -> Order:
        """Merge two coteries; give the members of the smaller, who have moved."""
        small, large = merge.m, merge.other
        if self.state.size[small] > self.state.size[large]:
            small, large = large, small
        members = np.flatnonzero(self.group == small)
        self.gather(members, large)
        return members

    def join_all(self, most_change: float, most: int) -> int:
        """Merge the cheapest pairs of coteries, each coterie once; say how many."""
        merged: set[int] = set()
        for pair in self.merges():
            if pair.change >= most_change or len(merged) >= 2 * most:
                break
            if not merged & {pair.m, pair.other}:
                self.join(pair)
                merged |= {pair.m, pair.other}
        return len(merged)

    def reach_number(self) -> None:
        """Merge or split, where it costs least, until the number of coteries is within limits."""
        # Many at once while many are to go: what they cost together is exact, each coterie once.
        while (spare := self.n_coteries - self.most) > 0:
            self.join_all(np.inf, (spare + 3) // 4)
        while (short := self.least - self.n_coteries) > MOST_ONE_BY_ONE:
            members = np.flatnonzero(self.state.size[self.group] > 1)
            price = moves.prices(members, False, *self._arrays)
            for l in members[np.argsort(-price, kind="stable")[: (short + 3) // 4]]:
                self.gather(np.array([l]))
        found = [self.best_split(one) for one in self.coteries()] if short > 0 else []
        while (short := self.least - self.n_coteries) > 0:
            found.sort(key=lambda split: split.change)
            some = (short + 3) // 4
            chosen, found = found[:some], found[some:]
            for split in chosen:
                self.gather(split.apart)
                for m in (split.m, int(self.group[split.apart[0]])):
                    if self.state.size[m] > 1:
                        found.append(self.best_split(np.flatnonzero(self.group == m)))

    def descend(self) -> None:
        """Move single annotators and merge coteries until neither helps."""
        for _ in range(MOST_ROUNDS):
            self.settle(self.everybody())
            steps = np.square(self.state.length, dtype=np.float64).sum()
            if self.n_coteries <= self.least or steps > MOST_STEPS:
                break
            if not self.join_all(self.least_gain, self.n_coteries):
                break

    def refine(self, rounds: int = MOST_ROUNDS) -> None:
        """Break up, split and exchange coteries until nothing helps."""
        for _ in range(rounds):
            improved = False
            for members in self.coteries():
                here = self.group[members]
                if self.state.size[here[0]] > len(members) or (here != here[0]).any():
                    continue  # others have come, or some have gone
                may_split = self.n_coteries < self.most
                improved |= self.scatter(members) or (
                    may_split and self.halve(members, self.least_gain) is not None
                )
            if not improved and not (self.least == self.most and self.exchange()):
                return
            self.descend()

    def exchange(self) -> bool:
        """Merge two coteries for each that is split, so that their number stays; say if it helped.

        Cheap merges go with cheap splits, each coterie once; if there are none that help together,
        two are merged and their union is split otherwise.
        """
        merges = list(self.merges())
        splits = [self.best_split(one) for one in self.coteries()]
        splits.sort(key=lambda split: split.change)
        used: set[int] = set()
        for pair in merges:
            for split in splits:
                if pair.change + split.change >= self.least_gain:
                    break
                three = {split.m, pair.m, pair.other}
                if len(three) == 3 and not used & three:
                    self.join(pair)
                    self.gather(split.apart)
                    used |= three
                    break
        left = RESPLIT_CELLS // self.sample.row.shape[1]
        for pair in [] if used else merges:
            together = int(self.state.size[pair.m] + self.state.size[pair.other])
            left -= together
            if left < 0 or together < 3:
                continue
            moved = self.join(pair)
            members = np.flatnonzero(self.group == self.group[moved[0]])
            self.rng.shuffle(members)
            if self.halve(members, self.least_gain - pair.change):
                return True
            self.gather(moved)
        return bool(used)


def best_partition(draws: IntArray, loss: str, k: int | None, rng: np.random.Generator) -> IntArray:
    """Find a partition of least expected loss.

    Parameters
    ----------
    draws
        Canonical draws, shape (draws, annotators).
    loss
        ``"vi"`` or ``"binder"``.
    k
        The number of coteries; None leaves it to the loss.
    rng
        Decides the order of the steps.
    """
    n = draws.shape[1]
    if k in (1, n):
        return np.arange(n, dtype=np.int32) // (n if k == 1 else 1)
    some, more = thin(draws, SEARCH_CELLS), thin(draws, POLISH_CELLS)
    group = search(some, loss, k, rng)
    if len(more) > len(some):
        walk = Walk(lay_out(*distinct_draws(more), block_values(n, loss)), rng, k)
        walk.seat(group)
        walk.descend()
        group = walk.group
    return group


def thin(draws: IntArray, cells: int) -> IntArray:
    """Give evenly spaced draws, so that the draws times the annotators are at most so many."""
    return draws[spaced(len(draws), max(cells // draws.shape[1], LEAST_DRAWS))]


def spaced(n: int, most: int) -> IntArray | slice:
    """Give at most so many of 0, 1, ... n - 1, evenly spaced."""
    if n <= most:
        return slice(None)
    return np.unique(np.linspace(0, n - 1, most).astype(np.int32))


def search(draws: IntArray, loss: str, k: int | None, rng: np.random.Generator) -> IntArray:
    """Go downhill from many starts, further from the best of them, and give the lowest.

    Against all partitions of 8, 9 and 10 annotators (5,280 random sets of 1 to 100 draws, both
    losses: uniform, CRP, noisy copies of one partition or of two), and of 8 into a given number of
    coteries (2,160 cases), it found the least loss every time.
    """
    distinct, weight = distinct_draws(draws)
    value = block_values(draws.shape[1], loss)
    if len(distinct) == 1 and k in (None, distinct.max() + 1):
        return np.array(distinct[0])
    walk = Walk(lay_out(distinct, weight, value), rng, k)
    # A cell is a draw times an annotator. A given number takes more work, above all a large one.
    cells = distinct.size * (1 if k is None else 4 + k // 4)
    n_random = int(np.clip(STARTS // cells, 1, min(MOST_STARTS, draws.shape[1] ** 2)))
    free = [] if k is None else [search(draws, loss, None, rng)]
    found = []
    for group in chain(
        free, starts(distinct, weight, value, k), random_starts(walk, distinct, n_random)
    ):
        if group is not None:
            walk.seat(group)
        walk.reach_number()
        walk.descend()
        found.append(walk.group.copy())
    losses = [summed_loss(distinct, weight, group, value) for group in found]
    best = []
    for q in np.argsort(losses, kind="stable")[: max(REFINED // cells, 1)]:
        walk.seat(found[q])
        walk.refine(int(np.clip(ROUNDS // cells, 1, MOST_ROUNDS)))
        best.append(walk.group.copy())
    return min(best, key=lambda group: summed_loss(distinct, weight, group, value))


def starts(
    draws: IntArray, weight: FloatArray, value: FloatArray, k: int | None
) -> Iterator[IntArray]:
    """Give promising partitions to start from, the same for the same draws.

    They are a tree of the annotators, cut where the loss is least, the best drawn partitions, all
    together, all apart.
    """
    n, some = draws.shape[1], spaced(len(draws), MOST_SCREENED)
    screened = draws[some], weight[some]
    if 1 < n <= MOST_IN_TREE:
        from scipy.cluster.hierarchy import cut_tree, linkage
        from scipy.spatial.distance import squareform

        rows = np.repeat(np.arange(len(draws)), weight.astype(np.int64))
        tree = linkage(squareform(1 - share_together(draws[rows]), checks=False), "average")
        numbers = np.unique(draws.max(axis=1) + 1) if k is None else np.array([k])
        cuts = cut_tree(tree, numbers).T.astype(np.int32)
        yield min(cuts, key=lambda cut: summed_loss(*screened, cut, value))
    losses = [summed_loss(*screened, draw, value) for draw in screened[0]]
    yield from screened[0][np.argsort(losses, kind="stable")[:2]]
    if k is None or draws.size <= MOST_CELLS:
        yield np.zeros(n, np.int32)
        if sum(float(np.square(np.bincount(draw)).sum()) for draw in draws) <= MOST_STEPS:
            yield np.arange(n, dtype=np.int32)


def summed_loss(draws: IntArray, weight: FloatArray, group: IntArray, value: FloatArray) -> float:
    """Sum the loss of a partition over draws, not scaled."""
    return float(losses_of_draws(draws, group, value) @ weight)


def random_starts(walk: Walk, draws: IntArray, how_many: int) -> Iterator[IntArray | None]:
    """Give starts of three kinds in turn: each leads where the others seldom do.

    None is one by one, each where it costs least. The first sweep looks at every coterie for every
    cell: of a large crowd at fewer coteries.
    """
    n = draws.shape[1]
    most = min(n, max(int(MOST_STEPS // draws.size), 2))
    for q in range(how_many):
        if q % 3 == 0:
            walk.clear(walk.everybody())
            walk.sweep(walk.everybody(), least=1)
            yield None
        elif q % 3 == 1:
            yield draws[walk.rng.integers(len(draws))]
        else:
            yield walk.rng.integers(walk.rng.integers(1, most + 1), size=n, dtype=np.int32)
