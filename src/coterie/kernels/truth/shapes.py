"""Answers given the truth: Dirichlet rows of confusion matrices, integrated out.

A model says, for every annotator, whose *matrix* produced the labels (the row of the counts) and
whose *base* that matrix was drawn from (the row of the Dirichlet shapes):

=======  ====================  ======================
model    matrix                base
=======  ====================  ======================
iBCC     the annotator's own   one for all
cBCC     the cluster's         one for all
hcBCC    the annotator's own   the cluster's
=======  ====================  ======================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.batches import parts_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


TINY = 1e-290
"""Below this a shape has too few digits left: its logarithm is used."""


class Shapes(NamedTuple):
    """Dirichlet shapes ``strength * mean``; the logs stay finite where the shapes underflow.

    In the kernels every array over classes and answers has the classes last: a label reads one run
    of memory.
    """

    weight: FloatArray  # (bases, answers, classes)   beta * eta
    strength: FloatArray  # (bases, classes)            beta
    log_mean: FloatArray  # (bases, answers, classes)   log eta
    log_strength: FloatArray  # (bases, classes)            log beta


def shapes_of(mean: FloatArray, strength: FloatArray) -> Shapes:
    """Give the shapes of one base from its mean (T, C) and strength (T,)."""
    weight = np.ascontiguousarray((strength[:, None] * mean).T)
    # A mean sums to one up to rounding; the Dirichlet's strength is the sum of its shapes.
    total = weight.sum(axis=0)
    log_mean = np.log(weight) - np.log(total)
    return Shapes(weight[None], total[None], log_mean[None], np.log(total)[None])


def flat(shapes: Shapes) -> Shapes:
    """Show the same shapes in one dimension each."""
    return Shapes._make(array.reshape(-1) for array in shapes)


def count_answers(
    truth: IntArray, matrix: IntArray, n_matrices: int, data: Codes
) -> tuple[IntArray, IntArray]:
    """Count the labels afresh: n[matrix, t, c], shape (matrices, C, T), and its sum over c."""
    said = np.zeros((n_matrices, data.n_answers, data.n_classes), np.int32)
    for items, labels, item in parts_of(data):
        z = truth[items][item]
        np.add.at(said, (matrix[data.item_annotator[labels]], data.item_answer[labels], z), 1)
    return said, said.sum(axis=1, dtype=np.int32)
