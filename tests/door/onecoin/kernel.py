"""The kernel of OneCoin: an annotator is right with a chance of their own, whatever the class.

skill[l] ~ Beta(a, b),  tau ~ Dir(w),  z[i] ~ tau;  a label is z[i] with probability skill[l], else
any other answer. Sampled in turn: skill given z, tau given z, z given both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from coterie.extend import (
    Layout,
    PerDraw,
    PerItem,
    PerSweep,
    draw_is_due,
    finish_draw,
    keep_class_balance,
    keep_state,
    kernel,
    matrices_are_due,
    normalise,
    note_classes,
    pick,
    starting_truth,
)


class Packed(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: np.ndarray  # (classes,)
    a: float
    b: float


class State(NamedTuple):
    """Where the chain is."""

    truth: np.ndarray  # (items,)        z, or -1 for items that nobody knows anything about
    class_total: np.ndarray  # (classes,)
    right: np.ndarray  # (annotators,)   labels that are the truth


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    chances: tuple[np.ndarray, np.ndarray]  # (annotators,)   logs of a hit, of one miss
    log_balance: np.ndarray  # (classes,)   log tau
    weights: np.ndarray  # (classes,)


def pack_prior(prior):
    """Give the resolved prior as a NamedTuple of arrays and numbers."""
    return Packed(np.array(prior.class_weights), float(prior.skill.a), float(prior.skill.b))


def layout(data, prior):
    """Beside what every kernel records: two numbers per sweep, one per item, one array per draw."""
    n_annotators = len(data.annotator_start) - 1
    return Layout(
        per_sweep=(PerSweep("right"), PerSweep("moved", watched=False)),
        per_item=(PerItem("expected_right", ("expected_right",)),),
        per_draw=(PerDraw("skill", (n_annotators,), ("annotator",)),),
    )


def initial_state(data, prior, truth, group, rng):
    """Start from these classes, gold clamped; a model with coteries starts from ``group`` too."""
    start, class_total = starting_truth(truth, data)
    item = np.repeat(np.arange(len(start)), np.diff(data.item_start))
    hits = data.item_annotator[data.item_answer == start[item]]
    n_annotators = len(data.annotator_start) - 1
    return State(start, class_total, np.bincount(hits, minlength=n_annotators))


def new_scratch(state, data, prior):
    """Make room once per chain: a kernel makes no arrays in its sweeps."""
    chances = np.zeros(len(state.right)), np.zeros(len(state.right))
    return Scratch(chances, np.zeros(data.n_classes), np.zeros(data.n_classes))


@kernel
def run_block(state, data, prior, streams, record, scratch):
    """Do one sweep for each entry of the trace."""
    rng, (tally, trace, keep) = streams.moves, record
    chances, log_balance, weights = scratch
    for sweep in range(len(trace.log_joint)):
        log_prior = draw_skills(state, data, prior, rng, chances)
        log_prior += draw_balance(state, prior, rng, log_balance)
        log_labels, moved = 0.0, 0
        for i in range(len(state.truth)):
            weigh(i, data, chances, log_balance, weights)
            old = new = state.truth[i]
            if old >= 0:  # else nobody knows anything about the item: nothing is drawn for it
                log_prior += log_balance[old]
                log_labels += weights[old] - log_balance[old]
            if data.gold[i] < 0:
                normalise(weights)
                if old >= 0:
                    new = pick(weights, rng.random())
            else:  # gold never moves
                weights[:] = 0.0
                weights[old] = 1.0
            tally_item(i, weights, data, tally)
            if new != old:
                move(i, old, new, state, data)
                moved += 1
        tally.sweeps[0] += tally.weight  # zero in burn-in
        trace.log_likelihood[sweep] = log_labels
        trace.log_joint[sweep] = log_labels + log_prior
        note_classes(sweep, state.class_total, trace)
        trace.per_sweep[sweep, 0] = state.right.sum()
        trace.per_sweep[sweep, 1] = moved
        if draw_is_due(keep):
            keep_draw(state, data, prior, streams, keep)


@kernel
def weigh(i, data, chances, log_balance, weights):
    """Give the log weights of the classes of item i."""
    log_hit, log_miss = chances
    for t in range(len(weights)):
        weights[t] = log_balance[t]
        for k in range(data.item_start[i], data.item_start[i + 1]):
            l = data.item_annotator[k]
            weights[t] += log_hit[l] if data.item_answer[k] == t else log_miss[l]


@kernel
def draw_skills(state, data, prior, rng, chances):
    """Draw everybody's skill; those without labels draw nothing. Gives their log prior."""
    log_hit, log_miss = chances
    log_prior = 0.0
    for l in range(len(state.right)):
        n = data.annotator_start[l + 1] - data.annotator_start[l]
        if n > 0:
            skill = rng.beta(prior.a + state.right[l], prior.b + n - state.right[l])
            skill = min(max(skill, 1e-12), 1 - 1e-12)
            log_hit[l] = math.log(skill)
            log_miss[l] = math.log((1 - skill) / max(data.n_answers - 1, 1))
            log_prior += (prior.a - 1) * log_hit[l] + (prior.b - 1) * math.log(1 - skill)
    return log_prior


