"""What a sweep does with the items of one shard: one way for the paper's models, one for Consensus.

A model with kinds of hard items is Consensus; its items are summed in more columns.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.data.shards import Shard
from coterie.data.votes import count_votes
from coterie.errors import DataError
from coterie.inference.engine import Order, Sizes
from coterie.kernels.gibbs.blocked.hard import (
    HardItems,
    new_marks,
    start_hard_items,
    sweep_hard_items,
)
from coterie.kernels.gibbs.blocked.items import (
    Given,
    Items,
    Marks,
    Totals,
    elect_items,
    flat_given,
    flat_totals,
    start_items,
    sweep_items,
)
from coterie.kernels.gibbs.consensus.items import Given as HardGiven
from coterie.kernels.record import Tally
from coterie.kernels.soft.items import codes_of
from coterie.kernels.vote import clear_votes

FloatArray = NDArray[np.float64]
LongArray = NDArray[np.int64]

MOST_CELLS = 2**31
"""Cells of all annotators' rows: a label is one number of 32 bits."""


class Work(Protocol):
    """What is done with the items of one shard; rooms are made anew, for chains call at once."""

    def take(self, shard: Shard, rows: LongArray | None) -> tuple[Any, int]:
        """Show a shard to the kernels; say for how many items the vote has a clear winner.

        Annotators are numbered by their place in ``rows``, if given.
        """

    def start(self, items: Any, order: Order, totals: Totals) -> None:
        """Count the items where they start."""

    def sweep(self, items: Any, order: Order, totals: Totals, sums: FloatArray | None) -> None:
        """Draw and count the items; add their probabilities to ``sums``, if given."""


def work_of(sizes: Sizes) -> Work:
    """Give what is done with the items of a crowd of these sizes."""
    return HardWork(sizes) if sizes.n_kinds else PlainWork(sizes)


class PlainWork:
    """Truths alone: iBCC, cBCC, hcBCC. A label is one number, of its annotator and its answer."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    def take(self, shard: Shard, rows: LongArray | None) -> tuple[Items, int]:
        """Show a shard to the kernels."""
        sizes = self.sizes
        if sizes.n_annotators * sizes.n_answers >= MOST_CELLS:
            raise DataError(
                f"{sizes.n_annotators:,} annotators times {sizes.n_answers:,} answers are more than"
                f" a sweep can number, {MOST_CELLS:,}; leave out annotators with a label or two"
            )
        cell = np.array(shard.item_annotator, np.int32) if rows is None else _placed(shard, rows)
        cell *= np.int32(sizes.n_answers)
        cell += shard.item_answer
        items = Items(
            key=np.asarray(shard.key, np.uint64),
            item_start=np.asarray(shard.item_start, np.int64),
            item_cell=cell,
            gold=np.asarray(shard.gold, np.int32),
            winner=np.full(len(shard.gold), -1, np.int32),
        )
        _lock(*items[:4])
        return items, int(elect_items(items, sizes.n_answers, np.zeros(sizes.n_classes)))

    def start(self, items: Items, order: Order, totals: Totals) -> None:
        """Start at the vote, some items at the class of one of their labels."""
        room, n_answers = np.zeros(self.sizes.n_classes), self.sizes.n_answers
        start_items(items, n_answers, order.noise, order.stream, flat_totals(totals), room)

    def sweep(self, items: Items, order: Order, totals: Totals, sums: FloatArray | None) -> None:
        """Draw and count truths."""
        n_classes, given = self.sizes.n_classes, order.given
        assert isinstance(given, Given)
        nothing = np.zeros((0, n_classes))
        marks = Marks(np.zeros(n_classes), np.zeros(0, np.int32), nothing if sums is None else sums)
        sweep_items(items, flat_given(given), order.stream, flat_totals(totals), marks)


class HardWork:
    """Truths, kinds, and where labels came from: Consensus."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    def take(self, shard: Shard, rows: LongArray | None) -> tuple[HardItems, int]:
        """Show a shard to the kernels, with the clear winners of votes."""
        sizes = self.sizes
        votes = count_votes(codes_of(shard, sizes.n_classes, sizes.n_answers))
        clear = clear_votes(votes, shard.gold)
        winner = np.full(len(shard.gold), -1, np.int32)
        winner[clear.item] = clear.winner
        if rows is not None:
            shard = shard._replace(item_annotator=_placed(shard, rows))
        return self.shown(shard, winner), len(clear.item)

    def shown(self, shard: Shard, winner: NDArray[np.int32] | None = None) -> HardItems:
        """Show a shard to the kernels: its own arrays, which may be maps of a file."""
        items = HardItems(
            key=np.asarray(shard.key, np.uint64),
            item_start=np.asarray(shard.item_start, np.int64),
            item_annotator=np.asarray(shard.item_annotator, np.int32),
            item_answer=np.asarray(shard.item_answer, np.int32),
            gold=np.asarray(shard.gold, np.int32),
            winner=np.zeros(0, np.int32) if winner is None else winner,
            n_classes=self.sizes.n_classes,
            n_answers=self.sizes.n_answers,
        )
        _lock(*items[:6])
        return items

    def start(self, items: HardItems, order: Order, totals: Totals) -> None:
        """Start at the vote, ties by chance."""
        start_hard_items(items, order.stream, totals, np.zeros(self.sizes.n_classes))

    def sweep(
        self, items: HardItems, order: Order, totals: Totals, sums: FloatArray | None
    ) -> None:
        """Draw and count classes, kinds and sources."""
        n_classes, none = self.sizes.n_classes, np.zeros((0, self.sizes.n_columns))
        into = none if sums is None else sums
        assert isinstance(order.given, HardGiven)
        tally = Tally(
            weight=0.0 if sums is None else 1.0,
            probability=into[:, :n_classes],
            sweeps=np.zeros(1),
            per_item=into[:, n_classes:],
        )
        marks = new_marks(n_classes, self.sizes.n_kinds)
        sweep_hard_items(items, order.given, order.stream, totals, marks, tally)


def _placed(shard: Shard, rows: LongArray) -> NDArray[np.int32]:
    """Give everybody's place in rows, label by label."""
    return np.searchsorted(rows, shard.item_annotator).astype(np.int32)


def _lock(*arrays: NDArray[Any]) -> None:
    """Make arrays read only, as those from files are: code is compiled once."""
    for array in arrays:
        array.setflags(write=False)
