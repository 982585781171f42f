"""The chain is a generator over blocks of sweeps; everything else wraps it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from coterie.kernels.record import Tally, Trace, new_tally, new_trace
from coterie.run.start import starting_group, starting_truth

BURN_IN_BLOCK = 100


class Kernels(Protocol):
    """What a model's kernel module offers: ``coterie.kernels.ibcc, cbcc, hcbcc``."""

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


class Plan(NamedTuple):
    """How long a chain runs and what is kept of it."""

    sweeps: int  # in all
    burn_in: int  # of which dropped
    thin: int  # sweeps between draws that are kept

    @property
    def draws(self) -> int:
        """Number of draws kept."""
        return (self.sweeps - self.burn_in) // self.thin


class Step(NamedTuple):
    """A block of sweeps is done: where the chain stands."""

    done: int  # sweeps so far
    kept: bool  # after burn-in?
    state: Any
    tally: Tally
    trace: Trace  # of this block


def chain(
    kernels: Kernels,
    data: Codes,
    prior: Any,
    plan: Plan,
    number: int,
    rng: np.random.Generator,
) -> Iterator[Step]:
    """Run chain ``number``, yielding after every block of sweeps.

    After burn-in a block is ``plan.thin`` sweeps long, so that each yields one draw to keep; what
    is left over at the end is not run.
    """
    truth = starting_truth(number, data, rng)
    group = starting_group(number, data, rng)
    state = kernels.initial_state(data, prior, truth, group, rng)
    tally = new_tally(data)
    done = 0
    while done < plan.burn_in:
        block = min(BURN_IN_BLOCK, plan.burn_in - done)
        trace = new_trace(block, data.n_classes)
        kernels.run_block(state, data, prior, rng, tally._replace(weight=0.0), trace)
        done += block
        yield Step(done, False, state, tally, trace)
    for _ in range(plan.draws):
        trace = new_trace(plan.thin, data.n_classes)
        kernels.run_block(state, data, prior, rng, tally, trace)
        done += plan.thin
        yield Step(done, True, state, tally, trace)
