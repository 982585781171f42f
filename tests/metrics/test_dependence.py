"""Dependence of errors: against a slow twin, against independence, against copies."""

import numpy as np

from coterie.data.codes import encode
from coterie.metrics.dependence import (
    DROP,
    discounted_truth,
    discounts,
    fit_groups,
    pair_labels,
    right_rates,
    thinned,
)
from coterie.simulation import Group, simulate

EVEN = [[0.75, 0.25], [0.35, 0.65]]


def by_hand(codes, truth):
    """The slow twin: products of standardised errors, pair by pair, item by item."""
    rate, found = right_rates(codes, truth), {}
    for i in range(len(codes.gold)):
        labels = range(codes.item_start[i], codes.item_start[i + 1])
        for j in labels:
            for k in labels:
                l, m = codes.item_annotator[j], codes.item_annotator[k]
                if l < m:
                    r = 0.0
                    for t, w in enumerate(truth[i]):
                        a, b = rate[l, t], rate[m, t]
                        right = (codes.item_answer[j] == t), (codes.item_answer[k] == t)
                        r += (
                            w * (right[0] - a) * (right[1] - b) / np.sqrt(a * (1 - a) * b * (1 - b))
                        )
                    found.setdefault((int(l), int(m)), []).append(r)
    return found


def on_a_grid(r):
    """The maximum and the interval of the log likelihood, by looking everywhere."""
    r = np.array(r)
    d = np.linspace(-1 / max(r.max(), 1), 1 / max(-r.min(), 1), 20_001)[1:-1]
    height = np.log1p(np.outer(d, r)).sum(axis=1) + np.log1p(-d * d)
    inside = d[height >= height.max() - DROP]
    return d[height.argmax()], inside[0], inside[-1]


def test_pairs_and_fits_are_those_of_the_slow_twin():
    crowd = simulate(items=25, annotators=5, labels_per_item=4, random_state=3)
    codes, rng = crowd.annotations.codes, np.random.default_rng(0)
    truth = rng.dirichlet([0.4, 0.3, 0.9], size=25)
    expected = by_hand(codes, truth)
    pairs = pair_labels(codes, truth)
    keys, group = np.unique(pairs.first * 5 + pairs.second, return_inverse=True)
    assert [divmod(k, 5) for k in keys.tolist()] == sorted(expected)
    fit = fit_groups(pairs.product, group, len(keys))
    for g, pair in enumerate(sorted(expected)):
        np.testing.assert_allclose(pairs.product[group == g], expected[pair], rtol=1e-9)
        found = (fit.value[g], fit.low[g], fit.high[g])
        np.testing.assert_allclose(found, on_a_grid(expected[pair]), rtol=0, atol=2e-4)


def crowds(groups, n, **sizes):
    for seed in range(n):
        yield simulate(groups, classes=["no", "yes"], random_state=seed, **sizes)


def fits_given_the_truth(crowd):
    codes, n = crowd.annotations.codes, crowd.annotations.n_annotators
    truth = np.eye(2)[(crowd.truth == "yes").to_numpy().astype(int)]
    pairs = pair_labels(codes, truth)
    keys, group = np.unique(pairs.first * n + pairs.second, return_inverse=True)
    return keys, fit_groups(pairs.product, group, len(keys))


def test_independent_errors_of_known_items_cover_zero_in_95_of_100():
    covered = []
    for crowd in crowds([Group("one", EVEN)], 40, items=250, annotators=6):
        _, fit = fits_given_the_truth(crowd)
        covered += ((fit.low <= 0) & (fit.high >= 0)).tolist()
    error = np.sqrt(0.95 * 0.05 / len(covered))
    assert abs(np.mean(covered) - 0.95) < 4 * error


def test_copies_have_the_dependence_with_which_they_copy():
    groups = [Group("model", EVEN), Group("copycat", EVEN, copies=0.6)]
    found = []
    for crowd in crowds(groups, 30, items=250, annotators=2):
        _, fit = fits_given_the_truth(crowd)
        found.append([fit.value[0], fit.low[0], fit.high[0]])
    value, low, high = np.transpose(found)
    assert abs(value.mean() - 0.6) < 4 * value.std() / np.sqrt(len(value)) + 0.01  # two labels
    assert ((low <= 0.6) & (high >= 0.6)).mean() >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(value))


def test_several_pairs_of_an_item_widen_the_interval():
    rng = np.random.default_rng(1)
    once = rng.choice([-1.0, 1.0], size=60, p=[0.4, 0.6])
    group = np.zeros(60, np.int64)
    alone = fit_groups(once, group, 1, np.arange(60))
    thrice = fit_groups(np.repeat(once, 3), np.zeros(180, np.int64), 1, np.repeat(np.arange(60), 3))
    narrow = fit_groups(np.repeat(once, 3), np.zeros(180, np.int64), 1)
    assert thrice.high[0] - thrice.low[0] > 0.95 * (alone.high[0] - alone.low[0])
    assert narrow.high[0] - narrow.low[0] < 0.7 * (alone.high[0] - alone.low[0])


def test_of_too_many_items_an_even_selection_is_looked_at():
    kept = thinned(np.array([3, 0, 3, 3, 3, 0, 3, 3]), 9)
    assert kept.tolist() == [True, False, False, True, False, False, False, True]


def test_repeated_labels_count_once_and_nobody_errs_with_themselves():
    codes = encode([0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1], sizes=(2, 2, 2, 2))
    pairs = pair_labels(codes, np.eye(2))
    assert pairs.first.tolist() == [0]
    assert pairs.second.tolist() == [1]


def test_only_who_surely_errs_together_is_discounted():
    first, second = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 3])
    value = np.array([0.9, 0.1, 0.1, 0.1, 0.1, 0.1])
    omega = discounts(first, second, value, value - 0.2, 4)
    np.testing.assert_allclose(omega, [1 / 1.6, 1 / 1.6, 1, 1], rtol=1e-12)


def test_a_clique_takes_over_unless_it_counts_for_less():
    groups = [Group("model", EVEN, share=6), Group("clique", EVEN, copies=0.9, share=3)]
    crowd = next(crowds(groups, 1, items=400, annotators=9, labels_per_item=9))
    votes, true = crowd.annotations.votes, (crowd.truth == "yes").to_numpy()
    start = (votes + 0.5) / (votes.sum(axis=1, keepdims=True) + 1)
    clique = crowd.copied.notna() | (crowd.copied.index == crowd.copied["a9"])
    even, fewer = (
        discounted_truth(crowd.annotations.codes, start, np.where(clique, worth, 1.0))
        for worth in (1.0, 0.25)
    )
    assert (fewer.argmax(axis=1) == true).mean() > (even.argmax(axis=1) == true).mean() + 0.05
