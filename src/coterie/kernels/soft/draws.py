"""Draws from the Dirichlets that variational Bayes ends with: tau, and everybody's matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.soft.variational import Shapes
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import kernel

FloatArray = NDArray[np.float64]


class Drawn(NamedTuple):
    """What is drawn."""

    class_balance: FloatArray  # (draws, classes)
    confusion: NDArray[np.float32]  # (draws, annotators, classes, answers)


def mean_confusion(shapes: Shapes) -> FloatArray:
    """Give E Psi[l, t], sub-types by their expected shares, shape (annotators, classes, answers).

    Of rows that nobody shares: ``shapes.rows`` has shape (annotators, answers, cells).
    """
    n_annotators, n_answers, _ = shapes.rows.shape
    rows = shapes.rows / shapes.rows.sum(axis=1, keepdims=True)
    share = shapes.subtypes / shapes.subtypes.sum(axis=1, keepdims=True)
    by_class = rows.reshape(n_annotators, n_answers, *share.shape)
    return np.ascontiguousarray(np.einsum("lcts,ts->ltc", by_class, share))


def draw(shapes: Shapes, labelled: NDArray[np.bool_], n_draws: int, seed: int | None) -> Drawn:
    """Draw tau and the matrices, the rows of sub-types mixed by drawn shares.

    Parameters
    ----------
    shapes
        The Dirichlets of q.
    labelled
        Who has labels, shape (annotators,). The others have a source of randomness of their own:
        they change nobody's draws.
    n_draws, seed
        How many, and from which seed.
    """
    n_annotators, n_answers, _ = shapes.rows.shape
    balance, own, idle = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))
    n_classes = len(shapes.classes)
    drawn = Drawn(
        np.empty((n_draws, n_classes)),
        np.zeros((n_draws, n_annotators, n_classes, n_answers), np.float32),
    )
    draw_all(shapes, labelled, drawn, balance, own, idle)
    return drawn


@kernel
def draw_all(
    shapes: Shapes,
    labelled: NDArray[np.bool_],
    drawn: Drawn,
    balance: np.random.Generator,
    own: np.random.Generator,
    idle: np.random.Generator,
) -> None:
    """Do the work of :func:`draw`."""
    n_annotators, n_answers, _ = shapes.rows.shape
    n_classes, n_subtypes = shapes.subtypes.shape
    share = np.ones((n_classes, n_subtypes))
    row = np.empty(n_answers)
    for d in range(len(drawn.class_balance)):
        drawn.class_balance[d] = shapes.classes
        draw_dirichlet(drawn.class_balance[d], balance)
        if n_subtypes > 1:
            share[:] = shapes.subtypes
            for t in range(n_classes):
                draw_dirichlet(share[t], balance)
        for l in range(n_annotators):
            rng = own if labelled[l] else idle
            for t in range(n_classes):
                for s in range(n_subtypes):
                    for c in range(n_answers):
                        row[c] = shapes.rows[l, c, t * n_subtypes + s]
                    draw_dirichlet(row, rng)
                    for c in range(n_answers):
                        drawn.confusion[d, l, t, c] += share[t, s] * row[c]
