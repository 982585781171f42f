"""The quick consensus against its formulas written down slowly."""

import numpy as np
import pytest

from coterie.data.codes import count_votes, encode
from coterie.kernels.quick import intraclass_correlation, quick_consensus
from coterie.kernels.vote import skill_vote
from reference import quick as reference


def problem(seed, n_classes=3, n_answers=3, n_items=14, n_annotators=5):
    """Labels of random items by random annotators: repeated ones, silent items, gold."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    rows = []
    for _ in range(45):
        i, l = int(rng.integers(n_items - 1)), int(rng.integers(n_annotators))
        said = truth[i] if rng.random() < 0.7 else rng.integers(0, n_answers)
        rows.append((i, l, int(said)))
    gold = np.where(rng.random(n_items) < 0.15, truth, -1).astype(np.int32)
    gold[-1] = -1  # nobody labels the last item
    sizes = (n_items, n_annotators, n_classes, n_answers)
    item, annotator, answer = np.array(rows).T
    return rows, gold, encode(item, annotator, answer, sizes=sizes, gold=gold)


@pytest.mark.exact
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (3, 4)], ids=str)
def test_it_is_what_the_formulas_say(seed, sizes):
    rows, gold, codes = problem(seed, *sizes)
    expected = reference.consensus(rows, gold, (5, *sizes))
    found = quick_consensus(codes, count_votes(codes))
    np.testing.assert_allclose(found.probability, expected, rtol=1e-9)
    assert found.correlation == pytest.approx(reference.correlation(count_votes(codes)), rel=1e-12)


def test_without_two_labels_of_an_item_the_correlation_is_the_priors():
    assert intraclass_correlation(np.eye(3, dtype=np.int32)) == pytest.approx(1 / (1 + np.e))


def test_one_class_is_certain():
    codes = encode([0, 1], [0, 0], [0, 0], sizes=(2, 1, 1, 1))
    assert quick_consensus(codes, count_votes(codes)).probability.tolist() == [[1.0], [1.0]]


def test_nothing_at_all_is_allowed():
    codes = encode([], [], [], sizes=(0, 0, 2, 2))
    assert quick_consensus(codes, count_votes(codes)).probability.shape == (0, 2)


def test_the_most_voted_class_stays_the_most_probable():
    votes = np.random.default_rng(0).integers(0, 6, (200, 4))
    shares = skill_vote(votes)
    assert (shares.argmax(axis=1) == votes.argmax(axis=1)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
