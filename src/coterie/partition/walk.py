"""A partition on its way: the state, the draws that judge it, and the steps that change it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coterie.partition.moves import Order, clear, find_partners, gather, halve, sweep
from coterie.partition.sample import IntArray, Sample
from coterie.partition.state import (
    TOLERANCE,
    Limits,
    empty_state,
    seat_all,
    total_value,
)

MOST_ROUNDS = 50
"""Rounds of a loop that still improves; a handful is usual."""

HALVE_ROUNDS = 5
"""Rounds in which the members of a coterie choose between two halves."""


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
        # One more than there can be: with as many as annotators, there still is no need to look
        # for a seat in every coterie.
        self.limits = Limits(1, len(self.state.group) + 1) if k is None else Limits(k, k)
        self.least_gain = -TOLERANCE * sample.total

    @property
    def group(self) -> IntArray:
        """The coterie of each annotator, shape (annotators,)."""
        return self.state.group

    @property
    def n_coteries(self) -> int:
        """How many coteries there are now."""
        return int(self.state.n_coteries[0])

    @property
    def value(self) -> float:
        """The summed loss, up to a constant."""
        return total_value(self.state, self.sample)

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
        seat_all(group, self.state, self.sample)

    def seat_anew(self) -> None:
        """Seat the annotators one by one, in random order, each where it costs least."""
        order = self.everybody()
        if self.n_coteries:
            clear(order, self.state, self.sample)
        self.sweep(order, least=1)

    def sweep(self, order: Order, least: int | None = None) -> float:
        """Move each annotator to where it costs least; give the change of the summed loss."""
        limits = Limits(self.limits.least if least is None else least, self.limits.most)
        return sweep(order, self.state, self.sample, limits)

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

    def scatter(self, members: Order) -> bool:
        """Seat the members of a coterie anew, one by one; undo it unless that helps."""
        change = clear(members, self.state, self.sample)
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
        change = halve(members, self.state, self.sample, HALVE_ROUNDS)
        return change, members[self.group[members] != m]

    def gather(self, members: Order, m: int | None) -> None:
        """Seat annotators in one coterie, wherever they are; None is a new one."""
        gather(members, -1 if m is None else m, self.state, self.sample)

    def merges(self) -> Iterator[Merge]:
        """Give each coterie's cheapest merge, the cheapest first."""
        order = np.argsort(self.group, kind="stable")
        partner, change = find_partners(order, self.state, self.sample)
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
