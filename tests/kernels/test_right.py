"""The share of right labels: exact for few labels, normal for many, against simulation."""

import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.kernels.right import MANY, SHIFT, right_labels, unknown_of_coteries


def share_right(codes, probability):
    return right_labels(lambda: [(codes, probability)], np.diff(codes.annotator_start)).shares


def one_annotator(n, seed=0):
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet([2.0, 1.0], n)
    return encode(
        np.arange(n), np.zeros(n, int), rng.integers(0, 2, n), sizes=(n, 1, 2, 2)
    ), probability


@pytest.mark.parametrize("n", [1, 7, 60, MANY, 3 * MANY])
def test_mean_and_interval_are_those_of_a_simulation(n):
    codes, probability = one_annotator(n)
    chance = probability[np.arange(n), codes.annotator_answer]
    rng, draws = np.random.default_rng(1), 40_000
    right = (rng.random((draws, n), np.float32) < chance).sum(axis=1)
    share = (right + 0.5) / (n + 1)
    shifted = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + SHIFT * rng.standard_normal(draws))))
    found = share_right(codes, probability)
    assert found.mean[0] == pytest.approx(share.mean(), abs=4 * share.std() / draws**0.5)
    for level, quantile in ((0.025, found.low[0]), (0.975, found.high[0])):
        below = (shifted < quantile).mean()
        assert below == pytest.approx(level, abs=4 * (level * (1 - level) / draws) ** 0.5 + 0.001)


def test_an_extra_answer_is_never_right():
    codes = encode([0, 1], [0, 0], [2, 0], sizes=(2, 1, 2, 3))
    certain = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert share_right(codes, certain).mean[0] == pytest.approx(0.5)


def test_nobody_is_right_without_labels():
    codes = encode([0], [1], [0], sizes=(1, 2, 2, 2))
    found = share_right(codes, np.array([[0.5, 0.5]]))
    assert np.isnan([found.mean[0], found.low[0], found.high[0]]).all()
    assert found.low[1] < found.mean[1] < found.high[1]


def test_known_labels_show_the_mistakes_that_all_share():
    n = 40
    gold = np.where(np.arange(n) < n // 2, 0, -1).astype(np.int32)
    items = [*range(n // 2), *range(n // 2, n), *range(n)]
    people = [0] * (n // 2) + [1] * (n // 2) + [2] * n  # known items, others, both
    codes = encode(items, people, [0] * (2 * n), sizes=(n, 3, 2, 2), gold=gold)
    certain = np.tile([1.0, 0.0], (n, 1))
    right = right_labels(lambda: [(codes, certain)], np.diff(codes.annotator_start))
    assert right.unknown.tolist() == [0.0, 1.0, 0.5]
    x, high = right.shares.mean, right.shares.high
    off = np.log(high / (1 - high)) - np.log(x / (1 - x))
    chance = 1.96 / np.sqrt(21 * x[0] * (1 - x[0]))  # of 20 known labels, all right
    assert off[:2] == pytest.approx([chance, 1.96 * SHIFT], rel=1e-3)
    both = np.hypot(SHIFT / 2, 0.5 / np.sqrt(41 * x[2] * (1 - x[2])))
    assert off[2] == pytest.approx(1.96 * both, rel=1e-3)
    np.testing.assert_allclose(
        unknown_of_coteries(right, np.array([0, 1, 0]), 2), [n / 2 / (1.5 * n), 1]
    )
