"""The search for a point partition: exact steps, the optimum of small problems, hard cases."""

import numpy as np
import pytest

from builders.partitions import KINDS, all_losses, all_partitions, stray
from coterie.metrics import variation_of_information
from coterie.numeric.dirichlet import draw_crp
from coterie.partition import expected_loss, point_partition, search
from coterie.partition.measure import (
    block_values,
    canonical_draws,
    distinct_draws,
    loss_scale,
    mean_loss,
)
from coterie.partition.search import Walk, lay_out
from ladder.marks import rest_slow

LOSSES = ("vi", "binder")
DRAWS = (1, 2, 3, 5, 10, 30)


def problems(kind, n, how_many, seed=0):
    """Draws of a kind: how_many sets, of different sizes."""
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        yield canonical_draws(KINDS[kind](n, int(rng.choice(DRAWS)), rng))


def walk_on(draws, loss, k=None, seed=0):
    value = block_values(draws.shape[1], loss)
    return Walk(lay_out(*distinct_draws(draws), value), np.random.default_rng(seed), k)


def worth(walk, draws, loss):
    """The summed loss of where a walk is, from scratch."""
    scale = loss_scale(draws.shape[1], loss)
    return mean_loss(draws, walk.group, loss) * walk.sample.total / scale


def cells(walk):
    """The cells in use: for every row, the count of each coterie."""
    start, length = walk.sample.start, walk.state.length
    rows = [walk.state.cell[a : a + z] for a, z in zip(start, length, strict=False)]
    return [dict(row.tolist()) for row in rows]


def check_books(walk, draws):
    """The state equals a recount."""
    group, n = walk.group, draws.shape[1]
    assert (group >= 0).all()
    assert (walk.state.size == np.bincount(group, minlength=n)).all()
    assert sorted(walk.state.slot[: walk.n_coteries]) == sorted(set(group))
    recount = []
    for draw in distinct_draws(draws)[0]:
        for j in range(draw.max() + 1):
            m, count = np.unique(group[draw == j], return_counts=True)
            recount.append(dict(zip(m.tolist(), count.tolist(), strict=True)))
    assert cells(walk) == recount


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_step_changes_the_loss_by_what_it_says(kind, loss):
    for draws in problems(kind, 14, 6):
        walk = walk_on(draws, loss)
        walk.sweep(walk.everybody())  # from nowhere
        for _ in range(4):
            start = draw_crp(14, 2.0, walk.rng)
            walk.seat(start)
            check_books(walk, draws)
            before = worth(walk, draws, loss)
            some = walk.everybody()[:5]
            change = walk.clear(some) + walk.sweep(some)
            assert worth(walk, draws, loss) - before == pytest.approx(change, abs=1e-8)
            for members in walk.coteries():
                before, m = worth(walk, draws, loss), int(walk.group[members[0]])
                change, _, apart = walk.halve(members)
                assert worth(walk, draws, loss) - before == pytest.approx(change, abs=1e-8)
                check_books(walk, draws)
                walk.gather(apart, m)
                split = walk.best_split(members)
                assert worth(walk, draws, loss) == pytest.approx(before, abs=1e-8)
                walk.gather(split.apart)
                assert worth(walk, draws, loss) - before == pytest.approx(split.change, abs=1e-8)
                walk.gather(split.apart, split.m)
            before = worth(walk, draws, loss)
            for pair in list(walk.merges())[:1]:
                walk.join(pair)
                assert worth(walk, draws, loss) - before == pytest.approx(pair.change, abs=1e-8)
            before = worth(walk, draws, loss)
            assert walk.sweep(walk.everybody()) == pytest.approx(
                worth(walk, draws, loss) - before, abs=1e-8
            )
            check_books(walk, draws)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_cheapest_merge_is_found(loss):
    for draws in problems("noisy", 12, 5):
        walk = walk_on(draws, loss)
        start = draw_crp(12, 3.0, walk.rng)
        walk.seat(start)
        before = worth(walk, draws, loss)
        for pair in list(walk.merges()):
            changes = []
            for other in set(start.tolist()) - {pair.m}:
                walk.seat(np.where(start == pair.m, other, start).astype(np.int32))
                changes.append(worth(walk, draws, loss) - before)
            assert pair.change == pytest.approx(min(changes), abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [None, 1, 2, 5, 13, 14])
def test_descending_and_refining_never_go_up_and_keep_the_number(k, loss):
    for draws in problems("uniform", 14, 5):
        walk = walk_on(draws, loss, k)
        walk.seat(draw_crp(14, 1.0, walk.rng))
        walk.reach_number()
        for step in (walk.descend, walk.refine):
            before = worth(walk, draws, loss)
            step()
            assert worth(walk, draws, loss) <= before + 1e-8
            assert k is None or walk.n_coteries == k
            check_books(walk, draws)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_few_annotators_get_the_best_of_all_partitions(kind, loss, n):
    groups = all_partitions(n)
    n_blocks = groups.max(axis=1) + 1
    for draws in problems(kind, n, 6, seed=n):
        if n == 1:
            assert point_partition(draws, loss=loss, k=1).expected_loss == 0
            continue
        losses = all_losses(draws, groups, loss)
        found = point_partition(draws, loss=loss)
        assert found.expected_loss == pytest.approx(losses.min(), abs=1e-12)
        for k in range(1, n + 1):
            found = point_partition(draws, loss=loss, k=k)
            assert found.n_coteries == k
            assert found.expected_loss == pytest.approx(losses[n_blocks == k].min(), abs=1e-12)


