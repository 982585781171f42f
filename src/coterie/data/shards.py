"""Labels cut by items: every shard holds some items whole, and can be opened where it is needed.

Given everybody's matrix the items are independent, so that a sweep is a map over shards and a sum
of counts. Items are dealt by key (:mod:`coterie.data.keys`), each shard a range of keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.data.keys import key_of
from coterie.errors import DataError

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
Keys = NDArray[np.uint64]


class Shard(NamedTuple):
    """Some items with all their labels, by key: what crosses into the kernels.

    Labels of the k-th item are ``item_annotator[item_start[k]:item_start[k + 1]]`` with the answers
    beside them, sorted by annotator, then answer, as in :class:`coterie.data.codes.Codes`.
    """

    key: Keys  # (items,)          of the item's id
    item_start: LongArray  # (items + 1,)
    item_annotator: IntArray  # (labels,)
    item_answer: IntArray  # (labels,)
    gold: IntArray  # (items,)          the known class, or -1


@runtime_checkable
class Shards(Protocol):
    """Labels in shards. It can be pickled; a copy elsewhere opens the same shards.

    Shards are ranges of keys, in order: all keys of a shard are at most those of the next. A shard
    may be empty.
    """

    @property
    def n_items(self) -> int:
        """Number of items, those without labels included."""

    @property
    def n_labels(self) -> int:
        """Number of labels, repeated ones included."""

    @property
    def n_annotators(self) -> int:
        """Number of annotators, those without labels included."""

    @property
    def n_classes(self) -> int:
        """Number of possible truths, T."""

    @property
    def n_answers(self) -> int:
        """Number of possible answers, C."""

    @property
    def labels_per_annotator(self) -> LongArray:
        """Number of labels of each annotator, shape (annotators,)."""

    def __len__(self) -> int:
        """Give the number of shards."""

    def open(self, k: int) -> Shard:
        """Give the k-th shard; its arrays may be maps of a file, and are read only."""


@dataclass(frozen=True, eq=False)
class CutAnnotations:
    """Annotations in memory as :class:`Shards`: made by :func:`cut`."""

    codes: Codes
    key: Keys  # (items,)    in the order of the codes
    order: LongArray  # (items,)    items by key
    bound: LongArray  # (shards + 1,)   where shards begin among them

    @property
    def n_items(self) -> int:
        """Number of items, those without labels included."""
        return len(self.codes.gold)

    @property
    def n_labels(self) -> int:
        """Number of labels, repeated ones included."""
        return len(self.codes.item_answer)

    @property
    def n_annotators(self) -> int:
        """Number of annotators, those without labels included."""
        return len(self.codes.annotator_start) - 1

    @property
    def n_classes(self) -> int:
        """Number of possible truths, T."""
        return self.codes.n_classes

    @property
    def n_answers(self) -> int:
        """Number of possible answers, C."""
        return self.codes.n_answers

    @property
    def labels_per_annotator(self) -> LongArray:
        """Number of labels of each annotator, shape (annotators,)."""
        return np.diff(self.codes.annotator_start)

    def __len__(self) -> int:
        return len(self.bound) - 1

    def items_of(self, k: int) -> LongArray:
        """Give the item codes of the k-th shard, in its order."""
        return self.order[self.bound[k] : self.bound[k + 1]]

    def open(self, k: int) -> Shard:
        """Give the k-th shard, gathered from the codes."""
        return gathered(self.codes, self.key, self.items_of(k))


def codes_of(shard: Shard, n_classes: int, n_answers: int) -> Codes:
    """See a shard as codes, by item only; annotators have no labels there."""
    none = np.zeros(0, np.int32)
    return Codes(
        item_start=shard.item_start,
        item_annotator=shard.item_annotator,
        item_answer=shard.item_answer,
        annotator_start=np.zeros(1, np.int64),
        annotator_item=none,
        annotator_answer=none,
        gold=shard.gold,
        n_classes=n_classes,
        n_answers=n_answers,
    )


def gathered(codes: Codes, key: Keys, items: LongArray) -> Shard:
    """Give these items with their labels as a shard; the keys are of all items, in code order."""
    first, n_labels = codes.item_start[items], np.diff(codes.item_start)[items]
    start = np.zeros(len(items) + 1, np.int64)
    np.cumsum(n_labels, out=start[1:])
    label = np.repeat(first - start[:-1], n_labels)
    label += np.arange(len(label))
    return Shard(
        key[items], start, codes.item_annotator[label], codes.item_answer[label], codes.gold[items]
    )


def cut(annotations: Annotations, n: int) -> CutAnnotations:
    """Cut annotations into ``n`` shards by ranges of keys, each with about as many labels.

    Items of one key, which no one has seen yet, lie in one shard, in the order of their ids.

    Examples
    --------
    >>> import coterie
    >>> labels = [("q1", "ann", "yes"), ("q2", "bob", "no"), ("q2", "ann", "no")]
    >>> shards = cut(coterie.read(labels), 2)
    >>> len(shards), [shards.open(k).item_annotator.tolist() for k in range(2)]
    (2, [[0], [0, 1]])
    """
    if n < 1:
        raise DataError(f"labels are cut into at least one shard, got {n}")
    codes, key = annotations.codes, key_of(annotations.items)
    order = np.argsort(key, kind="stable")  # items are sorted: equal keys stay in their order
    return CutAnnotations(
        codes, key, order, bounds(np.diff(codes.item_start)[order], key[order], n)
    )


def bounds(n_labels: Any, key: Keys, n: int) -> LongArray:
    """Give where ``n`` shards begin among items by key, each item with so many labels."""
    cost = np.concatenate([[0], np.cumsum(n_labels + 1)])  # an item costs something by itself
    bound = np.searchsorted(cost, cost[-1] * np.arange(1, n) / n)
    bound = np.searchsorted(key, key[np.minimum(bound, len(key) - 1)]) if len(key) else bound * 0
    return np.concatenate([[0], bound, [len(key)]]).astype(np.int64)
