"""What climbs: a pass over items against a dense reference, sums without an order, the bound.

The bound never falls, is exact where it can be, and below the evidence else.
"""

from itertools import islice

import numpy as np
import pytest
from scipy.special import logsumexp

from coterie.data.codes import encode
from coterie.inference.ascent import ascend, in_memory, maximise
from coterie.kernels import expected
from coterie.kernels.expected import (
    Model,
    Size,
    Weights,
    new_sums,
    part_of,
    shapes_of,
    weigh,
)
from reference import soft as reference

pytestmark = pytest.mark.exact
ROUNDS = 6


def random_codes(rng, n_items=5, n_classes=None, gold_share=0.3, n_labels=9):
    """Repeated labels, gold, an extra answer, items and annotators without labels."""
    n_classes = n_classes or int(rng.integers(2, 4))
    n_answers = n_classes + 1
    item, annotator = rng.integers(0, n_items - 1, n_labels), rng.integers(0, 3, n_labels)
    answer = rng.integers(0, n_answers, n_labels)
    known = rng.random(n_items) < gold_share
    gold = np.where(known, rng.integers(0, n_classes, n_items), -1)
    return encode(item, annotator, answer, sizes=(n_items, 4, n_classes, n_answers), gold=gold)


def own_map(codes, n_cells):
    """Give the reference's map of (annotator, cell) to rows: nobody shares one."""
    n_annotators = len(codes.annotator_start) - 1
    return np.arange(n_annotators * n_cells, dtype=np.int32).reshape(n_annotators, n_cells)


def random_model(rng, n_classes, n_subtypes, n_answers):
    """Asymmetric weights of classes and sub-types, and shapes of rows."""
    return Model(
        rng.gamma(2.0, 1.0, n_classes) + 0.1,
        rng.gamma(2.0, 0.5, n_subtypes) + 0.05,
        rng.gamma(2.0, 1.0, (n_classes, n_answers)) + 0.1,
    )


def dense_of(model, codes):
    """Write a model out as the reference has it: a row of shapes for every annotator and cell."""
    n_cells = len(model.class_weight) * len(model.subtype_weight)
    row = own_map(codes, n_cells)
    shape = np.tile(model.rows[0].T, (len(row), 1))
    return model.class_weight, model.subtype_weight, shape, row


# ---- a pass over items ----


def empty_sums(codes, n_cells, n_kinds=1):
    n_rows = (len(codes.annotator_start) - 1) * n_kinds
    n_counted = int(expected.is_counted(codes).sum())
    size = Size(n_kinds, n_rows, codes.n_answers, len(codes.item_answer), n_counted)
    return new_sums(size, n_cells)


def swept(codes, weights, sums=None, *kinds):
    """The probabilities of all items, and the sums."""
    sums = empty_sums(codes, weights.prior.shape[1], *kinds[1:]) if sums is None else sums
    part = part_of(codes, *kinds)
    expected.sweep(part, weights, sums)
    return expected.weigh(part, weights), sums


def random_weights(rng, codes, n_subtypes=1, n_kinds=1):
    n_cells, n_rows = codes.n_classes * n_subtypes, (len(codes.annotator_start) - 1) * n_kinds
    rows = rng.random((n_rows, codes.n_answers, n_cells))
    return Weights(rng.random((n_kinds, n_cells)), rows, n_subtypes)


@pytest.mark.parametrize("seed", range(12))
def test_a_pass_agrees_with_the_reference(seed):
    rng = np.random.default_rng(seed)
    codes, n_subtypes = random_codes(rng), int(rng.integers(1, 4))
    weights = random_weights(rng, codes, n_subtypes)
    n_cells = codes.n_classes * n_subtypes
    found, sums = swept(codes, weights)
    row, pool = own_map(codes, n_cells), weights.rows.swapaxes(1, 2).reshape(-1, codes.n_answers)
    logs = reference.log_weights(codes, np.log(weights.prior[0]), np.log(pool), row, n_subtypes)
    total = logsumexp(logs, axis=1)
    np.testing.assert_allclose(found, np.exp(logs - total[:, None]), atol=1e-13)
    np.testing.assert_allclose(sums.log_likelihood, total[reference.counted(codes)].sum())
    cells, said = reference.counts(codes, found, row, len(pool))
    np.testing.assert_allclose(sums.cells[0], cells, atol=1e-13)
    labels = sums.labels.swapaxes(1, 2).reshape(-1, codes.n_answers)
    np.testing.assert_allclose(labels, said, atol=1e-13)


