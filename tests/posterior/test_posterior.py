"""Posterior: tables read off known numbers."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from coterie.abilities import Abilities
from coterie.data.annotations import Annotations
from coterie.data.codes import encode
from coterie.errors import CoterieError, DataError
from coterie.partition.cooccurrence import BLOCK, share_together
from coterie.posterior import Draws, Posterior


@pytest.fixture
def annotations():
    codes = encode([0, 0, 1], [0, 1, 0], [0, 2, 1], sizes=(2, 3, 2, 3))
    return Annotations(
        np.array(["q1", "q2"], object),
        np.array(["ann", "bob", "cat"], object),
        np.array(["no", "yes"], object),
        np.array(["unsure"], object),
        codes,
    )


GROUPED = Abilities(coteries=True, uncertainty=True)


def confusion():
    """Asymmetric in every index, so that a transposed one is noticed."""
    return np.array(
        [
            [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]],
            [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]],
            [[0.1, 0.8, 0.1], [0.6, 0.4, 0.0]],
        ]
    )


def point(annotations, **more):
    return Posterior(
        annotations,
        np.array([[0.25, 0.75], [0.5, 0.5]]),
        np.array([0.4, 0.6]),
        confusion(),
        model="Point",
        **more,
    )


def test_labels(annotations):
    table = point(annotations).labels()
    assert table["item"].tolist() == ["q1", "q2"]
    assert table["label"].tolist() == ["yes", "no"]  # a tie goes to the lowest class
    assert table["probability"].tolist() == [0.75, 0.5]
    expected = [-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)), np.log(2)]
    np.testing.assert_allclose(table["entropy"], expected, rtol=1e-12)


def test_a_certain_item_has_entropy_zero(annotations):
    posterior = Posterior(
        annotations, np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2) / 2, confusion()
    )
    assert [f"{x}" for x in posterior.labels()["entropy"]] == ["0.0", "0.0"]


def test_a_chosen_label_overrides_the_lowest_of_a_tie(annotations):
    assert point(annotations, label=np.array([1, 1])).labels()["label"].tolist() == ["yes", "yes"]


def test_probabilities(annotations):
    table = point(annotations).probabilities()
    assert (table.index.name, table.columns.name) == ("item", "label")
    assert table.loc["q1"].to_dict() == {"no": 0.25, "yes": 0.75}


def test_annotators_of_a_point_estimate(annotations):
    table = point(annotations).annotators()
    assert table.columns.tolist() == ["annotator", "n_labels", "accuracy", "informativeness"]
    assert table["n_labels"].tolist() == [2, 1, 0]
    np.testing.assert_allclose(
        table["accuracy"], [0.4 * 0.9 + 0.6 * 0.7, 0.4 * 0.5 + 0.6 * 0.3, 0.4 * 0.1 + 0.6 * 0.4]
    )
    assert table["informativeness"][1] == pytest.approx(0, abs=1e-12)


def test_confusion_has_truth_in_rows_and_answers_in_columns(annotations):
    table = point(annotations).confusion("ann")
    assert (table.index.name, table.columns.name) == ("true", "answer")
    assert table.loc["yes", "unsure"] == 0.1
    assert table.loc["no", "yes"] == 0.1
    everybody = point(annotations).confusion()
    assert everybody.loc[("cat", "no"), "yes"] == 0.8
    pd.testing.assert_frame_equal(everybody.loc["ann"], table)


def test_an_unknown_annotator_is_named_with_its_neighbours(annotations):
    with pytest.raises(DataError) as error:
        point(annotations).confusion("bop")
    assert str(error.value) == "no annotator 'bop' among the 3 of this data (did you mean 'bob'?)"


def test_a_point_estimate_says_that_it_has_no_draws(annotations):
    posterior = point(annotations)
    with pytest.raises(CoterieError, match="Point gives a point estimate without intervals"):
        posterior.confusion("ann", quantile=0.5)
    with pytest.raises(CoterieError, match="Point finds no coteries"):
        posterior.cooccurrence()
    with pytest.raises(CoterieError, match="Point finds no coteries"):
        _ = posterior.n_coteries


@pytest.fixture
def sampled(annotations):
    rng = np.random.default_rng(0)
    partition = np.array([[[0, 0, 1], [0, 1, 1]], [[0, 0, 0], [0, 1, 2]]], np.int32)
    draws = Draws(
        confusion=rng.dirichlet([3, 2, 1], size=(2, 2, 3, 2)).astype(np.float32),
        class_balance=rng.dirichlet([3, 2], size=(2, 2)),
        partition=partition,
        n_coteries=np.array([[2, 2], [1, 3]]),
    )
    return point(annotations, draws=draws, method="gibbs", abilities=GROUPED)


def test_a_single_name_is_no_list_of_annotators(sampled):
    with pytest.raises(CoterieError, match=r"annotators=.* a list.* got 'ann'; put .*: \['ann'\]"):
        sampled.cooccurrence("ann")


@pytest.mark.parametrize("quantile", [-0.1, 2, float("nan")])
def test_a_quantile_is_between_zero_and_one(sampled, quantile):
    with pytest.raises(CoterieError, match=f"quantile={quantile} is not between 0 and 1"):
        sampled.confusion("ann", quantile=quantile)


def test_cooccurrence_is_the_share_of_draws(sampled):
    table = sampled.cooccurrence()
    expected = [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]
    np.testing.assert_array_equal(table, expected)
    part = sampled.cooccurrence(["cat", "ann"])
    assert part.index.tolist() == ["cat", "ann"]
    assert part.loc["cat", "ann"] == 0.25
    assert sampled.n_coteries.shape == (2, 2)


def test_intervals_are_equal_tailed_over_all_chains(sampled):
    draws = sampled.draws
    accuracy = np.array(
        [
            [
                sum(draws.class_balance[k, d, t] * draws.confusion[k, d, l, t, t] for t in range(2))
                for l in range(3)
            ]
            for k in range(2)
            for d in range(2)
        ]
    )
    table = sampled.annotators()
    np.testing.assert_allclose(table["accuracy"], accuracy.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(table["accuracy_low"], np.quantile(accuracy, 0.025, axis=0))
    np.testing.assert_allclose(table["accuracy_high"], np.quantile(accuracy, 0.975, axis=0))
    low = sampled.confusion("bob", quantile=0.025)
    expected = np.quantile(draws.confusion[:, :, 1].reshape(4, 2, 3), 0.025, axis=0)
    np.testing.assert_allclose(low, expected)


def test_a_model_without_coteries_says_so_even_with_draws(annotations, sampled):
    draws = Draws(sampled.draws.confusion, sampled.draws.class_balance)
    with pytest.raises(CoterieError, match="Point finds no coteries"):
        point(annotations, draws=draws, abilities=Abilities(uncertainty=True)).cooccurrence()


@pytest.mark.parametrize("n_clusters", [5, 300, 70_000])
def test_cooccurrence_in_blocks_is_the_plain_count(n_clusters):
    n_annotators = 2 * BLOCK + 13
    partition = np.random.default_rng(1).integers(0, n_clusters, (9, n_annotators))
    partition[:, ::3] %= 5  # so that some sit together
    expected = (partition[:, :, None] == partition[:, None, :]).mean(axis=0)
    np.testing.assert_allclose(share_together(partition), expected, rtol=1e-15)


def large_crowd(n_annotators):
    ids = np.arange(n_annotators) * 2
    classes = np.array(["no", "yes"], object)
    nothing = np.zeros(0, np.int32)
    codes = encode(nothing, nothing, nothing, sizes=(1, n_annotators, 2, 2))
    partition = np.stack([np.arange(n_annotators) % 3, np.arange(n_annotators) % 2])
    draws = Draws(
        np.zeros((1, 2, n_annotators, 2, 2), np.float32),
        np.full((1, 2, 2), 0.5),
        partition[None].astype(np.int32),
    )
    return Posterior(
        Annotations(np.array(["q"], object), ids, classes, np.array([], object), codes),
        np.full((1, 2), 0.5),
        np.full(2, 0.5),
        np.full((n_annotators, 2, 2), 0.5),
        draws=draws,
        abilities=GROUPED,
    )


def test_all_pairs_of_a_large_crowd_must_be_asked_for():
    crowd = large_crowd(100_000)
    with pytest.raises(CoterieError) as error:
        crowd.cooccurrence()
    assert str(error.value) == (
        "all pairs of 100,000 annotators are a table of 80 GB; "
        "ask for some of them: cooccurrence(annotators=[...])"
    )
    some = crowd.cooccurrence(annotators=[0, 12, 4, 199_998])
    assert some.index.tolist() == [0, 12, 4, 199_998]
    # Codes 0, 6, 2, 99,999: the same modulo 3, modulo 2.
    assert some.loc[0].tolist() == [1, 1, 0.5, 0.5]
    with pytest.raises(DataError, match="no annotator 1 among the 100,000"):
        crowd.cooccurrence(annotators=[0, 1])


def test_annotators_may_be_tuples():
    pairs = np.empty(3, object)
    pairs[:] = [("a", 1), ("a", 2), ("b", 1)]
    codes = encode([0, 0, 1], [0, 1, 0], [0, 2, 1], sizes=(2, 3, 2, 3))
    words = [np.array(w.split(), object) for w in ("q1 q2", "no yes", "unsure")]
    posterior = point(Annotations(words[0], pairs, words[1], words[2], codes))
    assert posterior.confusion(("a", 2)).loc["no", "no"] == 0.5


def trace(chains=4, sweeps=1_000):
    rng = np.random.default_rng(5)
    names = ("log_joint", "log_likelihood", "n_coteries")
    values = {name: rng.normal(size=(chains, sweeps)) for name in names}
    totals = rng.normal(size=(chains, sweeps, 2))
    return {**values, "class_total": totals, "concentration": np.full((chains, sweeps), 0.5)}


def with_trace(posterior, **changed):
    draws = replace(posterior.draws, trace={**trace(2), **changed})
    return replace(posterior, draws=draws)


def test_diagnostics_have_one_row_per_watched_quantity(sampled):
    posterior = with_trace(sampled)
    table = posterior.diagnostics().set_index("quantity")
    names = ["log_joint", "log_likelihood", "n_coteries", "class_total[0]", "class_total[1]"]
    assert table.index.tolist() == [*names, "concentration"]
    assert table.loc["log_joint", "mean"] == posterior.draws.trace["log_joint"].mean()
    assert table.loc["class_total[1]", "ess_bulk"] > 400


def test_converged_is_judged_from_the_trace(sampled):
    assert with_trace(sampled).draws.settled()
    stuck = np.repeat([[1.0], [2.0]], 1_000, axis=1)
    assert not with_trace(sampled, n_coteries=stuck).draws.settled()
    assert not sampled.draws.settled()  # nothing was watched


def test_a_point_estimate_has_converged_as_its_model_says(annotations):
    assert point(annotations).converged
    assert not point(annotations, converged=False).converged
    with pytest.raises(CoterieError, match="Point gives a point estimate without diagnostics"):
        point(annotations).diagnostics()
    with pytest.raises(CoterieError, match="Point gives a point estimate without draws"):
        point(annotations).to_arviz()


def test_to_arviz_names_every_dimension(sampled):
    posterior = with_trace(sampled)
    tree = posterior.to_arviz()
    draws = posterior.draws
    matrices = tree["posterior"]["confusion"]
    assert matrices.dims == ("chain", "draw", "annotator", "true", "answer")
    found = matrices.sel(chain=1, draw=0, annotator="cat", true="yes", answer="unsure")
    assert float(found) == draws.confusion[1, 0, 2, 1, 2]
    balance = tree["posterior"]["class_balance"].sel(true="yes")
    np.testing.assert_array_equal(balance, draws.class_balance[:, :, 1])
    together = tree["posterior"]["partition"].sel(annotator="bob")
    np.testing.assert_array_equal(together, draws.partition[:, :, 1])
    np.testing.assert_array_equal(tree["posterior"]["n_coteries"], draws.n_coteries)
    totals = tree["sample_stats"]["class_total"].sel(true="yes")
    np.testing.assert_array_equal(totals, draws.trace["class_total"][:, :, 1])
    assert tree["sample_stats"]["log_joint"].shape == (2, 1_000)
    assert tree["posterior"].attrs["inference_library"] == "coterie"


def test_to_arviz_keeps_the_draws_that_belong_together(sampled):
    # Six sweeps, three partitions (sweeps 1, 3, 5), one matrix (with the last partition).
    alpha = np.arange(12.0).reshape(2, 6)
    draws = replace(
        sampled.draws,
        confusion=sampled.draws.confusion[:, :1],
        class_balance=sampled.draws.class_balance[:, :1],
        partition=np.repeat(np.arange(3), 3).reshape(1, 3, 3).repeat(2, axis=0).astype(np.int32),
        n_coteries=np.array([[1, 2, 3], [4, 5, 6]]),
        trace={"concentration": alpha},
    )
    group = replace(sampled, draws=draws).to_arviz()["posterior"]
    assert group["n_coteries"].values.tolist() == [[3], [6]]
    assert group["partition"].values.tolist() == [[[2, 2, 2]], [[2, 2, 2]]]
    assert group["concentration"].values.tolist() == [[5], [11]]


def test_to_arviz_of_a_model_without_coteries(sampled):
    draws = Draws(sampled.draws.confusion, sampled.draws.class_balance)
    tree = replace(sampled, draws=draws, abilities=Abilities(uncertainty=True)).to_arviz()
    assert set(tree.children) == {"posterior"}
    assert set(tree["posterior"].data_vars) == {"confusion", "class_balance"}


def test_without_arviz_base_the_remedy_is_named(sampled, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(CoterieError, match=r'needs arviz-base: pip install "coterie\[arviz\]"'):
        sampled.to_arviz()
