"""The variational bound: it never falls, is exact where it can be, and below the evidence else."""

from itertools import islice

import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.kernels.soft import variational
from coterie.kernels.soft.variational import ascend, own_rows, shapes_of
from kernels.soft.cases import as_model, own_map, random_codes, random_map, random_prior
from reference import soft as reference

pytestmark = pytest.mark.exact
ROUNDS = 6


def problem(seed, n_subtypes, shared, **more):
    """Codes, the reference's model and the kernel's, and where to start."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, **more)
    n_cells = codes.n_classes * n_subtypes
    row, n_rows = random_map(rng, codes, n_cells), None
    row, n_rows = row if shared else (own_map(codes, n_cells), 4 * n_cells)
    prior = random_prior(rng, codes.n_classes, n_subtypes, n_rows, codes.n_answers)
    start = rng.dirichlet(np.ones(n_cells), len(codes.gold))
    for i in np.nonzero(codes.gold >= 0)[0]:
        start[i] *= np.arange(n_cells) // n_subtypes == codes.gold[i]
        start[i] /= start[i].sum()
    return codes, (*prior, row), as_model(prior, row), start


CASES = [
    (seed, n_subtypes, shared) for seed in range(3) for n_subtypes in (1, 2) for shared in (0, 1)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_step_is_the_reference_s_and_the_bound_never_falls(case):
    codes, dense, model, probability = problem(*case)
    before = -np.inf
    for step in islice(ascend(codes, model, probability), ROUNDS):
        # After the M-step, from the probabilities before.
        after_m = reference.bound_after_m(dense, codes, probability)
        found = reference.dirichlets(dense, codes, probability)
        np.testing.assert_allclose(
            reference.bound(dense, codes, probability, found), after_m, rtol=1e-11
        )
        assert after_m >= before - 1e-10
        # After the E-step: its own form of the bound is the bound, written out term by term.
        expected, total = reference.e_step(dense, codes, found)
        counted = reference.counted(codes)
        np.testing.assert_allclose(step.probability[counted], expected[counted], atol=1e-12)
        np.testing.assert_allclose(step.bound, total - reference.distances(dense, found))
        np.testing.assert_allclose(
            step.bound, reference.bound(dense, codes, expected, found), rtol=1e-11
        )
        assert step.bound >= after_m - 1e-10
        before, probability = step.bound, step.probability.copy()
        shapes = shapes_of(model, step.sums)
        expected = reference.dirichlets(dense, codes, probability)
        np.testing.assert_allclose(shapes.classes, expected[0], rtol=1e-12)
        np.testing.assert_allclose(shapes.subtypes, expected[1], rtol=1e-12)
        np.testing.assert_allclose(shapes.rows[:, :, 0], expected[2], rtol=1e-12)


@pytest.mark.parametrize("shared", [False, True])
def test_the_bound_is_below_the_enumerated_evidence(shared):
    for seed, n_subtypes in ((5, 1), (6, 2)):
        small = {"n_items": 4, "n_classes": 2, "n_labels": 7, "gold_share": 0.2}
        codes, dense, model, start = problem(seed, n_subtypes, shared, **small)
        *_, last = islice(ascend(codes, model, start), 60)
        exact, _ = reference.evidence(dense, codes)
        assert last.bound < exact
        assert last.bound > exact - 8  # a bound that says something


def test_all_gold_the_bound_is_the_exact_log_joint_and_the_rows_the_exact_posterior():
    for shared in (False, True):
        codes, dense, model, _ = problem(7, 1, shared, gold_share=1.1)
        assert (codes.gold >= 0).all()
        start = np.full((len(codes.gold), codes.n_classes), 1 / codes.n_classes)
        first, second = (s.bound for s in islice(ascend(codes, model, start), 2))
        *_, last = islice(ascend(codes, model, start), 2)
        np.testing.assert_allclose(
            second, reference.log_joint(dense, codes, codes.gold), rtol=1e-12
        )
        assert first < second
        shapes = shapes_of(model, last.sums)
        exact = reference.dirichlets(dense, codes, np.eye(codes.n_classes)[codes.gold])
        np.testing.assert_allclose(shapes.rows[:, :, 0], exact[2], rtol=1e-12)


def test_all_gold_only_subtypes_are_unknown_and_the_bound_is_below():
    codes, dense, model, start = problem(8, 2, False, gold_share=1.1, n_items=4, n_classes=2)
    *_, last = islice(ascend(codes, model, start), 100)
    exact, _ = reference.evidence(dense, codes)
    assert last.bound < exact
    by_class = last.probability.reshape(len(codes.gold), -1, 2).sum(axis=2)
    np.testing.assert_allclose(by_class, np.eye(codes.n_classes)[codes.gold], atol=1e-12)


def test_known_rows_and_proportions_give_exact_probabilities():
    """Beta and class weights to infinity: what is left is Bayes' rule."""
    codes, (weight, subtype, shape, row), _, start = problem(9, 2, True)
    sure = (1e13 * weight, 1e13 * subtype, 1e13 * shape)
    (step,) = islice(ascend(codes, as_model(sure, row), start), 1)
    tau, pi = weight / weight.sum(), subtype / subtype.sum()
    logs = reference.log_weights(
        codes,
        np.log(np.outer(tau, pi)).ravel(),
        np.log(shape / shape.sum(1, keepdims=True)),
        row,
        2,
    )
    expected = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(step.probability, expected, atol=1e-10)


