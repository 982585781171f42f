"""How long a large run will take, measured on its own first sweeps, and what there is at once."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from coterie.inference.chain import Chain, Sampler
from coterie.words.numbers import count, duration

MUCH = 2e8
"""Labels times classes times sweeps, of all chains, from which on it is worth a word."""
WORTH_A_WORD = 10.0
"""Seconds; a shorter run needs no announcement."""
TIMED = 3
"""Sweeps that are timed, after a first one that may compile."""


def is_long(sampler: Sampler, n_chains: int) -> bool:
    """Say whether the run is so long that its user should know before."""
    data = sampler.data
    return len(data.item_answer) * data.n_classes * sampler.plan.end * n_chains >= MUCH


def forecast(chains: Sequence[Chain], threads: int, *, early_stop: bool) -> str | None:
    """Time the first sweeps of the first chain, which are part of the run, and say what to expect.

    How sweeps are cut into blocks changes no bit. None if the run is short after all, or the chain
    past its burn-in.
    """
    first, plan = chains[0], chains[0].sampler.plan
    start = first.done + 1
    if start + TIMED > plan.burn_in:
        return None
    _run_to(first, start)
    began = time.perf_counter()
    _run_to(first, start + TIMED)
    seconds = (time.perf_counter() - began) / TIMED * plan.end * math.ceil(len(chains) / threads)
    if seconds < WORTH_A_WORD:
        return None
    at_most = "at most " if early_stop else ""
    return (
        f"{count(len(chains), 'chain')} of {plan.end:,} sweeps will take {at_most}about"
        f" {duration(seconds)} here; QuickConsensus (--model quick) gives labels, probabilities and"
        " accuracies at once, without coteries, roles and intervals of matrices"
    )


def _run_to(chain: Chain, sweep: int) -> None:
    for _ in chain.steps(sweep):
        pass