def test_known_kinds_are_passes_of_their_own():
    rng = np.random.default_rng(3)
    item, person, answer = (rng.integers(n, size=200) for n in (40, 6, 3))
    gold, kind = np.where(rng.random(45) < 0.2, 1, -1), rng.integers(3, size=45).astype(np.int32)
    codes = encode(item, person, answer, sizes=(45, 6, 3, 3), gold=gold)
    weights = random_weights(rng, codes, n_kinds=3)
    found, sums = swept(codes, weights, None, kind, 3)
    for k in range(3):
        mine = kind[item] == k
        known = np.where(kind == k, gold, -1)
        some = encode(item[mine], person[mine], answer[mine], sizes=(45, 6, 3, 3), gold=known)
        own = Weights(weights.prior[k : k + 1], weights.rows[k::3], 1)
        same = sums._replace(cell_total=sums.cell_total * 0, said=sums.said[k::3] * 0)
        probability, one = swept(some, own, same._replace(log_weight=np.zeros(3, np.int64)))
        np.testing.assert_array_equal(found[kind == k], probability[kind == k])
        np.testing.assert_array_equal(sums.cell_total[k], one.cell_total[0])
        np.testing.assert_array_equal(sums.said[k::3], one.said)


def test_the_order_and_the_parts_of_adding_change_no_bit():
    rng = np.random.default_rng(1)
    n_items, n_labels = 60, 400
    item, annotator = rng.integers(0, n_items, n_labels), rng.integers(0, 9, n_labels)
    answer, order = rng.integers(0, 3, n_labels), rng.permutation(n_items)
    weights = Weights(rng.random((1, 3)), rng.random((9, 3, 3)), 1)

    def passed(some):
        """The sums over some items, in their order, with the scale of the whole."""
        place = np.full(n_items, -1)
        place[some] = np.arange(len(some))
        mine = place[item] >= 0
        codes = encode(place[item[mine]], annotator[mine], answer[mine], sizes=(len(some), 9, 3, 3))
        sums = empty_sums(codes, 3)._replace(scale=whole.scale, log_scale=whole.log_scale)
        return swept(codes, weights, sums)[1]

    whole = empty_sums(encode(item, annotator, answer, sizes=(n_items, 9, 3, 3)), 3)
    straight, shuffled = passed(np.arange(n_items)), passed(order)
    both = passed(order[:17])
    expected.add_sums(both, passed(order[17:]))
    for name in ("cell_total", "said", "log_weight"):
        np.testing.assert_array_equal(getattr(straight, name), getattr(shuffled, name))
        np.testing.assert_array_equal(getattr(straight, name), getattr(both, name))


@pytest.mark.parametrize("n_kinds", [1, 2])
def test_counting_given_probabilities_is_what_a_pass_counts(n_kinds):
    rng = np.random.default_rng(2)
    codes = random_codes(rng)
    kinds = (rng.integers(n_kinds, size=len(codes.gold)).astype(np.int32), n_kinds)
    found, one = swept(codes, random_weights(rng, codes, n_kinds=n_kinds), None, *kinds)
    other = empty_sums(codes, codes.n_classes, n_kinds)
    expected.count(part_of(codes, *kinds), found, other)
    np.testing.assert_array_equal(one.cell_total, other.cell_total)
    np.testing.assert_array_equal(one.said, other.said)


def test_a_known_class_allows_its_own_cells_only():
    codes = encode([0], [0], [1], sizes=(2, 1, 2, 2), gold=[1, 0])
    rows = np.array([[[0.5, 0.5, 0.9, 0.2], [0.5, 0.5, 0.1, 0.8]]])
    found, sums = swept(codes, Weights(np.array([[0.1, 0.2, 0.3, 0.4]]), rows, 2))
    np.testing.assert_allclose(found, [[0, 0, 0.03 / 0.35, 0.32 / 0.35], [1 / 3, 2 / 3, 0, 0]])
    np.testing.assert_allclose(sums.log_likelihood, np.log(0.35) + np.log(0.3))


def test_what_nothing_explains_falls_back_to_the_prior_and_is_impossible():
    codes = encode([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], sizes=(2, 2, 2, 2), gold=[-1, 1])
    rows = np.array([np.eye(2)] * 2)
    found, sums = swept(codes, Weights(np.array([[0.3, 0.7]]), rows, 1))
    np.testing.assert_allclose(found, [[0.3, 0.7], [0, 1]])
    assert sums.log_likelihood == -np.inf
    found, _ = swept(codes, Weights(np.array([[1.0, 0.0]]), rows, 1))
    np.testing.assert_allclose(found, [[1, 0], [0, 1]])


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("n_classes", [2, 3, 5, 50])
def test_hundreds_of_contradicting_labels_in_either_order(n_classes, order):
    """All for one class, then as many for another: the two end alike, and all others are out."""
    annotator = np.arange(400)
    answer = np.repeat([0, 1], 200)[::order]
    codes = encode(np.zeros(400, int), annotator, answer, sizes=(1, 400, n_classes, n_classes))
    matrix = np.full((n_classes, n_classes), 0.1 / (n_classes - 1))
    np.fill_diagonal(matrix, 0.9)
    prior = np.full((1, n_classes), 1 / n_classes)
    found, sums = swept(codes, Weights(prior, np.tile(matrix.T, (400, 1, 1)), 1))
    np.testing.assert_allclose(found[0, :2], 0.5, rtol=1e-12)
    np.testing.assert_allclose(found[0, 2:], 0, atol=1e-100)
    logs = 200 * (np.log(0.9) + np.log(0.1 / (n_classes - 1))) + np.log(2 / n_classes)
    np.testing.assert_allclose(sums.log_likelihood, logs, rtol=1e-12)


