"""One chain: a generator over blocks of sweeps, and what it needs to stop and go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.chain_draws import new_chain_draws, part_of_trace
from coterie.inference.kernel_checks import check_start
from coterie.inference.plan import Plan
from coterie.inference.protocol import NO_HOOKS, Hooks, Kernels
from coterie.kernels.keep import Record, Streams
from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.record import Trace, new_tally, new_trace
from coterie.kernels.vote import ClearVotes

if TYPE_CHECKING:
    from coterie.inference.blocked import Blocks

BLOCK_SECONDS = 0.1
"""About how long a block runs before the chain can be stopped."""


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """What is sampled: a model's kernels on data, with a packed prior and a plan."""

    kernels: Kernels
    data: Codes
    prior: Any
    plan: Plan
    votes: NDArray[np.int32]  # (items, classes)   labels of each class
    clear: ClearVotes  # who won them
    items: NDArray[Any]  # (items,)   what they are called
    coteries: bool = False  # the model's ability
    hooks: Hooks = NO_HOOKS
    blocks: Blocks | None = None  # the items in shards, which an engine sweeps
    layout: Layout = PLAIN  # what the kernel records beside what every kernel does


class Chain:
    """One chain: where it is and what it has kept; all of it can be stored and restored."""

    def __init__(self, sampler: Sampler, number: int, seed: np.random.SeedSequence) -> None:
        self.sampler = sampler
        self.data = getattr(self, "data", sampler.data)  # a chain may know less of the items
        kernels, data, prior, layout = sampler.kernels, self.data, sampler.prior, sampler.layout
        self.number = number
        self.streams = Streams(*(np.random.default_rng(child) for child in seed.spawn(3)))
        self.state = self._started(sampler)
        self.tally = new_tally(self.data, layout)
        self.kept, self._keep = new_chain_draws(sampler.plan, data, sampler.clear, layout)
        self._scratch = kernels.new_scratch(self.state, data, prior)
        self.done = 0
        self.n_coteries = 0
        self._block = 1  # sweeps; how sweeps are cut into blocks changes no bit

    def _started(self, sampler: Sampler) -> Any:
        """Give the state that the chain starts in."""
        data, moves = sampler.data, self.streams.moves
        start = sampler.hooks.start(self.number, data, sampler.votes, moves)
        begin = sampler.kernels.initial_state
        state = begin(data, sampler.prior, start.truth, start.group, moves)
        check_start(state, sampler)
        if start.ended is not None and sampler.hooks.carry is not None:
            sampler.hooks.carry(state, start.ended, data)
        return state

    @property
    def n_seats(self) -> int:
        """How many are seated in coteries, of models that find any: annotators, or one per kind."""
        return len(self.state.group if self.sampler.coteries else self.data.annotator_start[1:])

    def rest(self) -> None:
        """Have all that the chain knows in its arrays."""

    def wake(self) -> None:
        """Go on from what was written to its arrays."""

    def end(self) -> None:
        """Have all in its arrays, and nothing elsewhere any more."""

    def steps(self, until: int) -> Iterator[int]:
        """Run on to sweep ``until``, yielding the sweeps done after every block."""
        burn_in = self.sampler.plan.burn_in
        while self.done < until:
            stop = min(burn_in, until) if self.done < burn_in else until
            block = min(self._block, stop - self.done)
            start = time.perf_counter()
            trace = self._run(block)
            self._adapt(time.perf_counter() - start)
            self.done += block
            self.n_coteries = int(trace.n_coteries[-1])
            yield self.done

    def _run(self, block: int) -> Trace:
        sampler, data, burn_in = self.sampler, self.sampler.data, self.sampler.plan.burn_in
        if self.done < burn_in:
            trace = new_trace(block, data.n_classes, sampler.layout)
            tally, keep = self.tally._replace(weight=0.0), self._keep._replace(every=0)
        else:
            count = self.done - burn_in
            trace = part_of_trace(self.kept.trace, count, count + block)
            tally, keep = self.tally, self._keep
        kernels, record = sampler.kernels, Record(tally, trace, keep)
        kernels.run_block(self.state, data, sampler.prior, self.streams, record, self._scratch)
        return trace

    def _adapt(self, seconds: float) -> None:
        if seconds < BLOCK_SECONDS / 2:
            self._block *= 2
        elif seconds > BLOCK_SECONDS * 2:
            self._block = max(1, self._block // 2)
