"""Variational Bayes for items in cells: q = product of q(cell of i), q(tau), q(pi), q(Psi).

The model: item i has truth t ~ tau ~ Dir(class_weight) and a sub-type s ~ pi[t] ~ Dir(w, ..., w);
its cell is f = (t, s). Annotator l calls it c with probability Psi[row of (l, f), c], each row
~ Dir(shape). With one sub-type it is iBCC. A round is an M-step (the Dirichlets given what is
expected of the items) and an E-step (a pass of the engine). The bound L on the log evidence never
falls; after an E-step it is

    L = sum over items of log sum over cells of the weights - KL(q(tau), q(pi), q(Psi) || prior).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.soft.dirichlet import (
    RowPrior,
    dirichlet_weights,
    row_prior,
    update_rows,
)
from coterie.kernels.soft.engine import is_counted, log_weight_of
from coterie.kernels.soft.items import Items, Start, whole
from coterie.kernels.soft.parts import Sums, Weights
from coterie.kernels.soft.rows import RowMap, gather_rows, spread_rows

FloatArray = NDArray[np.float64]


class Model(NamedTuple):
    """What is believed before any label."""

    class_weight: FloatArray  # (classes,)              eps mu
    subtype_weight: FloatArray  # (sub-types,)            a / S each
    rows: RowPrior  # of every (annotator, cell), or of a pool
    row: RowMap | None = None  # (annotators, cells)     None: nobody shares a row

    @property
    def cell_class(self) -> NDArray[np.int32]:
        """The class of each cell, shape (cells,)."""
        classes = np.arange(len(self.class_weight), dtype=np.int32)
        return np.repeat(classes, len(self.subtype_weight))


class Shapes(NamedTuple):
    """The Dirichlets of q."""

    classes: FloatArray  # (classes,)              nu
    subtypes: FloatArray  # (classes, sub-types)
    rows: FloatArray  # (annotators, answers, cells), or (rows of the pool, answers, 1)


class Step(NamedTuple):
    """One round, see :func:`ascend`. The next one overwrites the arrays."""

    bound: float  # after the E-step
    probability: FloatArray  # (items, cells)   empty for shards
    sums: Sums  # expected under it
    weights: Weights  # of the E-step


def own_rows(shape: FloatArray, class_weight: FloatArray, subtype_weight: FloatArray) -> Model:
    """Make a model in which every annotator has a row of their own for each cell.

    Parameters
    ----------
    shape
        Dirichlet shapes of a row, one for each class, shape (classes, answers).
    class_weight, subtype_weight
        Pseudo-counts of the classes, and of the sub-types of every class.
    """
    cells = np.repeat(shape, len(subtype_weight), axis=0)
    return Model(class_weight, subtype_weight, row_prior(cells.T[None]))


def ascend(codes: Codes | Items, model: Model, start: Start) -> Iterator[Step]:
    """Iterate for ever: an M-step, then an E-step.

    Parameters
    ----------
    codes
        The labels, or whoever holds them.
    model
        What is believed before.
    start
        Probabilities of cells to start from, shape (items, cells); of shards what gives them.

    Examples
    --------
    >>> from itertools import islice
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], sizes=(2, 3, 2, 2))
    >>> model = own_rows(np.array([[4.0, 1.0], [1.0, 4.0]]), np.ones(2), np.ones(1))
    >>> for step in islice(ascend(codes, model, np.array([[1 / 3, 2 / 3], [1, 0]])), 3):
    ...     print(round(step.bound, 4), step.probability[:, 1].round(3).tolist())
    -4.3444 [0.845, 0.013]
    -4.2477 [0.92, 0.015]
    -4.2318 [0.941, 0.016]
    """
    cell_class = model.cell_class
    items = whole(codes) if isinstance(codes, Codes) else codes
    sums = items.count(start, len(cell_class))
    rows = np.empty(sums.said.shape)
    pool = rows if model.row is None else np.empty(model.rows.shape.shape)
    while True:
        prior, distance = item_weights(model, sums)
        distance += update_rows(said_of(model, sums), sums.scale, model.rows, pool)
        if model.row is not None:
            spread_rows(pool, model.row, rows)
        weights = Weights(prior[None], rows, cell_class)
        sums = items.sweep(weights)
        yield Step(log_weight_of(sums) - distance, items.probability, sums, weights)


def item_weights(model: Model, sums: Sums) -> tuple[FloatArray, float]:
    """M-step of tau and pi: exp of the expected logs of cells, shape (cells,), and the distance."""
    classes, subtypes = _item_shapes(model, sums)
    class_weights, distance = dirichlet_weights(classes, model.class_weight)
    if len(model.subtype_weight) == 1:
        return class_weights, distance
    weights, more = dirichlet_weights(
        subtypes, np.broadcast_to(model.subtype_weight, subtypes.shape)
    )
    return (class_weights[:, None] * weights).ravel(), distance + more


def said_of(model: Model, sums: Sums) -> NDArray[np.int64]:
    """Give the expected counts by rows, in whole numbers."""
    if model.row is None:
        return sums.said
    return gather_rows(sums.said, model.row, len(model.rows.shape))


def shapes_of(model: Model, sums: Sums) -> Shapes:
    """Give the Dirichlets of an M-step."""
    said = said_of(model, sums)
    return Shapes(*_item_shapes(model, sums), model.rows.shape + said / sums.scale)


def _item_shapes(model: Model, sums: Sums) -> tuple[FloatArray, FloatArray]:
    cells = (sums.cell_total / sums.scale).reshape(len(model.class_weight), -1)
    return model.class_weight + cells.sum(axis=1), model.subtype_weight + cells


def class_probability(codes: Codes, probability: FloatArray, classes: FloatArray) -> FloatArray:
    """Sum cells to classes, (items, classes); an item of which nothing is known gets the mean.

    Parameters
    ----------
    codes
        The labels.
    probability
        Of cells, shape (items, cells).
    classes
        The Dirichlet of tau, shape (classes,).
    """
    per_class = probability.shape[1] // len(classes)
    cells = probability.reshape(len(probability), len(classes), per_class)
    found = np.array(cells[:, :, 0] if cells.shape[2] == 1 else cells.sum(axis=2))
    found[~is_counted(codes)] = classes / classes.sum()
    return found
