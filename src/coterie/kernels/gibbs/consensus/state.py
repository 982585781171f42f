"""Where a chain of Consensus is, its prior as the kernels read it, and room to work in."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.groups import Concentration
from coterie.kernels.gibbs.hcbcc.state import Room as GroupRoom
from coterie.kernels.gibbs.hcbcc.state import State as Crowd
from coterie.kernels.gibbs.hcbcc.state import new_room as new_group_room
from coterie.kernels.gibbs.regroup.state import Means

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class State(NamedTuple):
    """Where the chain is.

    Counted in ``said`` are the labels that came from the annotator's matrix; the others are in
    ``guessed``. pi, rho, v and the matrices are not here: they are drawn anew in every sweep.
    """

    truth: IntArray  # (items,)                         z, or -1
    class_total: LongArray  # (classes,)                       n[t]
    said: IntArray  # (annotators, answers, classes)   n[l, t, c], labels with g = 1
    said_total: IntArray  # (annotators, classes)            n[l, t]
    group: IntArray  # (annotators,)                    q, or -1
    size: IntArray  # (slots,)                         annotators in coterie m
    slot: IntArray  # (slots,)                         coteries, auxiliaries, free slots
    n_coteries: LongArray  # (1,)                             M
    log_concentration: FloatArray  # (1,)                             log alpha
    weight: FloatArray  # (slots, answers, classes)        beta eta
    strength: FloatArray  # (slots, classes)                 beta, the same in all classes
    log_mean: FloatArray  # (slots, answers, classes)        log eta
    log_strength: FloatArray  # (slots, classes)                 log beta
    known: IntArray  # (slots,)                         d, as the number of its point
    guess: FloatArray  # (answers,)                       w
    log_guess: FloatArray  # (answers,)                       log w
    kind: IntArray  # (items,)                         k, or -1
    kind_total: LongArray  # (kinds,)                         labelled items of each kind
    own: NDArray[np.int8]  # (labels,)                        g, in the order of the items
    source: LongArray  # (kinds, 2)                       labels with g = 0, g = 1
    guessed: LongArray  # (answers,)                       labels with g = 0


class Prior(NamedTuple):
    """The prior as the kernels read it."""

    class_weight: FloatArray  # (classes,)
    point: FloatArray  # (points,)    the values of d
    log_point: FloatArray  # (points, 2)  log(1 - d), log d
    point_share: FloatArray  # (points,)    their probabilities
    log_share: FloatArray  # (points,)
    guess_weight: FloatArray  # (answers,)   of w
    mean_strength: float  # phi
    shape: float  # of beta
    rate: float
    guessing: FloatArray  # (kinds,)     lam
    log_source: FloatArray  # (kinds, 2)   log lam, log(1 - lam)
    kind_weight: FloatArray  # (kinds,)
    hard_weight: FloatArray  # (answers,)   of v
    concentration: Concentration
    auxiliaries: int  # h
    design_effect: float  # how alike labels of an item are, beyond their truth; see tally.py
    own_matrices: bool  # draws hold matrices; else the Dirichlet shapes to draw them from


class Drawn(NamedTuple):
    """What the items of one sweep are given, so that they are independent."""

    log_balance: FloatArray  # (classes,)                       log pi
    balance: FloatArray  # (classes,)                       pi
    log_kinds: FloatArray  # (kinds,)                         log rho
    kinds: FloatArray  # (kinds,)                         rho
    log_hard: FloatArray  # (answers,)                       log v
    hard: FloatArray  # (answers,)                       v
    chance: FloatArray  # (annotators, answers, classes)   Psi
    log_chance: FloatArray  # (annotators, answers, classes)   log Psi


class Chosen(NamedTuple):
    """What items are found to be, one entry per item or label: a part of the state."""

    truth: IntArray  # (items,)
    kind: IntArray  # (items,)
    own: NDArray[np.int8]  # (labels,)


class Counts(NamedTuple):
    """What items are counted in: sums over parts of the items are the counts of all."""

    class_total: LongArray  # (classes,)
    kind_total: LongArray  # (kinds,)
    said: IntArray  # (annotators, answers, classes)
    source: LongArray  # (kinds, 2)
    guessed: LongArray  # (answers,)


class Work(NamedTuple):
    """Room to weigh one item."""

    weights: FloatArray  # (kinds * classes,)   of kind and class, then probabilities
    marginal: FloatArray  # (classes,)           log p(labels | class), kinds summed


class Room(NamedTuple):
    """Room for everything but the items."""

    crowd: GroupRoom  # to move annotators and to sum their auxiliary variables
    tables: LongArray  # (slots, answers, classes)   S
    nothing: LongArray  # (1, answers, classes)       S of a coterie without annotators
    points: FloatArray  # (points,)                   log weights of d, then probabilities
    log_norm: FloatArray  # (points,)                   log of the constant of p(eta | d, w)
    shapes: FloatArray  # (answers,)                  of the Dirichlet that w is drawn from
    means: Means  # the prior of beta and eta under the present w
    free_class: LongArray  # (classes,)   those that no gold item has: they may be exchanged


def crowd_of(state: State) -> Crowd:
    """Show the annotators and coteries as hcBCC has them: they are moved by the same steps."""
    return Crowd._make(getattr(state, name) for name in Crowd._fields)


def new_drawn(state: State) -> Drawn:
    """Give room for what the items are given."""
    n_classes, n_answers, n_kinds = len(state.class_total), len(state.guess), len(state.kind_total)
    classes, kinds, answers = np.zeros(n_classes), np.zeros(n_kinds), np.zeros(n_answers)
    return Drawn(
        log_balance=classes,
        balance=classes.copy(),
        log_kinds=kinds,
        kinds=kinds.copy(),
        log_hard=answers,
        hard=answers.copy(),
        chance=np.zeros(state.said.shape),
        log_chance=np.zeros(state.said.shape),
    )


def new_work(state: State) -> Work:
    """Give room to weigh any one item."""
    n_classes, n_kinds = len(state.class_total), len(state.kind_total)
    return Work(np.zeros(n_kinds * n_classes), np.zeros(n_classes))


def free_classes(data: Codes) -> LongArray:
    """Give the classes that no gold item has."""
    return np.setdiff1d(np.arange(data.n_classes), data.gold)


def new_means(prior: Prior, shape: tuple[int, int], log_norm: FloatArray) -> Means:
    """Give the prior of beta and eta, of shape (answers, classes): of w nothing is there yet."""
    phi = prior.mean_strength
    return Means(
        point=prior.point,
        log_share=prior.log_share,
        log_norm=log_norm,
        known=phi * np.eye(*shape),
        guess=np.zeros(shape),
        shape=np.array([prior.shape]),
        rate=np.array([prior.rate]),
        log_constant=shape[1] * math.lgamma(phi),
    )


def new_room(state: State, data: Codes, prior: Prior) -> Room:
    """Give room for everything but the items."""
    shape, log_norm = state.weight.shape, np.zeros(len(prior.point))
    means = new_means(prior, shape[1:], log_norm)
    return Room(
        crowd=new_group_room(crowd_of(state), data, len(means.shape), len(means.point)),
        tables=np.zeros(shape, np.int64),
        nothing=np.zeros((1, *shape[1:]), np.int64),
        points=np.zeros(len(prior.point)),
        log_norm=log_norm,
        shapes=np.zeros(shape[1]),
        means=means,
        free_class=free_classes(data),
    )
