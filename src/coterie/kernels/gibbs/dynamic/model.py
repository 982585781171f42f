"""DynamicIBCC: everybody's matrix walks at random. Sampled: z, tau, the sticks v, the drifts q.

v[l, t, j] at the first label is matched to iBCC's Dirichlet, then v(u') = v(u) + N(0, q[l] step);
q[l] on a grid, 0 with probability 1/2. Given omega ~ PG(1, v) walks are Gaussian.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.dynamic.course import Course, Sticks, sticks_of
from coterie.kernels.gibbs.dynamic.walks import (
    Room,
    choose_drift,
    draw_walks,
    log_answer,
    see_labels,
    stick,
)
from coterie.kernels.keep import (
    Keep,
    Record,
    Streams,
    draw_is_due,
    finish_draw,
    keep_state,
    matrices_are_due,
)
from coterie.kernels.layout import Layout, PerDraw, PerSweep
from coterie.kernels.record import Tally, note_classes
from coterie.kernels.truth.counts import starting_truth
from coterie.numeric.choice import normalise, pick
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import kernel, part, piece
from coterie.numeric.rising import log_rising
from coterie.priors import DynamicPrior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class State(NamedTuple):
    """Where the chain is."""

    truth: IntArray  # (items,)    z, or -1
    class_total: NDArray[np.int64]  # (classes,)  n[t]
    drift: IntArray  # (annotators,)   q, as its place on the grid
    v: FloatArray  # (moments, classes, sticks)


class Prior(NamedTuple):
    """The prior as the kernel reads it, and when labels were given."""

    class_weight: FloatArray  # (classes,)
    sticks: Sticks
    drift: FloatArray  # (drifts,)   the grid
    log_drift: FloatArray  # (drifts,)   log probabilities
    course: Course


def pack_prior(prior: DynamicPrior, course: Course) -> Prior:
    """Give a resolved prior as the kernel reads it."""
    grid = np.array(prior.drift)
    others = (1 - prior.static_weight) / max(len(grid) - 1, 1)
    weights = np.array([prior.static_weight, *[others] * (len(grid) - 1)])
    sticks = sticks_of(np.asarray(prior.mean), np.asarray(prior.strength))
    return Prior(np.array(prior.class_weights), sticks, grid, np.log(weights), course)


def initial_state(
    data: Codes, prior: Prior, truth: IntArray, group: IntArray | None, rng: np.random.Generator
) -> State:
    """Start from a truth, shape (N,), everybody at the prior's mean, and nobody drifting."""
    start, class_total = starting_truth(truth, data)
    n_moments = len(prior.course.step)
    v = np.broadcast_to(prior.sticks.mean, (n_moments, *prior.sticks.mean.shape)).copy()
    return State(start, class_total, np.zeros(len(data.annotator_start) - 1, np.int32), v)


def new_scratch(state: State, data: Codes, prior: Prior) -> Room:
    """Give room to sweep in, for all blocks of a chain."""
    most = int(np.diff(prior.course.moment_start).max(initial=0))
    walks = (data.n_classes, state.v.shape[2], most)
    return Room(
        omega=np.zeros(walks),
        kappa=np.zeros(walks),
        mean=np.zeros(most),
        variance=np.zeros(most),
        walk=np.zeros(most),
        weights=np.zeros(len(prior.drift)),
        balance=np.ones(data.n_classes),
        item=np.zeros(data.n_classes),
    )


def layout_of(data: Codes, prior: Prior) -> Layout:
    """Say what is recorded: how many do not change, who, and everybody's accuracy in time."""
    n_annotators, n_moments = len(data.annotator_start) - 1, len(prior.course.step)
    return Layout(
        per_sweep=(PerSweep("n_static"),),
        per_draw=(
            PerDraw("static", (n_annotators,), ("annotator",)),
            PerDraw("accuracy_at", (n_moments,), ("moment",)),
        ),
    )


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    total = np.bincount(state.truth[state.truth >= 0], minlength=data.n_classes)
    if not np.array_equal(total, state.class_total):
        raise ValueError("class_total does not follow from the state")
    if not ((state.drift >= 0) & (state.drift < len(prior.drift))).all():
        raise ValueError("drift is out of range")
    if not np.isfinite(state.v).all():
        raise ValueError("v is not finite")


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Room
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    trace, moves = record.trace, streams.moves
    for sweep in range(len(trace.log_joint)):
        n_static, log_p = 0, 0.0
        for l in range(len(state.drift)):
            if data.annotator_start[l] < data.annotator_start[l + 1]:
                see_labels(l, state, prior, scratch, moves)
                g = choose_drift(l, prior, scratch, moves)
                state.drift[l] = g
                draw_walks(l, prior.drift[g], state, prior, scratch, moves)
                n_static += g == 0
                log_p += prior.log_drift[g]
        trace.log_likelihood[sweep] = sweep_items(state, data, prior, scratch, moves, record.tally)
        log_p += log_truth(state, prior)
        trace.log_joint[sweep] = trace.log_likelihood[sweep] + log_p
        trace.per_sweep[sweep, 0] = n_static
        note_classes(sweep, state.class_total, trace)
        if draw_is_due(record.keep):
            keep_draw(state, data, prior, streams, record.keep, scratch)


