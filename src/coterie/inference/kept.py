"""What one chain keeps: room for a whole run, filled from the front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.plan import Plan
from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.record import Trace, new_trace


class Kept(NamedTuple):
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
    per_draw: Mapping[str, NDArray[np.float64]]  # (matrices, ...)   what the kernel's layout says
    confusion_sum: NDArray[np.float64]  # (annotators, classes, answers)   summed over draws
    used: NDArray[np.int64]  # (3,)   sweeps, draws, matrices


def room(plan: Plan, data: Codes, layout: Layout = PLAIN) -> Kept:
    """Make room for a whole run."""
    n_annotators = len(data.annotator_start) - 1
    matrix = (n_annotators, data.n_classes, data.n_answers)
    matrices = plan.draws // plan.matrix_thin
    return Kept(
        trace=new_trace(plan.draws * plan.thin, data.n_classes, layout),
        partition=np.zeros((plan.draws, n_annotators), np.int32),
        n_coteries=np.zeros(plan.draws, np.int64),
        vote_agreement=np.zeros(plan.draws),
        confusion=np.zeros((matrices, *matrix), np.float32),
        class_balance=np.zeros((matrices, data.n_classes)),
        per_draw=layout.new_draws(matrices),
        confusion_sum=np.zeros(matrix),
        used=np.zeros(3, np.int64),
    )


def window(trace: Trace, start: int, stop: int) -> Trace:
    """Show a part of a trace; writing to it writes to the whole."""
    return Trace._make(array[start:stop] for array in trace)


def first(kept: Kept, sweeps: int, draws: int, matrices: int) -> Kept:
    """Show the first part of what a chain kept."""
    return kept._replace(
        trace=window(kept.trace, 0, sweeps),
        partition=kept.partition[:draws],
        n_coteries=kept.n_coteries[:draws],
        vote_agreement=kept.vote_agreement[:draws],
        confusion=kept.confusion[:matrices],
        class_balance=kept.class_balance[:matrices],
        per_draw={name: array[:matrices] for name, array in kept.per_draw.items()},
    )


def filled(kept: Kept) -> Kept:
    """Show what is filled."""
    return first(kept, *map(int, kept.used))
