"""A chain whose items are elsewhere: the driver has counts and parameters, an engine the shards."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.data.shards import Shards, cut
from coterie.inference.chain import Chain, Sampler
from coterie.inference.chain_draws import part_of_trace
from coterie.inference.engine import Order, Session, connect
from coterie.inference.holder import opened
from coterie.inference.start import NOISE
from coterie.kernels.gibbs.blocked.items import Totals
from coterie.kernels.keep import Record
from coterie.kernels.record import Trace, new_tally, new_trace
from coterie.numeric.keyed import stream_of

FloatArray = NDArray[np.float64]

LABELS_PER_SHARD = 2**18
"""Labels in memory are cut into shards of about so many: enough for a few milliseconds of work."""


@dataclass(frozen=True)
class Blocks:
    """Shards of the items, and the place of theirs among all items of the run's data."""

    shards: Shards
    places: Sequence[Any]  # per shard, an index of rows
    n_kinds: int = 0  # of hard items, of models that have them

    @classmethod
    def of(cls, annotations: Annotations) -> Blocks:
        """Cut annotations; how finely changes no bit of a result."""
        shards = cut(annotations, 1 + int(annotations.n_labels // LABELS_PER_SHARD))
        return cls(shards, [shards.items_of(k) for k in range(len(shards))])

    @classmethod
    def opened(cls, shards: Shards) -> tuple[Blocks, Codes]:
        """Take shards as they are, items in their order; give also codes that know no label."""
        sizes, gold, n_labels = [0], [], []
        for k in range(len(shards)):
            shard = opened(shards, k)
            sizes.append(sizes[-1] + len(shard.gold))
            gold.append(np.array(shard.gold, np.int32))
            n_labels.append(np.diff(shard.item_start))
        start = np.concatenate([np.zeros(1, np.int64), *n_labels]).cumsum()
        places = [slice(first, last) for first, last in itertools.pairwise(sizes)]
        codes = without_items(shards)._replace(
            item_start=start, gold=np.concatenate([np.zeros(0, np.int32), *gold])
        )
        return cls(shards, places), codes


@contextmanager
def session_of(sampler: Sampler, engine: Any, n_jobs: int | None) -> Iterator[Session | None]:
    """Have the shards held while a run lasts; of a sampler without any, nothing."""
    if sampler.blocks is None:
        yield None
        return
    session = connect(engine, n_jobs).open(sampler.blocks.shards, sampler.blocks.n_kinds)
    try:
        yield session
    finally:
        session.close()


def make_chain(
    sampler: Sampler, number: int, seed: np.random.SeedSequence, session: Session | None
) -> Chain:
    """Give a chain that sweeps its items itself, or one that has them swept."""
    if session is None:
        return Chain(sampler, number, seed)
    return BlockedChain(sampler, number, seed, session)


def without_items(shards: Shards) -> Codes:
    """Give codes that know how many labels everybody has, and of no item."""
    start = np.concatenate([[0], np.cumsum(shards.labels_per_annotator)])
    nothing = np.zeros(0, np.int32)
    return Codes(
        item_start=np.zeros(1, np.int64),
        item_annotator=nothing,
        item_answer=nothing,
        annotator_start=start,
        annotator_item=nothing,
        annotator_answer=nothing,
        gold=nothing,
        n_classes=shards.n_classes,
        n_answers=shards.n_answers,
    )


class BlockedChain(Chain):
    """A chain whose truths are drawn by an engine, shard by shard."""

    def __init__(
        self, sampler: Sampler, number: int, seed: np.random.SeedSequence, session: Session
    ) -> None:
        assert sampler.blocks is not None
        self._session, self._stream = session, stream_of(seed)
        self.data = without_items(sampler.blocks.shards)
        super().__init__(sampler, number, seed)
        kernels: Any = sampler.kernels
        if self._hard:
            self._scratch = kernels.knowing(self._scratch, sampler.data)
        noise = NOISE if number > 0 else 0.0
        self._take(session.sweep(Order(number, self._stream, None, noise)))
        kernels.take_counts(self.state, self._scratch)
        self.tally = new_tally(sampler.data, sampler.layout)  # of all items, brought home at rest
        n_classes = sampler.data.n_classes
        self._bystander = np.zeros(n_classes), np.zeros(sampler.blocks.n_kinds)

    @property
    def _hard(self) -> bool:
        """Whether some items are hard: then kinds are summed beside classes."""
        return self.sampler.blocks is not None and self.sampler.blocks.n_kinds > 0

    def _started(self, sampler: Sampler) -> Any:
        no_votes = np.zeros((0, self.data.n_classes), np.int32)
        start = sampler.hooks.start(self.number, self.data, no_votes, self.streams.moves)
        begin = sampler.kernels.initial_state
        return begin(self.data, sampler.prior, start.truth, start.group, self.streams.moves)

    def _take(self, totals: Totals) -> None:
        for array, found in zip(self._scratch.whole.totals, totals, strict=True):
            array[...] = found

    def _run(self, block: int) -> Trace:
        sampler, burn_in = self.sampler, self.sampler.plan.burn_in
        is_kept = self.done >= burn_in
        if is_kept:
            first = self.done - burn_in
            trace = part_of_trace(self.kept.trace, first, first + block)
        else:
            trace = new_trace(block, sampler.data.n_classes, sampler.layout)
        keep = self._keep if is_kept else self._keep._replace(every=0)
        for k in range(block):
            self._sweep(self.done + k + 1, Record(self.tally, part_of_trace(trace, k, k + 1), keep))
        return trace

    def _sweep(self, number: int, record: Record) -> None:
        kernels: Any = self.sampler.kernels
        state, data, prior, scratch = self.state, self.data, self.sampler.prior, self._scratch
        tallied = number - 1 - self.sampler.plan.burn_in
        kernels.begin_sweep(state, data, prior, self.streams, scratch)
        stream = self._stream._replace(sweep=number)
        given = scratch.whole.given
        self._take(self._session.sweep(Order(self.number, stream, given, tallied=tallied)))
        n_draws = int(self.kept.used[1])
        kernels.finish_sweep(state, data, prior, self.streams, record, scratch)
        if self.kept.used[1] > n_draws:
            agreed = int(scratch.whole.totals.agreed[0])
            n_clear = self._session.n_clear
            self.kept.vote_agreement[n_draws] = agreed / n_clear if n_clear else 1.0
        if tallied >= 0:
            classes, kinds = self._bystander
            _add_shares(classes, state.class_total + prior.class_weight)
            if self._hard:
                _add_shares(kinds, state.kind_total + prior.kind_weight)
            self.tally.sweeps[0] += 1

    def rest(self) -> None:
        """Bring home what is summed of the items: those not drawn are known, or as classes are."""
        blocks, data = self.sampler.blocks, self.sampler.data
        assert blocks is not None
        n_classes, per_item = data.n_classes, self.tally.per_item
        for place, sums in zip(blocks.places, self._session.sums(self.number), strict=True):
            self.tally.probability[place] = sums[:, :n_classes]
            per_item[place] = sums[:, n_classes:]
        silent = np.diff(data.item_start) == 0
        (known,) = np.nonzero(data.gold >= 0)
        classes, kinds = self._bystander
        of_classes = [self.tally.probability, *([per_item[:, :n_classes]] if self._hard else [])]
        for probability in of_classes:
            probability[silent] = classes
            probability[known] = 0.0
            probability[known, data.gold[known]] = self.tally.sweeps[0]
        if self._hard:
            per_item[silent, n_classes:] = kinds

    def wake(self) -> None:
        """Hand out what was restored of the items."""
        blocks, data = self.sampler.blocks, self.sampler.data
        assert blocks is not None
        silent = np.diff(data.item_start) == 0
        classes, kinds = self._bystander
        (unknown,) = np.nonzero(silent & (data.gold < 0))
        if len(unknown):
            classes[:] = self.tally.probability[unknown[0]]
        if self._hard and silent.any():
            kinds[:] = self.tally.per_item[silent.argmax(), data.n_classes :]
        tallied = int(self.tally.sweeps[0])
        if tallied:
            both = self.tally.probability, self.tally.per_item
            sums = [np.hstack([array[place] for array in both]) for place in blocks.places]
            self._session.restore(self.number, sums, tallied)

    def end(self) -> None:
        """Bring home what is summed of the items, and have nobody keep it any more."""
        self.rest()
        self._session.forget(self.number)


def _add_shares(shares: FloatArray, weight: FloatArray) -> None:
    shares += weight / weight.sum()
