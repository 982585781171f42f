"""One chain: a generator over blocks of sweeps, and what it needs to stop and go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.kept import Kept, room, window
from coterie.inference.plan import Plan
from coterie.inference.start import ClearVotes, starting_group, starting_truth
from coterie.kernels.record import Tally, Trace, new_tally, new_trace
from coterie.numeric.partitions import canonical_groups

BLOCK_SECONDS = 0.1
"""About how long a block runs before the chain can be stopped."""


class Kernels(Protocol):
    """What a model's kernel module offers: ``coterie.kernels.gibbs.ibcc, cbcc, hcbcc``."""

    def pack_prior(self, prior: Any) -> Any:
        """Give the prior as a NamedTuple of arrays."""

    def initial_state(
        self, data: Codes, prior: Any, truth: Any, group: Any, rng: np.random.Generator
    ) -> Any:
        """Start from these classes and clusters."""

    def run_block(
        self, state: Any, data: Codes, prior: Any, rng: np.random.Generator, tally: Tally,
        trace: Trace,
    ) -> None:  # fmt: skip
        """Do one sweep for each entry of the trace."""

    def draw_confusion(
        self, state: Any, data: Codes, prior: Any, rng: np.random.Generator,
        spare: np.random.Generator, out: NDArray[np.float64],
    ) -> None:  # fmt: skip
        """Draw every annotator's matrix given the state."""

    def mean_confusion(self, state: Any, data: Codes, prior: Any, out: NDArray[np.float64]) -> None:
        """Add every annotator's mean matrix given the state."""

    def draw_class_balance(
        self, state: Any, prior: Any, rng: np.random.Generator, out: NDArray[np.float64]
    ) -> None:
        """Draw the class proportions given the state."""


class Sampler(NamedTuple):
    """What is sampled: a model's kernels on data, with a packed prior and a plan."""

    kernels: Kernels
    data: Codes
    prior: Any
    plan: Plan
    vote: ClearVotes


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
        kernels, data, prior, plan, _ = sampler
        self.number = number
        self.streams = Streams(*(np.random.default_rng(child) for child in seed.spawn(3)))
        moves = self.streams.moves
        truth = starting_truth(number, data, moves)
        group = starting_group(number, data, moves)
        self.state = kernels.initial_state(data, prior, truth, group, moves)
        self.tally = new_tally(data)
        self.kept: Kept = room(plan, data)
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
        kernels, data, prior, *_ = self.sampler
        if burning:
            trace, tally = new_trace(block, data.n_classes), self.tally._replace(weight=0.0)
        else:
            count = int(self.kept.used[0])
            trace, tally = window(self.kept.trace, count, count + block), self.tally
            self.kept.used[0] += block
        kernels.run_block(self.state, data, prior, self.streams.moves, tally, trace)
        return trace

    def _adapt(self, seconds: float) -> None:
        if seconds < BLOCK_SECONDS / 2:
            self._block *= 2
        elif seconds > BLOCK_SECONDS * 2:
            self._block = max(1, self._block // 2)

    def _keep(self, trace: Trace) -> None:
        """Keep the present state as a draw."""
        kernels, data, prior, plan, vote = self.sampler
        kept, streams = self.kept, self.streams
        _, draw, matrix = map(int, kept.used)
        kernels.mean_confusion(self.state, data, prior, kept.confusion_sum)
        kept.n_coteries[draw] = self.n_coteries
        agrees = self.state.truth[vote.item] == vote.winner
        kept.vote_agreement[draw] = np.mean(agrees) if len(agrees) else 1.0
        if hasattr(self.state, "group"):
            alpha = float(trace.concentration[-1])
            kept.partition[draw] = seat_everybody(self.state.group, alpha, streams.spare)
        kept.used[1] += 1
        if (draw + 1) % plan.matrix_thin == 0:
            one = np.empty_like(kept.confusion_sum)
            kernels.draw_confusion(self.state, data, prior, streams.draws, streams.spare, one)
            kept.confusion[matrix] = one
            balance = kept.class_balance[matrix]
            kernels.draw_class_balance(self.state, prior, streams.draws, balance)
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
