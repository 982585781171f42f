"""iBCC: every annotator has a confusion matrix of their own. Sampled: z.

Psi[l, t] ~ Dir(beta[t] eta[t]),  tau ~ Dir(eps mu);  both integrated out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.cells import Tables, log_marginal, tables_of
from coterie.kernels.gibbs.check import check_classes, check_said, count_said
from coterie.kernels.gibbs.confusion import add_mean, draw_matrix
from coterie.kernels.gibbs.ended import carry_nothing
from coterie.kernels.keep import (
    Keep,
    Record,
    Streams,
    draw_is_due,
    finish_draw,
    keep_class_balance,
    keep_state,
    matrices_are_due,
)
from coterie.kernels.record import note_classes
from coterie.kernels.shapes import Shapes, flat, shapes_of
from coterie.kernels.truth.counts import (
    View,
    Work,
    add_shapes,
    count_answers,
    log_truth,
    new_work,
    starting_truth,
)
from coterie.kernels.truth.sweep import sweep_own
from coterie.numeric.jit import kernel, part, piece
from coterie.priors import IBCCPrior

__all__ = [
    "Prior",
    "State",
    "initial_state",
    "new_scratch",
    "pack_prior",
    "run_block",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class State(NamedTuple):
    """Where the chain is."""

    truth: IntArray  # (items,)                         z, or -1
    class_total: NDArray[np.int64]  # (classes,)                       n[t]
    said: IntArray  # (annotators, answers, classes)   n[l, t, c]
    said_total: IntArray  # (annotators, classes)            n[l, t]


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    shapes: Shapes  # one base: beta, eta
    tables: Tables


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    view: View
    work: Work


def pack_prior(prior: IBCCPrior) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    shapes = shapes_of(np.asarray(prior.mean), np.asarray(prior.strength))
    return Prior(np.array(prior.class_weights), shapes, tables_of(shapes))


def initial_state(
    data: Codes,
    prior: Prior,
    truth: IntArray,
    group: IntArray | None = None,
    rng: np.random.Generator | None = None,
) -> State:
    """Start from a truth, shape (N,); the other arguments are there for other models."""
    start, class_total = starting_truth(truth, data)
    n_annotators = len(data.annotator_start) - 1
    matrix = np.arange(n_annotators, dtype=np.int32)
    said, said_total = count_answers(start, matrix, n_annotators, data)
    return State(start, class_total, said, said_total)


def view_of(state: State, prior: Prior) -> View:
    """Show the state to the truth update: a matrix each, one base for all."""
    everybody = np.arange(len(state.said), dtype=np.int32)
    nothing = np.zeros(0, np.int32)
    return View(
        truth=state.truth,
        class_total=state.class_total,
        class_weight=prior.class_weight,
        said=state.said.reshape(-1),
        said_total=state.said_total.reshape(-1),
        own=nothing,
        matrix=nothing,
        base=nothing,
        used=everybody,
        n_used=np.array([len(everybody)]),
        shapes=flat(prior.shapes),
    )


@piece
def log_likelihood(state: Any, prior: Any) -> float:
    """Give log p(Y | z), the confusion matrices integrated out: of all models with one base."""
    result = 0.0
    for m in range(len(state.said)):
        result += log_marginal(m, state.said, state.said_total, prior.shapes, prior.tables)
    return result


carry = carry_nothing


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_classes(state, data)
    check_said(state, count_said(state.truth, data))


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain."""
    view = view_of(state, prior)
    return Scratch(view, new_work(data, view))


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    view, work = scratch
    add_shapes(view, data, work)
    for sweep in range(len(record.trace.log_joint)):
        sweep_own(view, data, work, streams.moves, record.tally)
        finish(sweep, state, data, prior, streams, record, scratch)


@part
def finish(
    sweep: int, state: State, data: Codes, prior: Prior, streams: Streams, record: Record,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Note the sweep, and keep the draw if one is due."""
    trace, (view, _) = record.trace, scratch
    trace.log_likelihood[sweep] = log_likelihood(state, prior)
    trace.log_joint[sweep] = trace.log_likelihood[sweep] + log_truth(view)
    note_classes(sweep, state.class_total, trace)
    if draw_is_due(record.keep):
        keep_draw(state, data, prior, streams, record.keep, scratch)


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Scratch
) -> None:
    """Keep the present state as a draw.

    ``streams.spare`` draws for annotators without labels: they move nobody else's draws.
    """
    keep_state(0, state.truth, keep)
    for l in range(len(state.said)):
        add_mean(state.said[l], prior.shapes, 0, 1.0, keep.confusion_sum[l])
    if matrices_are_due(keep):
        draw_matrices(state, data, prior, streams, keep)
        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)
    finish_draw(keep)


@part
def draw_matrices(state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep) -> None:
    """Draw everybody's matrix."""
    out = keep.confusion[keep.used[2]]
    for l in range(len(state.said)):
        if data.annotator_start[l] < data.annotator_start[l + 1]:
            draw_matrix(state.said[l], prior.shapes, 0, streams.draws, keep.row, out[l])
        else:
            draw_matrix(state.said[l], prior.shapes, 0, streams.spare, keep.row, out[l])
