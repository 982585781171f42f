"""Which cells there are, and the chain of choices by which an item comes to sit in one.

Every choice is Dirichlet-multinomial: within a block of options, option j has probability
(n[j] + w[j]) / (n[block] + w[block]), the weights' Dirichlet integrated out. The prior of a cell is
the product over its choices.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.jit import piece
from coterie.numeric.rising import log_rising

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class Space(NamedTuple):
    """Which cells there are. The first choice follows from the class, and from a known kind."""

    class_of: IntArray  # (cells,)            t(f)
    kind_of: IntArray  # (cells,)            k(f)
    column: IntArray  # (cells,)            of the tally per item that it adds to, or -1
    option: IntArray  # (choices, cells)    which options it takes, of all choices' in a row
    weight: FloatArray  # (options,)
    block: IntArray  # (options,)
    block_weight: FloatArray  # (blocks,)           sums of weights


class Chosen(NamedTuple):
    """How many items took each option."""

    option: LongArray  # (options,)
    block: LongArray  # (blocks,)


def independent_space(class_weight: FloatArray, kind_weight: FloatArray) -> Space:
    """Give cells f = k T + t of a class and a kind, which are chosen independently.

    Examples
    --------
    >>> space = independent_space(np.ones(2), np.array([1.0, 0.5, 0.5]))
    >>> space.class_of, space.kind_of
    (array([0, 1, 0, 1, 0, 1], dtype=int32), array([0, 0, 1, 1, 2, 2], dtype=int32))
    >>> space.block_weight
    array([2., 2.])
    """
    n_classes, n_kinds = len(class_weight), len(kind_weight)
    class_of, kind_of = _cells(n_classes, n_kinds)
    return _space(
        class_of,
        kind_of,
        column=kind_of,
        options=(class_of, n_classes + kind_of),
        weight=np.concatenate([class_weight, kind_weight]),
        block=np.repeat([0, 1], [n_classes, n_kinds]),
    )


def nested_space(class_weight: FloatArray, n_subtypes: int, subtype_weight: float) -> Space:
    """Give cells f = s T + t of a class and one of its sub-types.

    The sub-types of every class have weights ``subtype_weight / n_subtypes`` of their own; they
    permute, so that they are not tallied.

    Examples
    --------
    >>> nested_space(np.array([1.0, 3.0]), 2, 0.5).block_weight
    array([4. , 0.5, 0.5])
    """
    n_classes = len(class_weight)
    class_of, kind_of = _cells(n_classes, n_subtypes)
    cells = np.arange(n_classes * n_subtypes)
    return _space(
        class_of,
        kind_of,
        column=np.full(len(cells), -1),
        options=(class_of, n_classes + cells),
        weight=np.concatenate([class_weight, np.full(len(cells), subtype_weight / n_subtypes)]),
        block=np.concatenate([np.zeros(n_classes), 1 + class_of]),
    )


def known_space(class_weight: FloatArray, n_kinds: int) -> Space:
    """Give cells f = k T + t where kinds are known: every kind has a class balance of its own.

    Examples
    --------
    >>> known_space(np.array([1.0, 3.0]), 2).block_weight
    array([4., 4.])
    """
    class_of, kind_of = _cells(len(class_weight), n_kinds)
    return _space(
        class_of,
        kind_of,
        column=np.full(len(class_of), -1),
        options=(np.arange(len(class_of)),),
        weight=np.tile(class_weight, n_kinds),
        block=kind_of,
    )


def _cells(n_classes: int, n_kinds: int) -> tuple[IntArray, IntArray]:
    """Give class and kind of the cells f = k T + t."""
    kind, t = np.divmod(np.arange(n_classes * n_kinds, dtype=np.int32), np.int32(n_classes))
    return t, kind


def _space(
    class_of: IntArray,
    kind_of: IntArray,
    *,
    column: NDArray[np.integer],
    options: tuple[NDArray[np.integer], ...],
    weight: FloatArray,
    block: NDArray[np.number],
) -> Space:
    blocks: IntArray = block.astype(np.int32)
    return Space(
        class_of=class_of,
        kind_of=kind_of,
        column=column.astype(np.int32),
        option=np.stack(options).astype(np.int32),
        weight=weight,
        block=blocks,
        block_weight=np.bincount(blocks, weight).astype(np.float64),
    )


@piece
def cell_prior(f: int, chosen: Chosen, space: Space) -> float:
    """Give the probability of cell f after the items that are counted."""
    above, below = 1.0, 1.0
    for g in range(space.option.shape[0]):
        j = space.option[g, f]
        b = space.block[j]
        above *= chosen.option[j] + space.weight[j]
        below *= chosen.block[b] + space.block_weight[b]
    return above / below


@piece
def log_cell_prior(f: int, chosen: Chosen, space: Space) -> float:
    """Give its logarithm, also where it is too small for a float."""
    prior = cell_prior(f, chosen, space)
    if prior > 1e-290:
        return math.log(prior)
    result = 0.0
    for g in range(space.option.shape[0]):
        j = space.option[g, f]
        b = space.block[j]
        result += math.log(chosen.option[j] + space.weight[j])
        result -= math.log(chosen.block[b] + space.block_weight[b])
    return result


@piece
def choose(f: int, sign: int, first_only: bool, chosen: Chosen, space: Space) -> None:
    """Count the options of cell f, or only its first; ``sign`` -1 takes them out."""
    for g in range(1 if first_only else space.option.shape[0]):
        j = space.option[g, f]
        chosen.option[j] += sign
        chosen.block[space.block[j]] += sign


@piece
def log_choices(chosen: Chosen, space: Space) -> float:
    """Give the log probability of all that was chosen, the weights' Dirichlets integrated out."""
    result = 0.0
    for j in range(len(space.weight)):
        result += log_rising(space.weight[j], chosen.option[j], math.log(space.weight[j]))
    for b in range(len(space.block_weight)):
        strength = space.block_weight[b]
        result -= log_rising(strength, chosen.block[b], math.log(strength))
    return result
