"""A pass over items against a dense reference; sums without an order."""

import numpy as np
import pytest
from scipy.special import logsumexp

from coterie.data.codes import encode
from coterie.kernels import expected
from coterie.kernels.expected import Size, Weights, new_sums, part_of
from kernels.soft.cases import own_map, random_codes
from reference import soft as reference

pytestmark = pytest.mark.exact


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
