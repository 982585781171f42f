"""iBCC: every annotator has a confusion matrix of their own. Sampled: z.

Psi[l, t] ~ Dir(beta[t] eta[t]),  tau ~ Dir(eps mu);  both integrated out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.cells import Tables, log_marginal, tables_of
from coterie.kernels.gibbs.confusion import (
    draw_class_balance,
    draw_matrices,
    labelled,
    mean_matrices,
    slabs,
)
from coterie.kernels.record import Tally, Trace, note_classes
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
from coterie.numeric.jit import kernel, piece
from coterie.numeric.lines import on_own_lines
from coterie.priors import IBCCPrior

__all__ = [
    "Prior",
    "State",
    "draw_class_balance",
    "draw_confusion",
    "initial_state",
    "mean_confusion",
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
    return on_own_lines(State(start, class_total, said, said_total))


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
def log_likelihood(state: State, prior: Prior) -> float:
    """Give log p(Y | z), the confusion matrices integrated out."""
    result = 0.0
    for l in range(len(state.said)):
        result += log_marginal(l, state.said, state.said_total, prior.shapes, prior.tables)
    return result


def run_block(
    state: State,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    tally: Tally,
    trace: Trace,
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    view = view_of(state, prior)
    _sweep_many(state, view, data, prior, rng, (tally, trace), new_work(data, view))


@kernel
def _sweep_many(
    state: State,
    view: View,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    record: tuple[Tally, Trace],
    work: Work,
) -> None:
    tally, trace = record
    add_shapes(view, data, work)
    for sweep in range(len(trace.log_joint)):
        sweep_own(view, data, work, rng, tally)
        trace.log_likelihood[sweep] = log_likelihood(state, prior)
        trace.log_joint[sweep] = trace.log_likelihood[sweep] + log_truth(view)
        note_classes(sweep, state.class_total, trace)


def draw_confusion(
    state: State,
    data: Codes,
    prior: Prior,
    rng: np.random.Generator,
    spare: np.random.Generator,
    out: FloatArray,
) -> None:
    """Draw every annotator's confusion matrix given the state, out of shape (L, T, C).

    ``spare`` draws for annotators without labels, so that they move nobody else's draws.
    """
    active = labelled(data)
    for who, source in ((active, rng), (~active, spare)):
        for some in slabs(np.flatnonzero(who), out[0].size):
            out[some] = draw_matrices(state.said[some], prior.shapes, 0 * some, source)


def mean_confusion(state: State, data: Codes, prior: Prior, out: FloatArray) -> None:
    """Add every annotator's mean confusion matrix given the state, out of shape (L, T, C)."""
    for some in slabs(np.arange(len(out)), out[0].size):
        out[some] += mean_matrices(state.said[some], prior.shapes, 0 * some)
