"""The soft engine against a dense reference, for random row maps; sums without an order."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp

from coterie.data.codes import encode
from coterie.kernels.soft import engine
from coterie.kernels.soft.dirichlet import row_prior, update_rows
from coterie.kernels.soft.engine import log_weight_of, new_sums
from coterie.kernels.soft.parts import Weights
from coterie.kernels.soft.rows import gather_rows, spread_rows
from coterie.numeric.digamma import carried_up
from kernels.soft.cases import random_codes, random_map
from reference import soft as reference

pytestmark = pytest.mark.exact


def weights_of(codes, pool, row, prior, n_subtypes):
    rows = np.empty((len(row), codes.n_answers, row.shape[1]))
    spread_rows(pool, row, rows)
    cell_class = (np.arange(row.shape[1]) // n_subtypes).astype(np.int32)
    return Weights(prior, rows, cell_class)


@pytest.mark.parametrize("seed", range(8))
def test_a_pass_agrees_with_the_reference_for_random_row_maps(seed):
    rng = np.random.default_rng(seed)
    codes, n_subtypes = random_codes(rng), int(rng.integers(1, 4))
    n_cells = codes.n_classes * n_subtypes
    row, n_rows = random_map(rng, codes, n_cells)
    pool = rng.random((n_rows, codes.n_answers, 1))
    prior = rng.random((len(codes.gold) if seed % 2 else 1, n_cells))
    sums, found = new_sums(codes, n_cells), np.empty((len(codes.gold), n_cells))
    engine.sweep(codes, weights_of(codes, pool, row, prior, n_subtypes), found, sums)
    logs = reference.log_weights(codes, np.zeros(n_cells), np.log(pool[:, :, 0]), row, n_subtypes)
    logs += np.log(prior)
    total = logsumexp(logs, axis=1)
    np.testing.assert_allclose(found, np.exp(logs - total[:, None]), atol=1e-13)
    np.testing.assert_allclose(log_weight_of(sums), total[reference.counted(codes)].sum())
    cells, said = reference.counts(codes, found, row, n_rows)
    np.testing.assert_allclose(sums.cell_total / sums.scale, cells, atol=1e-13)
    gathered = gather_rows(sums.said, row, n_rows)[:, :, 0] / sums.scale
    np.testing.assert_allclose(gathered, said, atol=1e-13)


def test_the_order_and_the_parts_of_adding_change_no_bit():
    rng = np.random.default_rng(1)
    n_items, n_labels = 60, 400
    item, annotator = rng.integers(0, n_items, n_labels), rng.integers(0, 9, n_labels)
    answer, order = rng.integers(0, 3, n_labels), rng.permutation(n_items)
    weights = Weights(rng.random((1, 3)), rng.random((9, 3, 3)), np.arange(3, dtype=np.int32))

    def passed(some):
        """The sums over some items, in their order, with the scale of the whole."""
        place = np.full(n_items, -1)
        place[some] = np.arange(len(some))
        mine = place[item] >= 0
        codes = encode(place[item[mine]], annotator[mine], answer[mine], sizes=(len(some), 9, 3, 3))
        sums = new_sums(codes, 3)._replace(scale=whole.scale, log_scale=whole.log_scale)
        engine.sweep(codes, weights, np.empty((len(some), 3)), sums)
        return sums

    whole = new_sums(encode(item, annotator, answer, sizes=(n_items, 9, 3, 3)), 3)
    straight, shuffled = passed(np.arange(n_items)), passed(order)
    first, second = passed(order[:17]), passed(order[17:])
    for name in ("cell_total", "said", "log_weight"):
        a, b = getattr(straight, name), getattr(shuffled, name)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, getattr(first, name) + getattr(second, name))


def test_counting_given_probabilities_is_what_a_pass_counts():
    rng = np.random.default_rng(2)
    codes = random_codes(rng)
    weights = Weights(
        rng.random((1, codes.n_classes)),
        rng.random((len(codes.annotator_start) - 1, codes.n_answers, codes.n_classes)),
        np.arange(codes.n_classes, dtype=np.int32),
    )
    one, other = new_sums(codes, codes.n_classes), new_sums(codes, codes.n_classes)
    found = np.empty((len(codes.gold), codes.n_classes))
    engine.sweep(codes, weights, found, one)
    engine.count(codes, found, other)
    np.testing.assert_array_equal(one.cell_total, other.cell_total)
    np.testing.assert_array_equal(one.said, other.said)


def test_a_known_class_allows_its_own_cells_only():
    codes = encode([0], [0], [1], sizes=(2, 1, 2, 2), gold=[1, 0])
    weights = Weights(
        np.array([[0.1, 0.2, 0.3, 0.4]]),
        np.array([[[0.5, 0.5, 0.9, 0.2], [0.5, 0.5, 0.1, 0.8]]]),
        np.array([0, 0, 1, 1], np.int32),
    )
    found, sums = np.empty((2, 4)), new_sums(codes, 4)
    engine.sweep(codes, weights, found, sums)
    np.testing.assert_allclose(found, [[0, 0, 0.03 / 0.35, 0.32 / 0.35], [1 / 3, 2 / 3, 0, 0]])
    np.testing.assert_allclose(log_weight_of(sums), np.log(0.35) + np.log(0.3))


def test_what_nothing_explains_falls_back_to_the_prior_and_is_impossible():
    codes = encode([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], sizes=(2, 2, 2, 2), gold=[-1, 1])
    rows = np.array([np.eye(2)] * 2)
    weights = Weights(np.array([[0.3, 0.7]]), rows, np.arange(2, dtype=np.int32))
    found, sums = np.empty((2, 2)), new_sums(codes, 2)
    engine.sweep(codes, weights, found, sums)
    np.testing.assert_allclose(found, [[0.3, 0.7], [0, 1]])
    assert log_weight_of(sums) == -np.inf
    barred = weights._replace(prior=np.array([[1.0, 0.0]]))
    engine.sweep(codes, barred, found, sums)
    np.testing.assert_allclose(found, [[1, 0], [0, 1]])


def test_digamma_and_log_gamma_have_all_their_digits():
    x = np.concatenate([10.0 ** np.linspace(-90, 12, 400), np.linspace(0.5, 30, 300)])
    psi, log_gamma, product = np.array([carried_up(float(one)) for one in x]).T
    # Relative to the function, or near its root to one.
    np.testing.assert_allclose(psi, digamma(x), rtol=2e-12, atol=2e-14)
    np.testing.assert_allclose(log_gamma - np.log(product), gammaln(x), rtol=1e-13, atol=2e-13)


@pytest.mark.parametrize("alike", [True, False])
def test_rows_have_the_expected_logs_and_distances_of_their_dirichlets(alike):
    rng = np.random.default_rng(3)
    shape = rng.gamma(1.0, 1.0, (1 if alike else 5, 3, 4)) + 1e-3
    said = rng.integers(0, 3, (5, 3, 4)) * (rng.random((5, 1, 4)) < 0.7) * 2**20
    weight = np.empty((5, 3, 4))
    distance = update_rows(said, 2.0**21, row_prior(shape), weight)
    after = (shape + said / 2.0**21).swapaxes(1, 2)
    prior = np.broadcast_to(shape, (5, 3, 4)).swapaxes(1, 2)
    np.testing.assert_allclose(np.log(weight).swapaxes(1, 2), reference.expected_logs(after))
    np.testing.assert_allclose(distance, reference.kl(after, prior), rtol=1e-11)


@pytest.mark.parametrize("gold", [-1, 1])
def test_three_cells_have_the_bits_of_any_number(gold):
    rng = np.random.default_rng(7)
    item, person = rng.integers(40, size=400), rng.integers(9, size=400)
    known = np.where(rng.random(42) < 0.2, gold, -1)  # the last two items have no labels
    codes = encode(item, person, rng.integers(4, size=400), sizes=(42, 9, 3, 4), gold=known)
    rows = rng.dirichlet(np.ones(4), size=(9, 3)).swapaxes(1, 2) ** np.array([1, 40, 9])
    rows[3, 1] = 0.0  # some items are impossible
    prior = np.array([[0.2, 0.3, 0.5]])
    weights = Weights(prior, np.ascontiguousarray(rows), np.arange(3, dtype=np.int32))
    found = []
    for sweep in (engine.add_sweep_of_any, engine.add_sweep_of_three):
        probability, sums = np.empty((42, 3)), new_sums(codes, 3)
        sweep(codes, weights, probability, sums)
        found.append([probability, *sums[:3]])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
