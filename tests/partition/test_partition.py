"""The point partition's promises: exact loss, membership, numbering, invariances, errors."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from builders.partitions import KINDS, stray
from coterie.errors import DataError
from coterie.metrics import variation_of_information
from coterie.partition import (
    PointPartition,
    expected_loss,
    membership,
    point_partition,
)
from ladder.marks import rest_slow

LOSSES = ("vi", "binder")


@st.composite
def draws_and_group(draw):
    codes = st.integers(-2, 4)
    n_draws, n = draw(st.integers(1, 5)), draw(st.integers(1, 9))
    partitions = draw(arrays(np.int32, (n_draws, n), elements=codes))
    return partitions, draw(arrays(np.int64, n, elements=codes))


def disagreeing_pairs(first, second):
    """Share of the pairs that are together in one partition and apart in the other."""
    pairs = list(combinations(range(len(first)), 2))
    return np.mean(
        [(first[a] == first[b]) != (second[a] == second[b]) for a, b in pairs or [(0, 0)]]
    )


@given(draws_and_group())
def test_expected_loss_is_the_mean_over_the_draws(case):
    partitions, group = case
    vi = np.mean([variation_of_information(draw, group) for draw in partitions])
    assert expected_loss(partitions, group) == pytest.approx(vi, abs=1e-12)
    binder = np.mean([disagreeing_pairs(draw, group) for draw in partitions])
    assert expected_loss(partitions, group, "binder") == pytest.approx(binder, abs=1e-12)


@given(draws_and_group())
def test_membership_is_the_mean_share_of_companions(case):
    partitions, group = case
    expected = []
    for l in range(len(group)):
        coterie = np.flatnonzero((group == group[l]) & (np.arange(len(group)) != l))
        others = coterie if len(coterie) else np.delete(np.arange(len(group)), l)
        together = partitions[:, others] == partitions[:, [l]]
        alone = not len(coterie)
        share = ~together.any(axis=1) if alone else together.mean(axis=1)
        expected.append(share.mean())
    assert membership(partitions, group) == pytest.approx(np.array(expected), abs=1e-12)


@given(draws_and_group(), st.sampled_from(LOSSES))
@settings(max_examples=50)
def test_the_parts_of_a_result_belong_together(case, loss):
    partitions, _ = case
    kept = partitions.copy()
    found = point_partition(partitions, loss=loss)
    assert isinstance(found, PointPartition)
    assert (partitions == kept).all()
    assert found.group.dtype == np.int32
    size = np.bincount(found.group)
    first = [int(np.argmax(found.group == m)) for m in range(found.n_coteries)]
    assert len(size) == found.n_coteries
    assert sorted(zip(-size, first, strict=True)) == list(zip(-size, first, strict=True))
    assert found.loss == loss
    assert found.expected_loss == expected_loss(partitions, found.group, loss)
    assert (found.membership == membership(partitions, found.group)).all()


def blurred(n, n_draws, rng, n_groups=4):
    group = rng.integers(n_groups, size=n)
    return np.array([stray(group, 0.2, rng) for _ in range(n_draws)])


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("n", rest_slow([7, 40], 0))
@pytest.mark.parametrize("loss", LOSSES)
def test_the_draws_codes_mean_nothing(n, k, loss):
    rng = np.random.default_rng(n)
    for kind in KINDS.values():
        partitions = kind(n, 20, rng)
        renamed = np.array([rng.permutation(n * n)[draw] - n for draw in partitions])
        wide = partitions.astype(np.int64) * 10**12
        found = point_partition(partitions, loss=loss, k=k)
        for same in (renamed, wide):
            again = point_partition(same, loss=loss, k=k)
            assert (again.group == found.group).all()
            assert (again.membership == found.membership).all()
            assert again.expected_loss == found.expected_loss


@pytest.mark.parametrize("k", [None, 6])
@pytest.mark.parametrize("loss", LOSSES)
def test_permuted_annotators_get_the_permuted_partition(loss, k):
    rng = np.random.default_rng(3)
    partitions = blurred(60, 50, rng)
    order = rng.permutation(60)
    found = point_partition(partitions, loss=loss, k=k)
    permuted = point_partition(partitions[:, order], loss=loss, k=k)
    assert permuted.expected_loss == pytest.approx(found.expected_loss, abs=1e-12)
    assert variation_of_information(permuted.group, found.group[order]) < 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [8, 30])
def test_permuted_draws_have_the_same_loss(n, loss):
    rng = np.random.default_rng(4)
    partitions = blurred(n, 200, rng)
    found = point_partition(partitions, loss=loss)
    permuted = point_partition(rng.permutation(partitions), loss=loss)
    assert permuted.expected_loss == pytest.approx(found.expected_loss, abs=1e-12)


@pytest.mark.parametrize("k", [None, 7])
def test_the_same_seed_gives_the_same_bits(k):
    partitions = KINDS["uniform"](30, 15, np.random.default_rng(5))
    runs = [point_partition(partitions, k=k, random_state=9) for _ in range(2)]
    assert (runs[0].group == runs[1].group).all()
    assert runs[0].expected_loss == runs[1].expected_loss
    rng = np.random.default_rng(9)
    assert (point_partition(partitions, k=k, random_state=rng).group == runs[0].group).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_draws", [1, 6])
@pytest.mark.parametrize("group", [[4], [1, 1], [0, 1, 1], [0] * 50, range(50), [0, 1, 1, 2] * 12])
def test_equal_draws_are_their_own_point(group, n_draws, loss):
    found = point_partition(np.tile(group, (n_draws, 1)), loss=loss)
    assert found.expected_loss == pytest.approx(0, abs=1e-12)
    assert (found.membership == 1).all()
    assert variation_of_information(found.group, np.array(group)) < 1e-12


def test_membership_says_who_wavers():
    rng = np.random.default_rng(6)
    group = np.repeat([0, 1], 20)
    partitions = np.tile(group, (100, 1))
    partitions[:, 7] = rng.random(100) < 0.3  # sits with the others 30 % of the time
    found = point_partition(partitions)
    assert found.n_coteries == 2
    assert found.membership[7] == pytest.approx(1 - partitions[:, 7].mean())
    assert np.delete(found.membership, 7).min() > 0.98


@pytest.mark.parametrize(
    ("partitions", "settings", "sentence"),
    [
        ([0, 1], {}, r"shape \(draws, annotators\), got int64 of shape \(2,\)"),
        ([[0.5, 1]], {}, "must be integers .* got float64"),
        (np.zeros((0, 3), int), {}, r"no draws, or no annotators: .* \(0, 3\)"),
        (np.zeros((3, 0), int), {}, r"no draws, or no annotators: .* \(3, 0\)"),
        ([[0, 1]], {"loss": "vi2"}, "loss must be one of 'vi', 'binder', got 'vi2'"),
        ([[0, 1]], {"k": 0}, "k must be a whole number from 1 to the 2 annotators, got 0"),
        ([[0, 1]], {"k": 3}, "k must be a whole number from 1 to the 2 annotators, got 3"),
        ([[0, 1]], {"k": 1.5}, "k must be a whole number .* got 1.5"),
    ],
)
def test_errors_of_point_partition(partitions, settings, sentence):
    with pytest.raises(DataError, match=sentence):
        point_partition(partitions, **settings)


@pytest.mark.parametrize("measure", [expected_loss, membership])
@pytest.mark.parametrize("group", [[0, 1], [0.0, 1.0, 1.0], [[0, 1, 1]]])
def test_errors_of_a_group_that_does_not_fit(measure, group):
    with pytest.raises(DataError, match="group must be 3 integers, one per annotator, got"):
        measure([[0, 1, 1]], group)


def test_an_unknown_loss_is_an_error_of_expected_loss():
    with pytest.raises(DataError, match="loss must be one of 'vi', 'binder', got 'VI'"):
        expected_loss([[0, 1]], [0, 1], "VI")
