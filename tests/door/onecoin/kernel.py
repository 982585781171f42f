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
    draw_class_balance,
    kernel,
    normalise,
    note_classes,
    pick,
    starting_truth,
)

__all__ = [
    "draw_class_balance",
    "draw_confusion",
    "initial_state",
    "layout",
    "mean_confusion",
    "pack_prior",
    "run_block",
    "write_draw",
]


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


def pack_prior(prior):
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
    start, class_total = starting_truth(truth, data)
    item = np.repeat(np.arange(len(start)), np.diff(data.item_start))
    hits = data.item_annotator[data.item_answer == start[item]]
    n_annotators = len(data.annotator_start) - 1
    return State(start, class_total, np.bincount(hits, minlength=n_annotators))


def run_block(state, data, prior, rng, tally, trace):
    chances = np.zeros(len(state.right)), np.zeros(len(state.right))
    sweep_many(state, data, prior, rng, tally, trace, chances, np.zeros((2, data.n_classes)))


@kernel
def sweep_many(state, data, prior, rng, tally, trace, chances, room):
    log_balance, weights = room[0], room[1]
    for sweep in range(len(trace.log_joint)):
        log_prior = draw_skills(state, data, prior, rng, chances)
        log_prior += draw_balance(state, prior, rng, log_balance)
        log_labels, moved = 0.0, 0
        for i in range(len(state.truth)):
            weigh(i, data, chances, log_balance, weights)
            old = new = state.truth[i]
            if old >= 0:
                log_prior += log_balance[old]
                log_labels += weights[old] - log_balance[old]
            if data.gold[i] < 0:
                normalise(weights)
                if old >= 0:
                    new = pick(weights, rng.random())
            else:
                weights[:] = 0.0
                weights[old] = 1.0
            tally_item(i, weights, data, tally)
            if new != old:
                move(i, old, new, state, data)
                moved += 1
        tally.sweeps[0] += tally.weight
        trace.log_likelihood[sweep] = log_labels
        trace.log_joint[sweep] = log_labels + log_prior
        note_classes(sweep, state.class_total, trace)
        trace.per_sweep[sweep, 0] = state.right.sum()
        trace.per_sweep[sweep, 1] = moved


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


def write_draw(state, data, prior, rng, out):
    """Keep everybody's mean skill given the state."""
    out["skill"][...] = mean_skill(state, data, prior)


def mean_skill(state, data, prior):
    return (prior.a + state.right) / (prior.a + prior.b + np.diff(data.annotator_start))


def draw_confusion(state, data, prior, rng, spare, out):
    n = np.diff(data.annotator_start)
    skill = np.empty(len(n))
    for who, source in ((n > 0, rng), (n == 0, spare)):
        right = state.right[who]
        skill[who] = source.beta(prior.a + right, prior.b + n[who] - right)
    out[...] = matrices(skill, *out.shape[1:])


def mean_confusion(state, data, prior, out):
    out += matrices(mean_skill(state, data, prior), *out.shape[1:])


def matrices(skill, n_classes, n_answers):
    """Give one coin per annotator as matrices, shape (annotators, classes, answers)."""
    own = np.eye(n_classes, n_answers)
    if n_answers == 1:
        return np.ones((len(skill), n_classes, 1))
    other = (1 - skill) / (n_answers - 1)
    return skill[:, None, None] * own + other[:, None, None] * (1 - own)
