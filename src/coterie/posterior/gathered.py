"""Items of many shards in one place, in the order of their ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.codes import Codes, Shard, encode
from coterie.data.table import sort_order
from coterie.io.scan import Scan
from coterie.posterior.draws import ItemNumbers

Array = NDArray[Any]
FloatArray = NDArray[np.float64]


class FoundItems(NamedTuple):
    """What a model found of the items of one shard, in its order."""

    probability: FloatArray  # (items, classes)
    label: NDArray[np.int64] | None = None  # (items,)           None: the most probable
    raw: FloatArray | None = None  # (items, classes)   the model's own, if others are reported
    numbers: Mapping[str, ItemNumbers] = MappingProxyType({})  # further ones, by name


Found = Callable[[int], FoundItems]
"""Gives what was found of the k-th shard's items, from wherever they are."""


@dataclass(frozen=True, eq=False, repr=False)
class SomeAnnotations(Annotations):
    """Labels of some items, by people of whom it is known how much they said in all.

    Parameters
    ----------
    said
        Number of labels of each annotator in all shards, shape (annotators,).
    """

    said: Any = None

    @property
    def labels_per_annotator(self) -> NDArray[np.int64]:
        """Number of labels of each annotator, of all items, shape (annotators,)."""
        return np.asarray(self.said)


class Some(NamedTuple):
    """Some items of a shard."""

    ids: Array
    gold: Array
    found: FoundItems
    item: Array  # (labels,)   counted from the first of these items
    annotator: Array
    answer: Array


def gathered(
    scan: Scan, found: Found, chosen: Callable[[Array], Array], most: int | None = None
) -> tuple[Annotations, FoundItems]:
    """Give items of all shards with their labels, and what was found of them.

    Parameters
    ----------
    scan, found
        The shards, and what was found of their items.
    chosen
        Marks which items of a shard are wanted, from their ids.
    most
        Stop after so many items.
    """
    parts: list[Some] = []
    n_items = 0
    for k in range(len(scan)):
        ids = scan.items(k)
        parts.append(_some(scan.open(k), ids, found(k), chosen(ids)))
        n_items += len(parts[-1].ids)
        if most is not None and n_items >= most:
            break
    first = np.cumsum([0, *(len(part.ids) for part in parts)])
    ids = np.concatenate([part.ids for part in parts])
    order = sort_order(ids)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    item = [rank[part.item + start] for part, start in zip(parts, first, strict=False)]
    codes = encode(
        np.concatenate(item),
        np.concatenate([part.annotator for part in parts]),
        np.concatenate([part.answer for part in parts]),
        sizes=(len(ids), scan.n_annotators, scan.n_classes, scan.n_answers),
        gold=np.concatenate([part.gold for part in parts])[order],
    )
    return annotations_of(scan, ids[order], codes), _joined([part.found for part in parts], order)


def annotations_of(scan: Scan, items: Array, codes: Codes) -> Annotations:
    """Give labels of a scan's items, with its words; people are those of all its labels."""
    words = (scan.annotators, scan.classes, scan.extra_answers)
    by_annotator = len(codes.annotator_item) == len(codes.item_answer)
    if len(items) == scan.n_items and by_annotator:
        return Annotations(items, *words, codes, provenance=scan.provenance)
    said = scan.labels_per_annotator
    return SomeAnnotations(items, *words, codes, provenance=scan.provenance, said=said)


def _some(shard: Shard, ids: Array, found: FoundItems, wanted: Array) -> Some:
    item = np.repeat(np.arange(len(ids)), np.diff(shard.item_start))
    kept = wanted[item]
    place = np.cumsum(wanted) - 1
    numbers = {
        name: ItemNumbers(one.columns, one.values[wanted]) for name, one in found.numbers.items()
    }
    return Some(
        ids[wanted],
        shard.gold[wanted],
        FoundItems(
            found.probability[wanted],
            None if found.label is None else found.label[wanted],
            None if found.raw is None else found.raw[wanted],
            numbers,
        ),
        place[item[kept]],
        shard.item_annotator[kept],
        shard.item_answer[kept],
    )


def _joined(parts: list[FoundItems], order: Array) -> FoundItems:
    labels = [part.label for part in parts if part.label is not None]
    raws = [part.raw for part in parts if part.raw is not None]
    numbers = {
        name: ItemNumbers(
            one.columns, np.concatenate([part.numbers[name].values for part in parts])[order]
        )
        for name, one in parts[0].numbers.items()
    }
    return FoundItems(
        np.concatenate([part.probability for part in parts])[order],
        np.concatenate(labels)[order] if labels else None,
        np.concatenate(raws)[order] if raws else None,
        numbers,
    )