@piece
def log_truth(state: State, prior: Prior) -> float:
    """Give log p(z), the class balance integrated out."""
    result, total, strength = 0.0, 0, 0.0
    for t in range(len(state.class_total)):
        weight = prior.class_weight[t]
        result += log_rising(weight, state.class_total[t], math.log(weight))
        total += state.class_total[t]
        strength += weight
    return result - log_rising(strength, total, math.log(strength))


@part
def sweep_items(
    state: State, data: Codes, prior: Prior, room: Room, rng: np.random.Generator, tally: Tally
) -> float:
    """Draw tau, then every item's class given tau and v; give log p(Y | z, v)."""
    balance, weights, result = room.balance, room.item, 0.0
    for t in range(len(balance)):
        balance[t] = state.class_total[t] + prior.class_weight[t]
    draw_dirichlet(balance, rng)
    tally.sweeps[0] += tally.weight
    for i in range(len(state.truth)):
        first, last = data.item_start[i], data.item_start[i + 1]
        if data.gold[i] >= 0:
            tally.probability[i, data.gold[i]] += tally.weight
        else:
            weigh_item(i, state, data, prior, balance, weights)
            for t in range(len(balance)):
                tally.probability[i, t] += tally.weight * weights[t]
            if first < last:
                new = pick(weights, rng.random())
                state.class_total[state.truth[i]] -= 1
                state.class_total[new] += 1
                state.truth[i] = new
        for k in range(first, last):
            s, c = prior.course.moment_of_label[k], data.item_answer[k]
            result += log_answer(state.truth[i], c, s, state.v, prior.sticks.place)
    return result


@part
def weigh_item(
    i: int, state: State, data: Codes, prior: Prior, balance: FloatArray, weights: FloatArray
) -> None:
    """Write the probabilities of the classes of item i given tau and v, shape (T,)."""
    for t in range(len(balance)):
        weights[t] = math.log(balance[t]) if balance[t] > 0 else -math.inf
        for k in range(data.item_start[i], data.item_start[i + 1]):
            s, c = prior.course.moment_of_label[k], data.item_answer[k]
            weights[t] += log_answer(t, c, s, state.v, prior.sticks.place)
    normalise(weights)


@piece
def keep_draw(
    state: State, data: Codes, prior: Prior, streams: Streams, keep: Keep, scratch: Room
) -> None:
    """Keep the present state as a draw: matrices are means over the moments of labels."""
    keep_state(0, state.truth, keep)
    due, draw = matrices_are_due(keep), keep.used[2]
    for l in range(len(state.drift)):
        add_matrix(l, state, data, prior, streams.spare, keep.confusion_sum[l])
    if due:
        balance = keep.class_balance[draw]
        for t in range(len(balance)):
            balance[t] = state.class_total[t] + prior.class_weight[t]
        draw_dirichlet(balance, streams.draws)
        n = len(state.drift)
        for l in range(n):
            add_matrix(l, state, data, prior, streams.spare, keep.confusion[draw, l])
            keep.per_draw[draw, l] = 1.0 if state.drift[l] == 0 else 0.0
        for s in range(len(prior.course.step)):
            accuracy = 0.0
            for t in range(len(balance)):
                right = stick(state.v[s, t, 0]) if state.v.shape[2] > 0 else 1.0
                accuracy += balance[t] * right
            keep.per_draw[draw, n + s] = accuracy
    finish_draw(keep)


@part
def add_matrix(
    l: int, state: State, data: Codes, prior: Prior, spare: np.random.Generator, out: NDArray[Any]
) -> None:
    """Add the matrix of annotator l, the mean over their labels' moments, out of shape (T, C).

    Who has no labels gets one from the prior.
    """
    course, sticks = prior.course, prior.sticks
    first, last = course.moment_start[l], course.moment_start[l + 1]
    n_labels = course.start[l + 1] - course.start[l]
    n_classes, n_answers = out.shape
    for t in range(n_classes):
        for s in range(first, max(last, first + 1)):
            share = course.n_labels[s] / n_labels if n_labels > 0 else 1.0
            left = 1.0
            for j in range(n_answers - 1):
                if n_labels > 0:
                    x = state.v[s, t, j]
                else:
                    sd = math.sqrt(sticks.variance[t, j])
                    x = sticks.mean[t, j] + sd * spare.standard_normal()
                broken = stick(x)
                out[t, sticks.answer[t, j]] += share * left * broken
                left *= 1 - broken
            out[t, sticks.answer[t, n_answers - 1]] += share * left
