"""What an item may be, and how likely that is before any label: the item half's prior.

A *cell* is a class, or a class with a sub-type or a kind of items. A cell is chosen in steps: in
each one of some options, whose shares are Dirichlet(weight) and are integrated out or drawn.

=====================  ==================================================  =====================
:func:`classes_alone`  t ~ tau                                             most models
:func:`with_subtypes`  t ~ tau, s ~ pi[t]                                  EBCC
:func:`with_kinds`     t ~ tau, k ~ rho                                    EasyHard, latent kinds
:func:`of_known_kind`  t ~ tau[k], k is known                              known kinds
=====================  ==================================================  =====================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from coterie.numeric import Array, BoolArray, FloatArray, IntArray, LongArray
from coterie.numeric.dirichlet import log_dirichlet, log_sequence


class Step(NamedTuple):
    """One choice: of the options of one block each."""

    option: LongArray  # (cells,)   the option that a cell takes, counted through all blocks
    weight: FloatArray  # (blocks, options)   of the Dirichlet of every block


@dataclass(frozen=True, eq=False)
class Space:
    """The cells of an item.

    Parameters
    ----------
    cell_class, cell_kind
        Class, and kind or sub-type, of each cell, shape (cells,).
    steps
        How a cell is chosen.
    known
        Whether the kind of every item is known.

    Examples
    --------
    >>> space = with_kinds(np.ones(2), np.ones(3))
    >>> space.cell_class.tolist(), space.cell_kind.tolist()
    ([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2])
    >>> space.shares(np.array([2, 0, 0, 0, 0, 0]))[:2]
    array([0.45, 0.15])
    """

    cell_class: LongArray
    cell_kind: LongArray
    steps: tuple[Step, ...]
    known: bool = False

    @cached_property
    def n_classes(self) -> int:
        """T."""
        return int(self.cell_class.max()) + 1

    @cached_property
    def n_kinds(self) -> int:
        """Kinds, or sub-types of a class."""
        return int(self.cell_kind.max()) + 1

    @property
    def class_weight(self) -> FloatArray:
        """Pseudo-counts of the classes, as a prior has them."""
        return np.asarray(self.steps[0].weight[0])

    def counts(self, step: Step, cell_total: Array) -> FloatArray:
        """Count items by the options of a step, shape (blocks, options)."""
        n = np.bincount(step.option, cell_total.astype(np.float64), step.weight.size)
        return np.asarray(n.reshape(step.weight.shape), np.float64)

    def draw(self, cell_total: Array, rng: Generator) -> FloatArray:
        """Draw the log shares of the cells given how many items are in each, shape (cells,)."""
        logs = np.zeros(len(self.cell_class))
        for step in self.steps:
            if step.weight.shape[1] == 1:  # sure: one kind draws what none does
                continue
            shape = step.weight + self.counts(step, cell_total)
            logs += log_dirichlet(shape, rng, axis=1).ravel()[step.option]
        return logs

    def shares(self, cell_total: Array) -> FloatArray:
        """Give the expected shares of the cells: what one more item would be, shape (cells,)."""
        found = np.ones(len(self.cell_class))
        for step in self.steps:
            shape = step.weight + self.counts(step, cell_total)
            found *= (shape / shape.sum(axis=1, keepdims=True)).ravel()[step.option]
        return found

    def log_p(self, cell_total: Array) -> float:
        """Give the log probability of the items' cells, shares integrated out."""
        return sum(
            log_sequence(n, weight)
            for step in self.steps
            for n, weight in zip(self.counts(step, cell_total), step.weight, strict=True)
        )

    def balance(self, cell_total: Array, shares: FloatArray) -> FloatArray:
        """Give the class proportions of all items, from shares of cells, shape (classes,)."""
        if self.known:  # shares are those within a kind
            n = np.bincount(self.cell_kind, cell_total, self.n_kinds)
            whole = n / n.sum() if n.sum() > 0 else np.full(len(n), 1 / len(n))
            shares = shares * whole[self.cell_kind]
        return np.asarray(np.bincount(self.cell_class, shares, self.n_classes), np.float64)

    def open_cells(self) -> BoolArray:
        """Say which cells an item may be in, shape (rows, cells); see :meth:`row_of`."""
        known = np.arange(self.n_classes)[:, None] == self.cell_class
        by_gold = np.concatenate([np.ones((1, known.shape[1]), np.bool_), known])
        if not self.known:
            return by_gold
        by_kind = np.arange(self.n_kinds)[:, None] == self.cell_kind
        return np.asarray((by_kind[:, None] & by_gold).reshape(-1, known.shape[1]))

    def row_of(self, gold: Array, kind: Array | None = None) -> IntArray:
        """Give the row of every item: kind (T + 1) + known class + 1."""
        row = gold.astype(np.int32) + np.int32(1)
        return row if kind is None else row + kind.astype(np.int32) * np.int32(self.n_classes + 1)


def classes_alone(class_weight: FloatArray) -> Space:
    """Give cells that are the classes, tau ~ Dir(class_weight)."""
    t = np.arange(len(class_weight))
    return Space(t, np.zeros_like(t), (Step(t, class_weight[None]),))


def with_subtypes(class_weight: FloatArray, n: int, weight: float) -> Space:
    """Give cells t n + s, tau ~ Dir(class_weight), pi[t] ~ Dir(weight / n, ..., weight / n)."""
    cell, n_classes = np.arange(len(class_weight) * n), len(class_weight)
    within = np.full((n_classes, n), weight / n)
    steps = Step(cell // n, class_weight[None]), Step(cell, within)
    return Space(cell // n, cell % n, steps)


def with_kinds(class_weight: FloatArray, kind_weight: FloatArray) -> Space:
    """Give cells k T + t, tau ~ Dir(class_weight), rho ~ Dir(kind_weight)."""
    n = len(class_weight)
    cell = np.arange(n * len(kind_weight))
    steps = Step(cell % n, class_weight[None]), Step(cell // n, kind_weight[None])
    return Space(cell % n, cell // n, steps)


def of_known_kind(class_weight: FloatArray, n_kinds: int) -> Space:
    """Give cells k T + t of items whose kind is known, tau[k] ~ Dir(class_weight)."""
    n = len(class_weight)
    cell = np.arange(n * n_kinds)
    step = Step(cell, np.tile(class_weight, (n_kinds, 1)))
    return Space(cell % n, cell // n, (step,), known=True)
