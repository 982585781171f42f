"""The variational bound: it never falls, is exact where it can be, and below the evidence else."""

from itertools import islice

import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.inference.ascent import ascend, in_memory
from coterie.kernels import expected
from coterie.kernels.expected import Model, shapes_of, weigh
from kernels.soft.cases import dense_of, random_codes, random_model
from reference import soft as reference

pytestmark = pytest.mark.exact
ROUNDS = 6


def problem(seed, n_subtypes, **more):
    """Codes, the reference's model and ours, and where to start."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, **more)
    n_cells = codes.n_classes * n_subtypes
    model = random_model(rng, codes.n_classes, n_subtypes, codes.n_answers)
    start = rng.dirichlet(np.ones(n_cells), len(codes.gold))
    for i in np.nonzero(codes.gold >= 0)[0]:
        start[i] *= np.arange(n_cells) // n_subtypes == codes.gold[i]
        start[i] /= start[i].sum()
    return codes, dense_of(model, codes), model, start


def rounds(codes, model, start, n):
    """Give (step, probabilities of cells) of so many rounds."""
    items = in_memory(codes)
    for step in islice(ascend(items, model, start), n):
        yield step, weigh(items.part(0), step.weights)


def rows_of(shapes):
    """Give the rows of everybody as the reference's pool."""
    return shapes.rows.swapaxes(1, 2).reshape(-1, shapes.rows.shape[1])


@pytest.mark.parametrize("case", [(s, n) for s in range(4) for n in (1, 2, 3)], ids=str)
def test_every_step_is_the_reference_s_and_the_bound_never_falls(case):
    codes, dense, model, probability = problem(*case)
    before = -np.inf
    for step, weighed in rounds(codes, model, probability, ROUNDS):
        # After the M-step, from the probabilities before.
        after_m = reference.bound_after_m(dense, codes, probability)
        found = reference.dirichlets(dense, codes, probability)
        np.testing.assert_allclose(
            reference.bound(dense, codes, probability, found), after_m, rtol=1e-11
        )
        assert after_m >= before - 1e-10
        # After the E-step: its own form of the bound is the bound, written out term by term.
        exact, total = reference.e_step(dense, codes, found)
        counted = reference.counted(codes)
        np.testing.assert_allclose(weighed[counted], exact[counted], atol=1e-12)
        np.testing.assert_allclose(step.objective, total - reference.distances(dense, found))
        np.testing.assert_allclose(
            step.objective, reference.bound(dense, codes, exact, found), rtol=1e-11
        )
        assert step.objective >= after_m - 1e-10
        before, probability = step.objective, weighed
        shapes = shapes_of(model, step.sums)
        classes, subtypes, rows = reference.dirichlets(dense, codes, probability)
        np.testing.assert_allclose(shapes.classes, classes, rtol=1e-12)
        np.testing.assert_allclose(shapes.subtypes, subtypes, rtol=1e-12)
        np.testing.assert_allclose(rows_of(shapes), rows, rtol=1e-12)


def test_the_bound_is_below_the_enumerated_evidence():
    for seed, n_subtypes in ((5, 1), (6, 2)):
        small = {"n_items": 4, "n_classes": 2, "n_labels": 7, "gold_share": 0.2}
        codes, dense, model, start = problem(seed, n_subtypes, **small)
        *_, (last, _) = rounds(codes, model, start, 60)
        exact, _ = reference.evidence(dense, codes)
        assert last.objective < exact
        assert last.objective > exact - 8  # a bound that says something


def test_all_gold_the_bound_is_the_exact_log_joint_and_the_rows_the_exact_posterior():
    for seed in (7, 17):
        codes, dense, model, _ = problem(seed, 1, gold_share=1.1)
        assert (codes.gold >= 0).all()
        start = np.full((len(codes.gold), codes.n_classes), 1 / codes.n_classes)
        (first, _), (second, _) = rounds(codes, model, start, 2)
        joint = reference.log_joint(dense, codes, codes.gold)
        np.testing.assert_allclose(second.objective, joint, rtol=1e-12)
        assert first.objective < second.objective
        exact = reference.dirichlets(dense, codes, np.eye(codes.n_classes)[codes.gold])
        np.testing.assert_allclose(rows_of(shapes_of(model, second.sums)), exact[2], rtol=1e-12)


def test_all_gold_only_subtypes_are_unknown_and_the_bound_is_below():
    codes, dense, model, start = problem(8, 2, gold_share=1.1, n_items=4, n_classes=2)
    *_, (last, probability) = rounds(codes, model, start, 100)
    exact, _ = reference.evidence(dense, codes)
    assert last.objective < exact
    by_class = probability.reshape(len(codes.gold), -1, 2).sum(axis=2)
    np.testing.assert_allclose(by_class, np.eye(codes.n_classes)[codes.gold], atol=1e-12)


