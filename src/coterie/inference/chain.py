"""One chain: a generator over blocks of sweeps, and what it needs to stop and go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.kept import Kept, room, window
from coterie.inference.plan import Plan
from coterie.inference.protocol import NO_HOOKS, Hooks, Kernels
from coterie.inference.start import ClearVotes
from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.record import Trace, new_tally, new_trace
from coterie.numeric.partitions import canonical_groups

BLOCK_SECONDS = 0.1
"""About how long a block runs before the chain can be stopped."""


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """What is sampled: a model's kernels on data, with a packed prior and a plan."""

    kernels: Kernels
    data: Codes
    prior: Any
    plan: Plan
    vote: ClearVotes
    coteries: bool = False  # the model's ability
    hooks: Hooks = NO_HOOKS
    layout: Layout = PLAIN  # what the kernel records beside what every kernel does


class Streams(NamedTuple):
    """A chain's sources of randomness.

    What is kept never changes where the chain goes: the draws of matrices have a stream of their
    own. Annotators without labels have one too, so that they change nobody's bits.
    """

    moves: np.random.Generator
    draws: np.random.Generator
    spare: np.random.Generator


class Chain:
    """One chain: where it is and what it has kept; all of it can be stored and restored."""

    def __init__(self, sampler: Sampler, number: int, seed: np.random.SeedSequence) -> None:
        self.sampler = sampler
        kernels, data, prior, layout = sampler.kernels, sampler.data, sampler.prior, sampler.layout
        self.number = number
        self.streams = Streams(*(np.random.default_rng(child) for child in seed.spawn(3)))
        moves = self.streams.moves
        start = sampler.hooks.start(number, data, moves)
        self.state = kernels.initial_state(data, prior, start.truth, start.group, moves)
        self.tally = new_tally(data, layout)
        self.kept: Kept = room(sampler.plan, data, layout)
        self.done = 0
        self.n_coteries = 0
        self._block = 1  # sweeps; how sweeps are cut into blocks changes no bit

    def steps(self, until: int) -> Iterator[int]:
        """Run on to sweep ``until``, yielding the sweeps done after every block."""
        plan = self.sampler.plan
        while self.done < until:
            burning = self.done < plan.burn_in
            stop = plan.burn_in if burning else self._next_draw()
            block = min(self._block, stop - self.done, until - self.done)
            start = time.perf_counter()
            trace = self._run(block, burning)
            self._adapt(time.perf_counter() - start)
            self.done += block
            self.n_coteries = int(trace.n_coteries[-1])
            if not burning and self.done == stop:
                self._keep(trace)
            yield self.done

    def _next_draw(self) -> int:
        plan = self.sampler.plan
        draws = (self.done - plan.burn_in) // plan.thin + 1
        return plan.burn_in + draws * plan.thin

    def _run(self, block: int, burning: bool) -> Trace:
        sampler, data = self.sampler, self.sampler.data
        if burning:
            trace = new_trace(block, data.n_classes, sampler.layout)
            tally = self.tally._replace(weight=0.0)
        else:
            count = int(self.kept.used[0])
            trace, tally = window(self.kept.trace, count, count + block), self.tally
            self.kept.used[0] += block
        moves = self.streams.moves
        sampler.kernels.run_block(self.state, data, sampler.prior, moves, tally, trace)
        return trace

    def _adapt(self, seconds: float) -> None:
        if seconds < BLOCK_SECONDS / 2:
            self._block *= 2
        elif seconds > BLOCK_SECONDS * 2:
            self._block = max(1, self._block // 2)

    def _keep(self, trace: Trace) -> None:
        """Keep the present state as a draw."""
        sampler, kept, vote = self.sampler, self.kept, self.sampler.vote
        draw = int(kept.used[1])
        sampler.kernels.mean_confusion(self.state, sampler.data, sampler.prior, kept.confusion_sum)
        kept.n_coteries[draw] = self.n_coteries
        agrees = self.state.truth[vote.item] == vote.winner
        kept.vote_agreement[draw] = np.mean(agrees) if len(agrees) else 1.0
        if sampler.coteries:
            alpha = float(trace.concentration[-1])
            kept.partition[draw] = seat_everybody(self.state.group, alpha, self.streams.spare)
        kept.used[1] += 1
        if (draw + 1) % sampler.plan.matrix_thin == 0:
            self._keep_matrices()

    def _keep_matrices(self) -> None:
        """Keep what is large of the present state: matrices, and what the layout has per draw."""
        sampler, kept, streams = self.sampler, self.kept, self.streams
        kernels, data, prior = sampler.kernels, sampler.data, sampler.prior
        matrix = int(kept.used[2])
        one = np.empty_like(kept.confusion_sum)
        kernels.draw_confusion(self.state, data, prior, streams.draws, streams.spare, one)
        kept.confusion[matrix] = one
        balance = kept.class_balance[matrix]
        kernels.draw_class_balance(self.state, prior, streams.draws, balance)
        out = {name: array[matrix, ...] for name, array in kept.per_draw.items()}
        sampler.hooks.write_draw(self.state, data, prior, streams.draws, out)
        kept.used[2] += 1


def seat_everybody(
    group: NDArray[np.int32], alpha: float, spare: np.random.Generator
) -> NDArray[np.int32]:
    """Give the partition in canonical form; annotators without labels sit down as newcomers.

    A newcomer joins a cluster with probability proportional to its size, and opens a new one with
    probability proportional to the concentration.

    Examples
    --------
    >>> group = np.array([7, -1, 7, 2], np.int32)
    >>> seat_everybody(group, 1e-9, np.random.default_rng(1)).tolist()
    [0, 0, 0, 1]
    """
    seats = canonical_groups(group)
    (newcomers,) = np.nonzero(seats < 0)
    if len(newcomers) == 0:
        return seats
    size = np.bincount(seats[seats >= 0])
    for l in newcomers:
        weights = np.append(size, alpha)
        m = spare.choice(len(weights), p=weights / weights.sum())
        if m == len(size):
            size = np.append(size, 0)
        size[m] += 1
        seats[l] = m
    return canonical_groups(seats)
