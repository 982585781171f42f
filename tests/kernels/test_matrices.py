"""Matrices given reported probabilities: against the sum over all classes of the items."""

import itertools

import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.kernels.keep import Streams
from coterie.kernels.matrices import Matrices, draw_given_reported

N_ITEMS, N_ANNOTATORS, N_CLASSES, N_ANSWERS = 4, 4, 2, 3
LABELS = [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 0, 1), (2, 1, 0)]
DATA = encode(*np.array(LABELS).T, sizes=(N_ITEMS, N_ANNOTATORS, N_CLASSES, N_ANSWERS))
P = np.array([[0.9, 0.1], [0.3, 0.7], [0.55, 0.45], [0.5, 0.5]])
SHAPES = np.random.default_rng(0).gamma(2.0, 1.0, (N_ANNOTATORS, N_CLASSES, N_ANSWERS))


def streams(seed):
    return Streams(*(np.random.default_rng([seed, k]) for k in range(3)))


def drawn(n_draws, data=DATA, probability=P, shapes=SHAPES, seed=0):
    draws = np.broadcast_to(shapes, (2, n_draws // 2, *shapes.shape)).copy()
    matrices = Matrices(draws, np.full(shapes.shape, -1.0))
    draw_given_reported(matrices, probability, data, streams(seed))
    return matrices.draws.reshape(-1, *shapes.shape), matrices.mean


def exact():
    """Means and second moments of the entries, all classes of all items summed."""
    moments = np.zeros((2, *SHAPES.shape))
    for z in itertools.product(range(N_CLASSES), repeat=N_ITEMS):
        shapes = SHAPES.copy()
        for i, l, c in LABELS:
            shapes[l, z[i], c] += 1
        total = shapes.sum(axis=2, keepdims=True)
        weight = np.prod(P[np.arange(N_ITEMS), z])
        moments += weight * np.stack(
            [shapes / total, shapes * (shapes + 1) / (total * (total + 1))]
        )
    return moments


def test_draws_and_means_are_those_of_the_sum_over_all_classes():
    n_draws = 40_000
    draws, mean = drawn(n_draws)
    first, second = exact()
    heard = [0, 1, 2]
    for power, want in ((1, first), (2, second)):
        error = (draws**power).std(axis=0) / n_draws**0.5
        assert (np.abs((draws**power).mean(axis=0) - want) < 4.5 * error).all()
    np.testing.assert_allclose(mean[heard], first[heard], atol=4.5 / n_draws**0.5)
    assert (mean[3] == -1).all()  # of those without labels it is the chain's


def test_those_without_labels_change_nobodys_bits():
    more = encode(*np.array(LABELS).T, sizes=(N_ITEMS + 1, N_ANNOTATORS + 1, 2, 3))
    shapes = np.concatenate([SHAPES, SHAPES[:1]])
    one, mean = drawn(10)
    other, of_more = drawn(10, more, np.concatenate([P, P[:1]]), shapes)
    np.testing.assert_array_equal(one[:, :3], other[:, :3])
    np.testing.assert_array_equal(mean[:3], of_more[:3])


@pytest.mark.parametrize("least", [1e-30, 1e-4])
def test_tiny_shapes_give_whole_rows(least):
    draws, _ = drawn(10, shapes=np.full(SHAPES.shape, least))
    np.testing.assert_allclose(draws.sum(axis=-1), 1)
