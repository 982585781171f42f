"""What the next labels of an item gain, and the price at which an item at the target is settled."""

import itertools

import numpy as np
import pytest

import coterie
from coterie.assign import stop
from coterie.assign.belief import Belief
from coterie.assign.stop import AHEAD, gain_per_label, price_at

TWO = np.array([[0.8, 0.2], [0.3, 0.7]])
THREE = np.array([[0.7, 0.1, 0.1, 0.1], [0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.6, 0.2]])


def believed(items, n_labels=0, ease=1.0, overlap=0.0):
    items = np.atleast_2d(np.asarray(items, float))
    n, classes = items.shape
    return Belief(items, np.zeros((1, classes, 2)), np.full(n, n_labels), np.full(n, ease), overlap)


def gain_of(p, matrix, k):
    """Enumerate all answers of k labels."""
    after = 0.0
    for answers in itertools.product(range(matrix.shape[1]), repeat=k):
        after += (p * np.prod(matrix[:, list(answers)], axis=1)).max()
    return after - p.max()


@pytest.mark.parametrize("p", [[0.5, 0.5], [0.8, 0.2], [0.04, 0.96], [0.999, 0.001]])
def test_the_gain_is_that_of_all_answers(p):
    exact = max(gain_of(np.array(p), TWO, k) / k for k in range(1, AHEAD + 1))
    np.testing.assert_allclose(gain_per_label(believed(p), TWO), [exact], atol=1e-12)


def test_extra_answers_and_classes_count_too():
    p = np.array([0.6, 0.3, 0.1])
    exact = max(gain_of(p, THREE, k) / k for k in (1, 2))
    np.testing.assert_allclose(gain_per_label(believed(p), THREE, ahead=2), [exact], atol=1e-12)


def test_labels_that_overlap_take_more_of_them():
    p, overlap, n = np.array([0.8, 0.2]), 0.3, 4
    worth = np.cumsum(1 / (1 + overlap * (n + np.arange(200))))
    needed = [int(np.argmax(worth >= k)) + 1 for k in range(1, AHEAD + 1)]
    assert needed[0] > 1
    exact = max(gain_of(p, TWO, k) / needed[k - 1] for k in range(1, AHEAD + 1))
    found = gain_per_label(believed(p, n_labels=n, overlap=overlap), TWO)
    np.testing.assert_allclose(found, [exact], atol=1e-12)


@pytest.mark.parametrize("overlap", [0.0, 0.4])
@pytest.mark.parametrize("ease", [1.0, 0.6])
def test_an_item_is_worth_a_label_up_to_the_target(overlap, ease):
    """Of items without labels, exactly those below the target gain more than the price."""
    symmetric = np.array([[0.85, 0.15], [0.15, 0.85]])
    p = np.array([0.6, 0.7, 0.8, 0.9, 0.94, 0.95, 0.96, 0.99])
    belief = believed(np.stack([p, 1 - p], axis=1), 0, ease, overlap)
    price = price_at(0.95, belief, symmetric)
    worth_it = gain_per_label(belief, symmetric) > price + 1e-12
    np.testing.assert_array_equal(worth_it, p < 0.95)


def test_people_who_tell_nothing_have_no_price():
    noise = np.full((2, 2), 0.5)
    belief = believed([0.6, 0.4])
    assert price_at(0.95, belief, noise) == 0
    assert gain_per_label(belief, noise).tolist() == [0.0]
    assert price_at(1.0, belief, TWO) == 0
    assert price_at(0.9, believed([1.0]), np.ones((1, 1))) == 0


def test_what_is_said_of_costs_is_what_counts():
    crowd = coterie.simulate("mixed", items=60, annotators=8, labels_per_item=3, random_state=0)
    posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    price = stop(posterior).price
    assert price > 0
    assert stop(posterior, cost_of_error=10).price == pytest.approx(price)
    assert stop(posterior, cost_of_label=3).price == pytest.approx(price)
    assert stop(posterior, cost_of_error=10, cost_of_label=3).price == pytest.approx(0.3)
    assert stop(posterior, target=0.8).price > price