@kernel
def draw_balance(state, prior, rng, log_balance):
    """Draw tau; gives its log prior."""
    total, log_prior = 0.0, 0.0
    for t in range(len(log_balance)):
        log_balance[t] = rng.standard_gamma(prior.class_weight[t] + state.class_total[t])
        total += log_balance[t]
    for t in range(len(log_balance)):
        log_balance[t] = math.log(log_balance[t] / total)
        log_prior += (prior.class_weight[t] - 1) * log_balance[t]
    return log_prior


@kernel
def tally_item(i, weights, data, tally):
    """Add the item's probabilities, and how many of its labels are expected to be right."""
    n = data.item_start[i + 1] - data.item_start[i]
    for t in range(len(weights)):
        tally.probability[i, t] += tally.weight * weights[t]
        for k in range(data.item_start[i], data.item_start[i + 1]):
            if data.item_answer[k] == t:
                tally.per_item[i, 0] += tally.weight * weights[t] / n


@kernel
def move(i, old, new, state, data):
    """Count item i under its new class."""
    state.truth[i] = new
    state.class_total[old] -= 1
    state.class_total[new] += 1
    for k in range(data.item_start[i], data.item_start[i + 1]):
        l, c = data.item_annotator[k], data.item_answer[k]
        state.right[l] += int(c == new) - int(c == old)


@kernel
def keep_draw(state, data, prior, streams, keep):
    """Keep everybody's mean matrix, a draw of it, and their mean skill, given the state."""
    keep_state(0, state.truth, keep)
    due, draw = matrices_are_due(keep), keep.used[2]
    for l in range(len(state.right)):
        n = data.annotator_start[l + 1] - data.annotator_start[l]
        a, b = prior.a + state.right[l], prior.b + n - state.right[l]
        add_coin(a / (a + b), keep.confusion_sum[l])
        if due:
            keep.per_draw[draw, l] = a / (a + b)
            # Those without labels have a stream of their own: they change nobody's bits.
            skill = streams.draws.beta(a, b) if n > 0 else streams.spare.beta(a, b)
            add_coin(skill, keep.confusion[draw, l])
    if due:
        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)
    finish_draw(keep)


@kernel
def add_coin(skill, matrix):
    """Add the matrix, shape (classes, answers), of somebody who is right with this chance."""
    n_classes, n_answers = matrix.shape
    for t in range(n_classes):
        for c in range(n_answers):
            wrong = (1 - skill) / (n_answers - 1) if n_answers > 1 else 0.0
            matrix[t, c] += 1.0 if n_answers == 1 else skill if c == t else wrong
