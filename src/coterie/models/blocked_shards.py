"""Blocked samplers on labels in shards on disk: what items are called, what becomes of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.encoding import value_array
from coterie.inference import Sample, Sampler
from coterie.io.scan.scanned import Scan
from coterie.models.sharded import sharded
from coterie.posterior import ItemNumbers
from coterie.posterior.gathered import FoundItems
from coterie.posterior.sharded import ShardedPosterior


class NamesOfItems:
    """What items of a scan are called, by their place among all: looked up when asked for."""

    def __init__(self, scan: Scan, places: Sequence[slice]) -> None:
        self._scan, self._stops = scan, [place.stop for place in places]

    def __getitem__(self, wanted: Sequence[int]) -> NDArray[Any]:
        shards = np.searchsorted(self._stops, wanted, side="right").tolist()
        ids = {k: self._scan.items(k) for k in set(shards)}
        pairs = zip(wanted, shards, strict=True)
        return value_array([ids[k][at - (self._stops[k - 1] if k else 0)] for at, k in pairs])


def posterior_of(
    scan: Scan, sampler: Sampler, run: Sample, told: Mapping[str, Any]
) -> ShardedPosterior:
    """Give the posterior over shards, from what a run found of all items in their order."""
    assert sampler.blocks is not None
    own, reported = run.pooled.averages.item_probability, run.reported
    whole = FoundItems(
        reported.item_probability,
        raw=None if reported.item_probability is own else own,
        numbers=reported.item_numbers,
    )
    found = partial(found_by_place, whole, sampler.blocks.places)
    return sharded(scan, found, told, names=sampler.items)


def found_by_place(whole: FoundItems, places: Sequence[slice], k: int) -> FoundItems:
    """Give what was found of a shard's items."""
    place = places[k]
    numbers = {n: ItemNumbers(one.columns, one.values[place]) for n, one in whole.numbers.items()}
    raw = None if whole.raw is None else whole.raw[place]
    return FoundItems(whole.probability[place], raw=raw, numbers=numbers)


def checksum_of(scan: Scan) -> str:
    """Give a checksum of the labels, the gold and the words, however they are cut."""
    digests = [hashlib.sha256() for _ in range(5)]
    for k in range(len(scan)):
        key, start, *others = scan.open(k)
        for digest, array in zip(digests, (key, np.diff(start), *others), strict=True):
            digest.update(np.ascontiguousarray(array).tobytes())
    whole = hashlib.sha256(b"".join(digest.digest() for digest in digests))
    for words in (scan.annotators, scan.answers):
        whole.update(repr(words.tolist()).encode())
    return whole.hexdigest()
