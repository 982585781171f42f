"""Partition distances against scikit-learn, and informativeness against its pairwise form."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from coterie import metrics
from coterie.errors import DataError

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=30)


@given(PAIRS)
def test_adjusted_rand_index_equals_sklearn(pairs):
    first, second = zip(*pairs, strict=True)
    expected = sklearn.metrics.adjusted_rand_score(first, second)
    assert metrics.adjusted_rand_index(first, second) == pytest.approx(expected, abs=1e-12)
    assert metrics.adjusted_rand_index(second, first) == pytest.approx(expected, abs=1e-12)


def entropy(partition):
    return sklearn.metrics.mutual_info_score(partition, partition)


@given(PAIRS)
def test_variation_of_information_equals_entropies_less_mutual_information(pairs):
    first, second = zip(*pairs, strict=True)
    mutual = sklearn.metrics.mutual_info_score(first, second)
    expected = entropy(first) + entropy(second) - 2 * mutual
    assert metrics.variation_of_information(first, second) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=20))
def test_variation_of_information_is_a_metric(triples):
    a, b, c = zip(*triples, strict=True)
    distance = metrics.variation_of_information
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12
    assert 0 <= distance(a, b) <= np.log(len(a)) + 1e-12
    same = len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))
    assert (distance(a, b) < 1e-12) == same


def test_degenerate_partitions():
    together, alone = [0, 0, 0], [0, 1, 2]
    assert metrics.adjusted_rand_index(together, together) == 1
    assert metrics.adjusted_rand_index(alone, alone) == 1
    assert metrics.adjusted_rand_index(together, alone) == 0
    assert metrics.variation_of_information(together, alone) == pytest.approx(np.log(3))


def test_series_are_matched_by_index():
    first = pd.Series({"ann": "x", "bob": "x", "cat": "x", "dan": "y", "eve": "z"})
    second = pd.Series({"dan": 7, "cat": 3, "bob": 3, "ann": 3, "fay": 3})
    assert metrics.adjusted_rand_index(first, second) == 1
    assert metrics.variation_of_information(first, second) == 0
    assert metrics.adjusted_rand_index(first.to_numpy(), second.to_numpy()) < 1  # by position


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ([0, 1], [0, 1, 2], "the same things, got 2 and 3"),
        (pd.Series({"a": 0}), pd.Series({"b": 0}), "nothing in common"),
        (pd.Series([0, 1], index=["a", "a"]), pd.Series({"a": 0}), "'a' is twice .* first"),
        ([0, 1], [0, None], "second partition has missing values"),
    ],
)
@pytest.mark.parametrize("measure", [metrics.adjusted_rand_index, metrics.variation_of_information])
def test_errors(measure, first, second, sentence):
    with pytest.raises(DataError, match=sentence):
        measure(first, second)


@pytest.mark.parametrize(("n_classes", "n_answers"), [(2, 2), (2, 3), (3, 3), (5, 7), (40, 40)])
def test_informativeness_is_the_mean_over_pairs_of_rows(n_classes, n_answers):
    matrices = np.random.default_rng(0).dirichlet(np.full(n_answers, 0.3), (2, 3, n_classes))
    score = metrics.informativeness(matrices)
    assert score.shape == (2, 3)
    for where in np.ndindex(2, 3):
        pairs = [np.sum((a - b) ** 2) for a, b in combinations(matrices[where], 2)]
        # Two different certain answers are 2 apart, hence the half.
        assert score[where] == pytest.approx(np.mean(pairs) / 2, rel=1e-12)
        assert 0 < score[where] < 1


def test_informativeness_of_two_classes_is_youdens_index_squared():
    sensitivity, specificity = 0.8, 0.65
    matrix = [[specificity, 1 - specificity], [1 - sensitivity, sensitivity]]
    assert metrics.informativeness(matrix) == pytest.approx(0.45**2, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_informativeness_at_its_ends(n_classes):
    perfect = np.eye(n_classes)
    assert metrics.informativeness(perfect) == pytest.approx(1, rel=1e-12)
    assert metrics.informativeness(np.roll(perfect, 1, axis=1)) == pytest.approx(1, rel=1e-12)
    extra = np.pad(perfect, ((0, 0), (0, 2)))
    assert metrics.informativeness(extra) == pytest.approx(1, rel=1e-12)
    row = np.random.default_rng(1).dirichlet(np.ones(n_classes))
    spammer = np.tile(row, (n_classes, 1))
    assert metrics.informativeness(spammer) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("wrong", [[0.5, 0.5], [[0.5, 0.5]]])
def test_informativeness_needs_two_classes(wrong):
    with pytest.raises(DataError, match="at least 2 classes"):
        metrics.informativeness(wrong)
