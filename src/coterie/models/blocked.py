"""Blocked samplers on labels in shards on disk: what is sampled, and what becomes of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.encoding import value_array
from coterie.inference import Hooks, Kernels, Sampler, plan_for
from coterie.inference.blocked import Blocks, check_totals
from coterie.io.scan.scanned import Scan
from coterie.kernels.vote import clear_votes
from coterie.models.sharded import sharded
from coterie.posterior import Posterior
from coterie.posterior.gathered import FoundItems

FloatArray = NDArray[np.float64]


class NamesOfItems:
    """What items of a scan are called, by their place among all: looked up when asked for."""

    def __init__(self, scan: Scan, places: Sequence[slice]) -> None:
        self._scan, self._stops = scan, [place.stop for place in places]

    def __getitem__(self, wanted: Sequence[int]) -> NDArray[Any]:
        names = []
        for place in wanted:
            k = int(np.searchsorted(self._stops, place, side="right"))
            names.append(self._scan.items(k)[place - (self._stops[k - 1] if k else 0)])
        return value_array(names)


def sampler_of(model: Any, kernels: Kernels, scan: Scan, densities: bool) -> Sampler:
    """Put together what is sampled of a scan, items in the order of its shards."""
    blocks, codes = Blocks.opened(scan)
    none = np.zeros((0, scan.n_classes), np.int32)
    names: Any = NamesOfItems(scan, blocks.places)
    return Sampler(
        kernels=kernels,
        data=codes,
        prior=kernels.pack_prior(model.resolve_prior(scan)),
        plan=plan_for(codes, model.sweeps, model.burn_in, model.thin),
        votes=none,
        clear=clear_votes(none, np.zeros(0, np.int32)),
        items=names,
        coteries=model.abilities.coteries,
        hooks=Hooks(check=check_totals, coterie_densities=densities),
        blocks=blocks,
    )


def posterior_of(scan: Scan, sampler: Sampler, probability: FloatArray, told: Any) -> Posterior:
    """Give the posterior over shards; what a run noted of items by place is left out."""
    assert sampler.blocks is not None
    verdicts: Mapping[str, Any] = told["run"]["verdicts"]
    labels = {name: note for name, note in verdicts["labels"].items() if name != "readings"}
    noted = {**verdicts, "labels": {**labels, "differ": []}}
    told = {**told, "run": {**told["run"], "verdicts": noted}}
    return sharded(scan, partial(found_by_place, probability, sampler.blocks.places), told)


def found_by_place(probability: FloatArray, places: Sequence[slice], k: int) -> FoundItems:
    """Give what was found of a shard's items."""
    return FoundItems(probability[places[k]])


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
