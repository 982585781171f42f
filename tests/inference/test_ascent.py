"""Climbs: the first rounds by hand."""

from itertools import islice

import numpy as np

from coterie.data.codes import encode
from coterie.inference.ascent import ascend, in_memory, maximise
from coterie.kernels import expected
from coterie.kernels.expected import Model

CODES = encode([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], sizes=(2, 3, 2, 2))
START = np.array([[1 / 3, 2 / 3], [1, 0]])


def objectives(steps):
    return [step.objective for step in islice(steps, 3)]


def test_the_first_rounds_of_expectation_maximisation():
    items = in_memory(CODES)
    start = expected.estimate(items.count(START, 2))
    np.testing.assert_allclose(
        objectives(maximise(items, start)), [-1.962, -1.597, -1.411], atol=5e-4
    )


def test_the_first_rounds_of_variational_bayes():
    model = Model(np.ones(2), np.ones(1), np.array([[4.0, 1.0], [1.0, 4.0]]))
    bounds = objectives(ascend(in_memory(CODES), model, START))
    np.testing.assert_allclose(bounds, [-4.3444, -4.2477, -4.2318], atol=5e-5)
