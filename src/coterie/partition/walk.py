"""A partition on its way: the state, the draws that judge it, and the steps that change it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coterie.partition import moves
from coterie.partition.moves import NEW, NONE, TOLERANCE, Order, empty_state
from coterie.partition.sample import FloatArray, IntArray, Sample

MOST_ROUNDS = 50
"""Rounds of a loop that still improves; a handful is usual."""

HALVE_ROUNDS = 5
"""Rounds in which the members of a coterie choose between two halves."""


class Limits(NamedTuple):
    """The least and the most coteries that a step may leave."""

    least: int
    most: int


class Merge(NamedTuple):
    """Two coteries, and what their union changes the summed loss by."""

    change: float
    m: int
    other: int


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
        self.sample = sample
        self.rng = rng
        self.state = empty_state(sample)
        n = len(self.state.group)
        self._room = np.zeros(n), np.zeros(n, np.int32)
        self._arrays = (*self.state, *sample[:3], sample.step, sample.total)
        # One more than there can be: with as many as annotators, there still is no need to look
        # for a seat in every coterie.
        self.limits = Limits(1, n + 1) if k is None else Limits(k, k)
        self.least_gain = -TOLERANCE * sample.total

    @property
    def group(self) -> IntArray:
        """The coterie of each annotator, shape (annotators,)."""
        return self.state.group

    @property
    def n_coteries(self) -> int:
        """How many coteries there are now."""
        return int(self.state.slot[-1])

    @property
    def value(self) -> float:
        """The summed loss, up to a constant."""
        _, size, _, _, cell, length, _, start, weight, _, total = self._arrays
        return moves.total_value(self.sample.value, size, cell, length, start, weight, total)

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

    def is_coterie(self, members: Order) -> bool:
        """Say whether these annotators, and nobody else, sit together."""
        group = self.group[members]
        return self.state.size[group[0]] == len(members) and bool((group == group[0]).all())

    def seat(self, group: IntArray) -> None:
        """Give everybody the seat of a partition with codes below the number of annotators."""
        moves.seat(np.arange(len(group)), np.ascontiguousarray(group), *self._arrays)

    def seat_anew(self) -> None:
        """Seat the annotators one by one, in random order, each where it costs least."""
        order = self.everybody()
        if self.n_coteries:
            self.clear(order)
        self.sweep(order, least=1)

    def sweep(self, order: Order, least: int | None = None) -> float:
        """Move each annotator to where it costs least; give the change of the summed loss."""
        least = self.limits.least if least is None else least
        rest = (*self._room, *self._arrays)
        return moves.sweep(order, least, self.limits.most, *rest)

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
        change = 0.0
        for price in moves.prices(members, True, *self._arrays).tolist():
            change -= price
        return change

    def prices(self, members: Order) -> FloatArray:
        """Give what each annotator's seat costs, against a coterie of its own, (members,)."""
        return moves.prices(members, False, *self._arrays)

    def scatter(self, members: Order) -> bool:
        """Seat the members of a coterie anew, one by one; undo it unless that helps."""
        change = self.clear(members)
        change += self.sweep(members, least=1)
        change += self.settle(members, least=1)
        if change < self.least_gain and self.n_coteries >= self.limits.least:
            return True
        self.gather(members, None)
        return False

    def halve(self, members: Order) -> tuple[float, Order]:
        """Split a coterie in two around its first two members.

        Returns
        -------
        The change of the summed loss, and the members who are in a new coterie.
        """
        m = self.group[members[0]]
        change = moves.halve(members, HALVE_ROUNDS, *self._arrays)
        return change, members[self.group[members] != m]

    def gather(self, members: Order, m: int | None) -> None:
        """Seat annotators in one coterie, wherever they are; None is a new one."""
        to = np.full(len(members), NEW if m is None else m, np.int32)
        moves.seat(members, to, *self._arrays)

    def merges(self) -> Iterator[Merge]:
        """Give each coterie's cheapest merge, the cheapest first."""
        order = np.argsort(self.group, kind="stable")
        partner, change = np.full(len(order), NONE, np.int32), np.full(len(order), np.inf)
        seen = np.full(len(self.state.length), NONE, np.int32)
        used = self.state.slot[: self.n_coteries]
        smallest = used[np.argsort(self.state.size[used], kind="stable")[:2]]
        rest = (partner, change, seen, *self._room, *self._arrays)
        moves.find_partners(order, smallest, self.sample.value, *rest)
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

    def split_or_undo(self, members: Order, least_gain: float) -> bool:
        """Split a coterie in two if the summed loss changes by less than ``least_gain``."""
        m = int(self.group[members[0]])
        change, apart = self.halve(members)
        if change < least_gain:
            return True
        self.gather(apart, m)
        return False
