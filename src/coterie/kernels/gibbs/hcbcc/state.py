"""hcBCC's state, prior and room to work in."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.cells import Cells, new_cells
from coterie.kernels.gibbs.groups import Concentration
from coterie.kernels.gibbs.hcbcc.parameters import BasePrior, Sums, new_sums
from coterie.kernels.gibbs.regroup.room import Room as SplitRoom
from coterie.kernels.gibbs.regroup.room import new_room as new_split_room
from coterie.kernels.gibbs.regroup.state import Means

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

LONGEST_TABLE = 64
"""Counts up to which the rising factorials of a coterie's shapes are tabulated."""
TABLE_SIZE = 2**12
"""Numbers that are tabulated per coterie, about: with many classes the tables are shorter."""


class State(NamedTuple):
    """Where the chain is."""

    truth: IntArray  # (items,)                         z, or -1
    class_total: NDArray[np.int64]  # (classes,)                       n[t]
    said: IntArray  # (annotators, answers, classes)   n[l, t, c]
    said_total: IntArray  # (annotators, classes)            n[l, t]
    group: IntArray  # (annotators,)                    q, or -1
    size: IntArray  # (slots,)                         annotators in group m
    slot: IntArray  # (slots,)                         groups, auxiliaries, free slots
    n_coteries: NDArray[np.int64]  # (1,)                             M
    log_concentration: FloatArray  # (1,)                             log alpha
    weight: FloatArray  # (slots, answers, classes)        beta eta
    strength: FloatArray  # (slots, classes)                 beta
    log_mean: FloatArray  # (slots, answers, classes)        log eta
    log_strength: FloatArray  # (slots, classes)                 log beta


class Prior(NamedTuple):
    """The prior as the kernel reads it."""

    class_weight: FloatArray  # (classes,)   eps mu
    base: BasePrior  # of beta and eta
    split: Means  # the same, as groups are split and merged by
    concentration: Concentration
    auxiliaries: int  # h


class Spare(Protocol):
    """Any prior with auxiliary coteries."""

    @property
    def auxiliaries(self) -> int:
        """How many, h."""


class Room(NamedTuple):
    """Room to move one annotator, and to sum one coterie's auxiliary variables."""

    weights: FloatArray  # (slots,)   weights or their logs, then probabilities
    product: FloatArray  # (slots,)   the annotator's labels have probability
    logs: FloatArray  # (slots,)   product * exp(logs) in each place, up to a constant
    cells: Cells  # the annotator's labels
    rising: FloatArray  # (slots, answers, classes, n)   (beta eta)_(n) / n!
    rising_row: FloatArray  # (slots, classes, n)            (beta)_(n) / n!
    log_gamma: FloatArray  # (slots, answers, classes)      log Gamma(beta eta)
    log_gamma_row: FloatArray  # (slots, classes)               log Gamma(beta)
    log_factorial: FloatArray  # (n,)                           log n!
    log_likelihood: FloatArray  # (1,)   of the labels of those who moved
    sums: Sums
    decay: FloatArray  # (annotators, classes)   -log nu, infinite where too large for a float
    log_decay: FloatArray  # (annotators, classes)   its log where that is safer, or -inf
    tables: IntArray  # (annotators, answers, classes)   s
    split: SplitRoom
    first: IntArray  # (slots,)        a member of each group, or -1
    following: IntArray  # (annotators,)   the member after this one, or -1


def new_room(state: State, data: Codes, n_strengths: int = 0, n_points: int = 1) -> Room:
    """Give room to move any one annotator, and to split and merge groups.

    Groups have a strength per class unless it is said how many, and d one of so many points.
    """
    decay = np.zeros(state.said_total.shape)
    n_slots, n_answers, n_classes = state.weight.shape
    length = min(max(TABLE_SIZE // (n_answers * n_classes), 1), LONGEST_TABLE) + 1
    factors = np.maximum(np.arange(length), 1)
    return Room(
        weights=np.zeros(n_slots),
        product=np.zeros(n_slots),
        logs=np.zeros(n_slots),
        cells=new_cells(data),
        rising=np.zeros((*state.weight.shape, length)),
        rising_row=np.zeros((*state.strength.shape, length)),
        log_gamma=np.zeros_like(state.weight),
        log_gamma_row=np.zeros_like(state.strength),
        log_factorial=np.cumsum(np.log(factors)),
        log_likelihood=np.zeros(1),
        sums=new_sums(n_classes, n_answers),
        decay=decay,
        log_decay=np.full(decay.shape, -np.inf),
        tables=np.zeros_like(state.said),
        split=new_split_room(data, n_slots, n_strengths or n_classes, n_points),
        first=np.zeros(n_slots, np.int32),
        following=np.zeros(len(state.group), np.int32),
    )
