"""Communities: the objective never rises, planted blocks are found, permuting permutes."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.partition import communities
from coterie.partition.communities import (
    factorise,
    find_communities,
    objective,
    scaled,
    similarity,
    update,
)
from coterie.posterior import people


def blocks(n=8):
    """Three blocks of people who are alike within and differ between."""
    v = np.kron(0.8 * np.eye(3) + 0.1, np.ones((n, n)))
    np.fill_diagonal(v, 1.0)
    return scaled(v)


@pytest.mark.exact
@pytest.mark.parametrize("weight", [1.0, 2.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises_at_any_update(seed, weight):
    rng = np.random.default_rng(seed)
    v = scaled(similarity(rng.dirichlet(np.ones(3), (14, 2))))
    w, h, b = rng.random((14, 5)), rng.random((5, 14)), rng.random(5) + 0.1
    before = objective(v, w, h, b, weight)
    for _ in range(60):
        h = update(v, w, h, b, weight)
        after_h = objective(v, w, h, b, weight)
        w = update(v.T, h.T, w.T, b, weight).T
        after_w = objective(v, w, h, b, weight)
        b = (14 * weight + 4) / (weight * ((w**2).sum(axis=0) + (h**2).sum(axis=1)) / 2 + 2)
        after_b = objective(v, w, h, b, weight)
        slack = 1e-10 * abs(before)
        assert before >= after_h - slack
        assert after_h >= after_w - slack
        assert after_w >= after_b - slack
        before = after_b


@pytest.mark.exact
def test_a_weight_of_two_is_everybody_twice():
    rng = np.random.default_rng(5)
    v = scaled(similarity(rng.dirichlet(np.ones(3), (7, 2))))
    w, h, b = rng.random((7, 3)), rng.random((3, 7)), rng.random(3) + 0.1
    twice, people, other = np.tile(v, (2, 2)), np.tile(w, (2, 1)), np.tile(h, 2)
    np.testing.assert_allclose(objective(v, w, h, b, 2.0), objective(twice, people, other, b))
    found = update(twice, people, other, b)
    np.testing.assert_allclose(np.tile(update(v, w, h, b, 2.0), 2), found, rtol=1e-12)


def test_many_annotators_join_the_communities_of_some(monkeypatch):
    monkeypatch.setattr(communities, "MANY", 40)
    monkeypatch.setattr(communities, "LANDMARKS", 30)
    order = np.random.default_rng(6).permutation(120)
    block = np.repeat([0, 1, 2], 40)[order]
    found = factorise(blocks(40)[np.ix_(order, order)], 3, np.random.default_rng(1))
    assert found.people.shape[0] == 120
    community = found.memberships().argmax(axis=1)
    assert coterie.metrics.adjusted_rand_index(community, block) == 1
    # The columns that were emptied count: starts and sizes are compared by one objective.
    monkeypatch.setattr(communities, "MANY", 200)
    alone = factorise(blocks(40), 1, np.random.default_rng(1)).objective
    np.testing.assert_allclose(found.objective, alone, rtol=1e-4)
    monkeypatch.setattr(communities, "MANY", 40)
    matrices = np.where(block[:, None, None] == 1, np.eye(2), np.eye(2)[::-1])
    share, _ = find_communities(matrices, 2, np.random.default_rng(0))
    assert coterie.metrics.adjusted_rand_index(share.argmax(axis=1), block == 1) == 1


@pytest.mark.parametrize("seed", range(3))
def test_three_planted_blocks_are_found_exactly(seed):
    share = factorise(blocks(), 1, np.random.default_rng(seed)).memberships()
    assert share.shape == (24, 3)
    found = share.argmax(axis=1).reshape(3, 8)
    assert (found == found[:, :1]).all()
    assert len(set(found[:, 0])) == 3


def test_similarity_is_hellinger_s():
    rng = np.random.default_rng(4)
    psi = rng.dirichlet([1, 2, 3], (5, 2))
    alike = similarity(psi)
    for l in range(5):
        for m in range(5):
            apart = [1 - np.sqrt(psi[l, t] * psi[m, t]).sum() for t in range(2)]
            expected = np.exp(-sum(np.sqrt(max(x, 0)) for x in apart))
            np.testing.assert_allclose(alike[l, m], expected, atol=1e-7)
    np.testing.assert_array_equal(alike, alike.T)


def test_identical_matrices_share_one_community():
    share, _ = find_communities(np.tile(np.eye(2), (5, 1, 1)), 2, np.random.default_rng(0))
    np.testing.assert_array_equal(share, np.ones((5, 1)))


def crowd_of_kinds(order=None):
    """Six who are right, six who are wrong, on 60 items, as annotations."""
    people = np.arange(12) if order is None else order
    rows = [
        (f"q{i:02}", f"a{place:02}", "xy"[(i + (l >= 6)) % 2])
        for i in range(60)
        for place, l in enumerate(people)
    ]
    gold = {f"q{i:02}": "xy"[i % 2] for i in range(60)}
    return coterie.DawidSkene(smoothing=1.0).fit(rows, gold).posterior_


def test_permuting_annotators_permutes_the_communities():
    order = np.random.default_rng(2).permutation(12)
    one, other = (crowd_of_kinds(x).communities()["community"].to_numpy() for x in (None, order))
    assert coterie.metrics.adjusted_rand_index(one[order], other) == 1
    assert coterie.metrics.adjusted_rand_index(one, np.repeat([0, 1], 6)) == 1


def test_the_table_counts_labels_and_leaves_out_who_has_few():
    crowd = coterie.simulate("mixed", items=60, annotators=8, random_state=1)
    posterior = coterie.MajorityVote().fit(crowd.annotations).posterior_
    n = crowd.annotations.labels_per_annotator
    table = posterior.communities(least=int(n.max()))
    assert table["community"].isna().to_numpy().tolist() == (n < n.max()).tolist()
    assert table["membership"].isna().equals(table["community"].isna())
    np.testing.assert_array_equal(table["n_labels"], n)
    whole = posterior.communities()
    assert whole["community"].min() == 1
    assert whole["community"].max() == whole.attrs["n_communities"]
    pd.testing.assert_frame_equal(whole, posterior.communities())
    assert posterior.communities(least=10**6)["community"].isna().all()


def test_too_many_annotators_are_refused(monkeypatch):
    monkeypatch.setattr(people, "MOST_IN_COMMUNITIES", 3)
    posterior = crowd_of_kinds()
    with pytest.raises(coterie.CoterieError, match=r"12 annotators have labels: .* raise least"):
        posterior.communities()
    with pytest.raises(coterie.DataError, match="at least 1 restart, 100,000 at most, got 0"):
        posterior.communities(restarts=0)


def test_communities_in_the_place_of_coteries(tmp_path):
    point = crowd_of_kinds().by_community()
    table = point.coteries()
    assert table["size"].tolist() == [6, 6]
    assert "role" not in table
    np.testing.assert_allclose(sorted(table["accuracy"]), [1 / 32, 31 / 32], atol=0.01)
    with pytest.raises(coterie.CoterieError, match="point estimate without roles"):
        point.coterie_roles()
    assert point.annotators()["coterie"].nunique() == 2
    np.testing.assert_allclose(point.confusion(coterie=1).sum(axis=1), 1)
    for ask in (point.cooccurrence, lambda: point.n_coteries):
        with pytest.raises(coterie.CoterieError, match="has one grouping of the annotators and no"):
            ask()
    with pytest.raises(coterie.CoterieError, match="leave out k=3"):
        point.coteries(k=3)
    point.save(tmp_path / "run.coterie")
    again = coterie.load(tmp_path / "run.coterie")
    pd.testing.assert_frame_equal(again.coteries(), table)


def test_communities_of_a_result_with_draws_have_roles_and_a_place_in_the_report(tmp_path):
    crowd = coterie.simulate({"expert": 1, "adversary": 1}, items=60, annotators=8, random_state=0)
    fit = coterie.IBCCVB(random_state=0).fit(crowd.annotations, crowd.truth[:40]).posterior_
    posterior = fit.by_community()
    table = posterior.coteries()
    assert {"role", "accuracy_low"} <= set(table)
    assert len(posterior.coterie_roles().role) == len(table) == 2
    posterior.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "by one grouping after the fact" in page
    assert "those of a variational approximation, which are too narrow" in page


@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
def test_who_finds_coteries_keeps_them():
    crowd = coterie.simulate("mixed", items=20, annotators=6, random_state=0)
    model = coterie.CBCC(sweeps=30, burn_in=10, chains=1, random_state=0, progress=False)
    posterior = model.fit(crowd.annotations).posterior_
    assert len(posterior.communities()) == 6
    with pytest.raises(coterie.CoterieError, match="CBCC finds coteries while it fits; ask for"):
        posterior.by_community()
