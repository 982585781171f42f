"""What one chain keeps: room for a whole run, filled from the front."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.plan import Plan
from coterie.kernels.keep import Keep, new_keep
from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.record import Trace, new_trace
from coterie.kernels.vote import ClearVotes


class ChainDraws(NamedTuple):
    """Draws and watched quantities of one chain.

    The arrays have room for a whole run (the system gives memory only to what is written);
    ``used`` says how much of them is filled.
    """

    trace: Trace  # one entry per sweep after burn-in
    partition: NDArray[np.int32]  # (draws, annotators)
    n_coteries: NDArray[np.int64]  # (draws,)
    vote_agreement: NDArray[np.float64]  # (draws,)   share of items whose truth is the vote's
    confusion: NDArray[np.float32]  # (matrices, annotators, classes, answers)
    class_balance: NDArray[np.float64]  # (matrices, classes)
    per_draw: NDArray[np.float64]  # (matrices, columns)   what the kernel's layout says
    confusion_sum: NDArray[np.float64]  # (annotators, classes, answers)   summed over draws
    used: NDArray[np.int64]  # (3,)   sweeps, draws, matrices


def new_chain_draws(
    plan: Plan, data: Codes, vote: ClearVotes, layout: Layout = PLAIN
) -> tuple[ChainDraws, Keep]:
    """Make room for a whole run; give it also as the kernels fill it."""
    keep = new_keep(
        data,
        vote,
        draws=plan.draws,
        every=plan.thin,
        matrices_every=plan.matrix_thin,
        layout=layout,
    )
    kept = ChainDraws(
        trace=new_trace(plan.draws * plan.thin, data.n_classes, layout),
        partition=keep.partition,
        n_coteries=keep.n_coteries,
        vote_agreement=keep.vote_agreement,
        confusion=keep.confusion,
        class_balance=keep.class_balance,
        per_draw=keep.per_draw,
        confusion_sum=keep.confusion_sum,
        used=keep.used,
    )
    return kept, keep


def part_of_trace(trace: Trace, start: int, stop: int) -> Trace:
    """Show a part of a trace; writing to it writes to the whole."""
    return Trace._make(array[start:stop] for array in trace)


def first_draws(kept: ChainDraws, sweeps: int, draws: int, matrices: int) -> ChainDraws:
    """Show the first part of what a chain kept."""
    return kept._replace(
        trace=part_of_trace(kept.trace, 0, sweeps),
        partition=kept.partition[:draws],
        n_coteries=kept.n_coteries[:draws],
        vote_agreement=kept.vote_agreement[:draws],
        confusion=kept.confusion[:matrices],
        class_balance=kept.class_balance[:matrices],
        per_draw=kept.per_draw[:matrices],
    )


def filled_draws(kept: ChainDraws) -> ChainDraws:
    """Show what is filled."""
    return first_draws(kept, *map(int, kept.used))