def test_known_rows_and_proportions_give_exact_probabilities():
    """Beta and class weights to infinity: what is left is Bayes' rule."""
    codes, (weight, subtype, shape, row), model, start = problem(9, 2)
    sure = Model(*(1e13 * array for array in model))
    ((_, probability),) = rounds(codes, sure, start, 1)
    prior = np.log(np.outer(weight / weight.sum(), subtype / subtype.sum())).ravel()
    pool = np.log(shape / shape.sum(1, keepdims=True))
    logs = reference.log_weights(codes, prior, pool, row, 2)
    exact = np.exp(logs - logs.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probability, exact, atol=1e-10)


def test_the_order_of_items_changes_no_bit():
    rng = np.random.default_rng(11)
    item, annotator = rng.integers(0, 30, 150), rng.integers(0, 6, 150)
    answer, order = rng.integers(0, 3, 150), rng.permutation(30)
    model = Model(np.array([1.0, 2.0, 3.0]), np.ones(1), np.ones((3, 3)) + 2 * np.eye(3))
    start = rng.dirichlet(np.ones(3), 30)
    moved = np.empty_like(start)
    moved[order] = start
    one = rounds(encode(item, annotator, answer, sizes=(30, 6, 3, 3)), model, start, 5)
    other = rounds(encode(order[item], annotator, answer, sizes=(30, 6, 3, 3)), model, moved, 5)
    for (a, found), (b, turned) in zip(one, other, strict=True):
        assert a.objective == b.objective
        np.testing.assert_array_equal(found, turned[order])
        np.testing.assert_array_equal(a.sums.said, b.sums.said)


def test_who_has_no_labels_changes_no_bit():
    rng = np.random.default_rng(12)
    triples = [rng.integers(0, n, 150) for n in (30, 6, 3)]
    model = random_model(rng, 3, 2, 3)
    start = rng.dirichlet(np.ones(6), 33)
    one = rounds(encode(*triples, sizes=(30, 6, 3, 3)), model, start[:30], 5)
    more = rounds(encode(*triples, sizes=(33, 9, 3, 3)), model, start, 5)
    for (a, found), (b, wider) in zip(one, more, strict=True):
        np.testing.assert_allclose(a.objective, b.objective, rtol=1e-14)
        np.testing.assert_array_equal(found, wider[:30])
        np.testing.assert_array_equal(a.sums.said, b.sums.said[:6])


def test_draws_are_of_the_dirichlets_and_idle_annotators_change_nobody_s():
    shapes = expected.Shapes(
        np.array([5.0, 2.0]),
        np.array([[0.01, 0.02], [3.0, 1.0]]),  # the first underflow as numbers
        np.random.default_rng(1).gamma(1.0, 2.0, (4, 3, 4)) + 0.05,
    )
    labelled = np.array([True, False, True, True])
    balance, confusion = expected.draw(shapes, labelled, 4000, 3)
    np.testing.assert_allclose(confusion.sum(axis=3), 1, rtol=1e-5)
    assert (confusion >= 0).all()
    for drawn, mean in (
        (balance, shapes.classes / 7),
        (confusion.astype(float), expected.mean_confusion(shapes)),
    ):
        error = drawn.std(axis=0) / np.sqrt(len(drawn))
        assert (np.abs(drawn.mean(axis=0) - mean) < 4.5 * error).all()
    a, b = 5.0 / 7, 2.0 / 7
    np.testing.assert_allclose(balance.var(axis=0), a * b / 8, rtol=0.15)
    without = shapes._replace(rows=shapes.rows[labelled])
    same = expected.draw(without, np.ones(3, bool), 4000, 3)
    np.testing.assert_array_equal(same[0], balance)
    np.testing.assert_array_equal(same[1], confusion[:, labelled])


def test_forgetting_the_nested_factor_is_caught(monkeypatch):
    """A planted bug: sub-types weighed without their shares."""
    right = expected.believe

    def forgetful(model, sums):
        weights, distance = right(model, sums)
        by_class = weights.prior.reshape(len(model.class_weight), -1)
        even = np.repeat(by_class.mean(axis=1), by_class.shape[1])[None]
        return weights._replace(prior=even), distance

    monkeypatch.setattr(expected, "believe", forgetful)
    with pytest.raises(AssertionError):
        test_every_step_is_the_reference_s_and_the_bound_never_falls((0, 2))


def test_counting_the_items_of_which_nothing_is_known_is_caught(monkeypatch):
    """A planted bug: everybody's prior is counted as an item."""
    right = expected.is_counted
    monkeypatch.setattr(expected, "is_counted", lambda codes: right(codes) | True)
    with pytest.raises(AssertionError):
        test_every_step_is_the_reference_s_and_the_bound_never_falls((3, 1))


def test_a_forgotten_row_is_caught(monkeypatch):
    """A planted bug: the last annotator's labels are not added to their shapes."""
    right = expected.counts_of

    def forgetful(model, sums):
        sums.said[2] = 0
        return right(model, sums)

    monkeypatch.setattr(expected, "counts_of", forgetful)
    with pytest.raises(AssertionError):
        test_every_step_is_the_reference_s_and_the_bound_never_falls((3, 1))