@pytest.mark.parametrize("gold", [-1, 1])
@pytest.mark.parametrize("n_cells", expected.FORMS)
def test_told_numbers_of_cells_have_the_bits_of_any_number(n_cells, gold, monkeypatch):
    rng = np.random.default_rng(7)
    item, person = rng.integers(40, size=400), rng.integers(9, size=400)
    known = np.where(rng.random(42) < 0.2, gold, -1)  # the last two items have no labels
    sizes = (42, 9, n_cells, n_cells + 1)
    codes = encode(item, person, rng.integers(n_cells + 1, size=400), sizes=sizes, gold=known)
    rows = rng.dirichlet(np.ones(n_cells + 1), size=(9, n_cells)).swapaxes(1, 2)
    rows = rows ** rng.permutation([1, 40, 9, 2])[:n_cells]
    rows[3, 1] = 0.0  # some items are impossible
    weights = Weights(rng.dirichlet(np.ones(n_cells))[None], rows, 1)
    one, sums = swept(codes, weights)
    monkeypatch.setattr(expected, "FORMS", ())
    other, same = swept(codes, weights)
    for a, b in zip((one, *sums[:3]), (other, *same[:3]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_dirichlets_have_the_expected_logs_and_distances_of_the_reference():
    rng = np.random.default_rng(3)
    for shape in ((1, 3, 4), (5, 3, 4)):
        prior = rng.gamma(1.0, 1.0, shape) + 1e-3
        counts = rng.integers(0, 3, (5, 3, 4)) * (rng.random((5, 1, 4)) < 0.7) / 2
        weights, distance = expected.dirichlet(prior, counts)
        after = (prior + counts).swapaxes(1, 2)
        logs = np.log(weights).swapaxes(1, 2)
        np.testing.assert_allclose(logs, reference.expected_logs(after))
        before = np.broadcast_to(prior, counts.shape).swapaxes(1, 2)
        np.testing.assert_allclose(distance, reference.kl(after, before), rtol=1e-11)


# ---- the variational bound ----


FIRST = encode([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], sizes=(2, 3, 2, 2))
THEN = np.array([[1 / 3, 2 / 3], [1, 0]])


def objectives(steps):
    return [step.objective for step in islice(steps, 3)]


def test_the_first_rounds_of_expectation_maximisation():
    items = in_memory(FIRST)
    start = expected.estimate(items.count(THEN, 2))
    np.testing.assert_allclose(
        objectives(maximise(items, start)), [-1.962, -1.597, -1.411], atol=5e-4
    )


def test_the_first_rounds_of_variational_bayes():
    model = Model(np.ones(2), np.ones(1), np.array([[4.0, 1.0], [1.0, 4.0]]))
    bounds = objectives(ascend(in_memory(FIRST), model, THEN))
    np.testing.assert_allclose(bounds, [-4.3444, -4.2477, -4.2318], atol=5e-5)


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


def forgets_the_nested_factor(believe):
    """Sub-types weighed without their shares."""

    def bug(model, sums):
        weights, distance = believe(model, sums)
        by_class = weights.prior.reshape(len(model.class_weight), -1)
        even = np.repeat(by_class.mean(axis=1), by_class.shape[1])[None]
        return weights._replace(prior=even), distance

    return bug


def forgets_a_row(counts_of):
    def bug(model, sums):
        sums.said[2] = 0
        return counts_of(model, sums)

    return bug


BUGS = [
    ("believe", forgets_the_nested_factor, (0, 2)),
    ("is_counted", lambda own: lambda codes: own(codes) | True, (3, 1)),  # whom nobody spoke of
    ("counts_of", forgets_a_row, (3, 1)),
]


@pytest.mark.parametrize(("name", "bug", "case"), BUGS)
def test_planted_bug_is_caught(name, bug, case, monkeypatch):
    monkeypatch.setattr(expected, name, bug(getattr(expected, name)))
    with pytest.raises(AssertionError):
        test_every_step_is_the_reference_s_and_the_bound_never_falls(case)