def missed(draws, loss, k):
    """Whether the search misses the best of all partitions."""
    groups = all_partitions(draws.shape[1])
    groups = groups if k is None else groups[groups.max(axis=1) + 1 == k]
    found = point_partition(draws, loss=loss, k=k)
    return found.expected_loss > all_losses(draws, groups, loss).min() + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", rest_slow([8, 9, 10], 0))
def test_the_search_finds_the_optimum(n, kind, loss):
    how_many = {8: 20, 9: 10, 10: 4}[n]
    assert sum(missed(draws, loss, None) for draws in problems(kind, n, how_many)) == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", rest_slow(KINDS, 0))
def test_the_search_finds_the_optimum_of_a_given_number(kind, loss):
    cases = [(draws, k) for draws in problems(kind, 8, 3) for k in range(2, 8)]
    assert sum(missed(draws, loss, k) for draws, k in cases) == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("share", [0.5, 0.6])
@pytest.mark.parametrize("n", [8, 30, 150])
def test_the_heavier_of_two_modes_is_best(n, share, loss):
    """The loss is a metric, so between two draws nothing beats the heavier one."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        modes = np.array([draw_crp(n, 3.0, rng), draw_crp(n, 3.0, rng)])
        draws = modes[(np.arange(10) >= 10 * share).astype(int)]
        best = (1 - share) * expected_loss(modes[:1], modes[1], loss)
        found = point_partition(draws, loss=loss)
        assert found.expected_loss == pytest.approx(best, abs=1e-12)
        if share > 0.5:
            assert variation_of_information(found.group, modes[0]) < 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", rest_slow(KINDS, 0))
def test_no_given_number_beats_the_free_one(kind, loss):
    draws = KINDS[kind](12, 40, np.random.default_rng(8))
    free = point_partition(draws, loss=loss)
    losses = [point_partition(draws, loss=loss, k=k).expected_loss for k in range(1, 13)]
    assert min(losses) >= free.expected_loss - 1e-12
    assert losses[free.n_coteries - 1] == pytest.approx(free.expected_loss, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_point_is_no_worse_than_any_draw_or_the_truth(loss):
    rng = np.random.default_rng(9)
    truth = draw_crp(400, 4.0, rng)
    draws = np.array([stray(truth, 0.2, rng) for _ in range(60)])
    found = point_partition(draws, loss=loss)
    others = [*draws, truth, np.zeros(400, int), np.arange(400)]
    losses = [expected_loss(draws, other, loss) for other in others]
    assert found.expected_loss <= min(losses) + 1e-12
    assert variation_of_information(found.group, truth) < 0.3


@pytest.mark.parametrize("k", [None, 4, 40])
def test_many_annotators_need_no_table_of_pairs(monkeypatch, k):
    def refuse(partition):
        raise AssertionError("a table of all pairs")

    monkeypatch.setattr(search, "share_together", refuse)
    monkeypatch.setattr(search, "MOST_IN_TREE", 299)
    rng = np.random.default_rng(10)
    truth = rng.integers(6, size=300)
    draws = np.array([stray(truth, 0.2, rng) for _ in range(40)])
    found = point_partition(draws, k=k)
    assert found.n_coteries == (k or 6)
    if k is None:
        assert variation_of_information(found.group, truth) < 1e-12


@pytest.mark.parametrize("k", [None, 7])
def test_a_search_with_few_draws_ends_with_all(monkeypatch, k):
    rng = np.random.default_rng(11)
    truth = rng.integers(5, size=50)
    draws = np.array([stray(truth, 0.6, rng) for _ in range(500)])
    whole = point_partition(draws, k=k)
    monkeypatch.setattr(search, "SEARCH_CELLS", 0)
    assert len(search.thin(draws, 0)) == search.LEAST_DRAWS
    some = point_partition(draws, k=k)
    assert some.expected_loss == expected_loss(draws, some.group)
    assert some.expected_loss == pytest.approx(whole.expected_loss, rel=0.01)
    walk = walk_on(canonical_draws(draws), "vi", k)
    walk.seat(some.group)
    assert walk.sweep(walk.everybody()) == 0  # nobody would move, judged by all draws


@pytest.mark.slow
def test_thousands_of_clusters_and_coteries():
    rng = np.random.default_rng(12)
    pairs = np.arange(3_000) // 2
    draws = np.array([stray(pairs, 0.1, rng) for _ in range(30)])
    found = point_partition(draws)
    assert expected_loss(draws, pairs) >= found.expected_loss
    assert found.n_coteries == pytest.approx(1_500, rel=0.05)
