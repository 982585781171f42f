"""Models that can be sampled in shards of the items: which sampler runs, and on whose shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Method, Takes
from coterie.arguments import check_one_of
from coterie.data.annotations import Annotations
from coterie.data.encoding import value_array
from coterie.errors import Argument, DataError
from coterie.inference.chain import Sampler, plan_for
from coterie.inference.sample import Options, sample
from coterie.inference.shards import Blocks, opened, without_items
from coterie.io.scan.scanned import Scan
from coterie.kernels.people import Crowd
from coterie.kernels.vote import clear_votes
from coterie.models.sampling import SamplingEstimator
from coterie.models.sharded import sharded
from coterie.posterior import ItemNumbers, Posterior
from coterie.posterior.gathered import FoundItems

SAMPLERS = ("auto", "collapsed", "blocked")
BLOCKED_LABELS = 10_000_000
"""Labels from which on ``sampler="auto"`` takes the blocked sampler. Up to a million it needs as
much processor time per effective draw as the collapsed one, or more (benchmarks/crossing.py); a
chain of ten million should not wait for one core."""
LABELS_PER_SHARD = 2**18
"""Labels in memory are cut into shards of about so many: enough for a few milliseconds of work."""


class BlockedEstimator(SamplingEstimator):
    """Base of models that can be sampled in blocks, on shards of the items.

    Parameters
    ----------
    sampler
        ``"collapsed"`` moves one item after the other, ``"blocked"`` all of them in parts, with
        random numbers of their own. Both have the same posterior. ``"auto"`` takes blocked where
        there are many labels, or an engine is named. ``posterior.method`` says which ran.
    engine
        Who sweeps the parts: ``"threads"``, ``"dask"``, a ``distributed.Client`` or the address of
        a scheduler. It changes the time only, never a bit of the result.
    others
        As for every sampling model: see :class:`coterie.models.SamplingEstimator`.
    """

    takes: ClassVar[Takes] = Takes(engine=True)
    plain: ClassVar[str] = ""  # the collapsed sampler, of models that have one

    sampler: str = "auto"
    engine: Any = None

    @property
    def _can_block(self) -> bool:
        """Whether there is a blocked sampler of the model as it is."""
        return True

    def _is_blocked(self, n_labels: int) -> bool:
        if self.sampler == "auto" and self._can_block:
            return self.engine is not None or n_labels >= BLOCKED_LABELS
        return self.sampler == "blocked"

    def _collapsed(self, annotations: Annotations) -> str:
        """Give which collapsed sampler runs; none runs in blocks."""
        return "" if self._is_blocked(annotations.n_labels) else self.plain

    def _n_shards(self, annotations: Annotations) -> int:
        n_labels = annotations.n_labels
        return 1 + int(n_labels // LABELS_PER_SHARD) if self._is_blocked(n_labels) else 1

    def _fit_shards(self, scan: Scan) -> Posterior:
        """Fit to labels in shards, by the blocked sampler."""
        self._check()
        if self.sampler == "collapsed" or not self._can_block:
            raise DataError(
                f"{type(self).__name__} takes a scan with the blocked sampler and without kinds of"
                " items",
                argument="sampler" if self.sampler == "collapsed" else "kinds",
                remedy="leave those settings out, or coterie.read the labels",
            )
        sampler = self._sampler_of_scan(scan)
        options = self._options(sampler)._replace(blocked=True)
        run = sample(sampler, options, self._identity(scan))
        own, reported = run.pooled.averages.item_probability, run.reported
        whole = FoundItems(
            reported.item_probability,
            raw=None if reported.item_probability is own else own,
            numbers=reported.item_numbers,
        )
        assert sampler.blocks is not None
        found = partial(found_by_place, whole, sampler.blocks.places)
        told = self._told(run, sampler, options)
        return sharded(scan, found, told, names=sampler.items)

    def _sampler_of_scan(self, scan: Scan) -> Sampler:
        """Put together what is sampled of a scan, items in the order of its shards."""
        places, n_labels, gold, end = [], [np.zeros(1, np.int64)], [np.zeros(0, np.int32)], 0
        for k in range(len(scan)):
            shard = opened(scan, k)
            places.append(slice(end, end + len(shard.gold)))
            end += len(shard.gold)
            gold.append(np.array(shard.gold, np.int32))
            n_labels.append(np.diff(shard.item_start))
        start, known = np.concatenate(n_labels).cumsum(), np.concatenate(gold)
        codes = without_items(scan)._replace(item_start=start, gold=known)
        crowd = Crowd(scan.labels_per_annotator, scan.n_classes, scan.n_answers)
        people = self.people(self.resolve_prior(scan), crowd, scan)
        none = np.zeros((0, scan.n_classes), np.int32)
        names: Any = NamesOfItems(scan, places)
        return Sampler(
            people=people,
            data=codes,
            plan=plan_for(codes, self.sweeps, self.burn_in, self.thin, more_cells=people.n_extra),
            votes=self._votes_of_scan(scan),
            clear=clear_votes(none, none[:, 0]),
            items=names,
            blocks=Blocks(scan, places),
            sizes=self._sizes(people, scan),
            at_vote=self.at_vote,
        )

    def _votes_of_scan(self, scan: Scan) -> NDArray[np.int32]:
        """Give the votes of all items, in the order of the shards, where the model reports them."""
        return np.zeros((0, scan.n_classes), np.int32)

    def _options(self, sampler: Sampler) -> Options:
        blocks = sampler.blocks
        blocked = blocks is not None and self._is_blocked(blocks.shards.n_labels)
        return super()._options(sampler)._replace(engine=self.engine, blocked=blocked)

    def _method(self, options: Options) -> Method:
        return "blocked gibbs" if options.blocked else "gibbs"

    def _check(self) -> None:
        super()._check()
        name = type(self).__name__
        sampler = Argument("sampler", of=name)
        check_one_of(self.sampler, sampler, SAMPLERS, f"one of {', '.join(SAMPLERS)}")
        if self.sampler == "collapsed" and self.engine is not None:
            raise DataError(
                [
                    replace(sampler, value="collapsed"),
                    " moves one item after the other, which no engine can share",
                ],
                remedy="leave the sampler at 'auto', or name no engine",
            )


class NamesOfItems:
    """What items of a scan are called, by their place among all: looked up when asked for."""

    def __init__(self, scan: Scan, places: Sequence[slice]) -> None:
        self._scan, self._stops = scan, [place.stop for place in places]

    def __getitem__(self, wanted: Sequence[int]) -> NDArray[Any]:
        shards = np.searchsorted(self._stops, wanted, side="right").tolist()
        ids = {k: self._scan.items(k) for k in set(shards)}
        pairs = zip(wanted, shards, strict=True)
        return value_array([ids[k][at - (self._stops[k - 1] if k else 0)] for at, k in pairs])


def found_by_place(whole: FoundItems, places: Sequence[slice], k: int) -> FoundItems:
    """Give what was found of a shard's items."""
    place = places[k]
    numbers = {n: ItemNumbers(one.columns, one.values[place]) for n, one in whole.numbers.items()}
    raw = None if whole.raw is None else whole.raw[place]
    return FoundItems(whole.probability[place], raw=raw, numbers=numbers)