def test_rows_laid_out_for_everybody_are_those_of_the_map_that_nobody_shares():
    rng = np.random.default_rng(10)
    codes = random_codes(rng, n_classes=2)
    weight, subtype = np.array([1.5, 0.5]), np.array([0.3, 0.3, 0.3])
    shape = rng.gamma(2.0, 1.0, (2, codes.n_answers))
    start = rng.dirichlet(np.ones(6), len(codes.gold))
    direct = islice(ascend(codes, own_rows(shape, weight, subtype), start), 4)
    pool = np.tile(np.repeat(shape, 3, axis=0), (4, 1))
    mapped = as_model((weight, subtype, pool), own_map(codes, 6))
    for one, other in zip(direct, ascend(codes, mapped, start), strict=False):
        np.testing.assert_allclose(one.bound, other.bound, rtol=1e-12)
        np.testing.assert_allclose(one.probability, other.probability, atol=1e-12)


def test_the_order_of_items_changes_no_bit():
    rng = np.random.default_rng(11)
    item, annotator = rng.integers(0, 30, 150), rng.integers(0, 6, 150)
    answer, order = rng.integers(0, 3, 150), rng.permutation(30)
    model = own_rows(np.ones((3, 3)) + 2 * np.eye(3), np.array([1.0, 2.0, 3.0]), np.ones(1))
    start = rng.dirichlet(np.ones(3), 30)
    moved = np.empty_like(start)
    moved[order] = start
    one = ascend(encode(item, annotator, answer, sizes=(30, 6, 3, 3)), model, start)
    other = ascend(encode(order[item], annotator, answer, sizes=(30, 6, 3, 3)), model, moved)
    for a, b in islice(zip(one, other, strict=True), 5):
        assert a.bound == b.bound
        np.testing.assert_array_equal(a.probability, b.probability[order])
        np.testing.assert_array_equal(a.sums.said, b.sums.said)


def test_forgetting_the_nested_factor_is_caught(monkeypatch):
    """A planted bug: sub-types weighed without their shares."""
    right = variational.item_weights

    def forgetful(model, sums):
        weights, distance = right(model, sums)
        by_class = weights.reshape(len(model.class_weight), -1)
        return np.repeat(by_class.mean(axis=1), by_class.shape[1]), distance

    monkeypatch.setattr(variational, "item_weights", forgetful)
    with pytest.raises(AssertionError):
        test_every_step_is_the_reference_s_and_the_bound_never_falls((0, 2, 0))


def test_counting_a_shared_row_for_one_of_its_owners_is_caught(monkeypatch):
    """A planted bug: what a shared row's annotators say is not added up."""

    def forgetful(said, row, n_rows):
        pool = np.zeros((n_rows, said.shape[1], 1), said.dtype)
        pool[row, :, 0] = said.swapaxes(1, 2)
        return pool

    monkeypatch.setattr(variational, "gather_rows", forgetful)
    with pytest.raises(AssertionError):
        test_every_step_is_the_reference_s_and_the_bound_never_falls((0, 1, 1))
