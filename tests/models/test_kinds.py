"""Kinds of items through the estimators: latent and known, as they are given, kept and shown."""

import numpy as np
import pandas as pd
import pytest

import coterie
from builders import saved
from coterie.models.paper import align_kinds
from coterie.report.facts import kind_facts
from ladder.marks import rest_slow

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
QUICK = {"sweeps": 60, "burn_in": 20, "chains": 2, "random_state": 7}
MODELS = pytest.mark.parametrize("model", rest_slow([coterie.IBCC, coterie.CBCC, coterie.HCBCC], 0))


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("kinds", items=40, annotators=6, random_state=3)


def frame_of(crowd):
    frame = crowd.annotations.to_frame()
    return frame.assign(topic=frame["item"].map(crowd.kinds))


@pytest.mark.parametrize("model", [coterie.DawidSkene, *MODELS.args[1]])
def test_known_kinds_as_a_series_a_mapping_and_a_column(model, crowd, tmp_path):
    settings = QUICK if model.abilities.uncertainty else {}
    by_series = model(**settings).fit(crowd.annotations, kinds=crowd.kinds).posterior_
    shuffled = crowd.kinds.sample(frac=1, random_state=1).to_dict()
    by_mapping = model(**settings).fit(crowd.annotations, kinds=shuffled).posterior_
    by_column = model(**settings).fit(frame_of(crowd), kinds="topic").posterior_
    table = by_series.kinds()
    assert table.columns.tolist() == ["item", "kind", "probability", "n_labels", "kind a", "kind b"]
    assert (table.set_index("item")["kind"] == crowd.kinds).all()
    for other in (by_mapping, by_column):
        np.testing.assert_array_equal(other.item_probability, by_series.item_probability)
    if settings:
        by_kind = by_series.draws.extra["accuracy_by_kind"]
        assert (by_kind.dims, by_kind.values.shape[-2:]) == (("annotator", "kind"), (6, 2))
    np.testing.assert_allclose(by_series.confusion_mean.sum(axis=-1), 1, rtol=1e-6)
    np.testing.assert_allclose(by_series.class_balance.sum(), 1)
    by_series.save(tmp_path / "run")
    pd.testing.assert_frame_equal(coterie.load(tmp_path / "run").kinds(), table)
    by_series.report(tmp_path / "page.html")
    assert "Kinds of items" in (tmp_path / "page.html").read_text("utf-8")


def test_dawid_skene_with_one_kind_is_the_model_without(crowd):
    plain = coterie.DawidSkene().fit(crowd.annotations)
    one = coterie.DawidSkene().fit(crowd.annotations, kinds=dict.fromkeys(crowd.kinds.index, "all"))
    for name in ("item_probability", "confusion_mean", "class_balance"):
        pair = (getattr(model.posterior_, name) for model in (one, plain))
        np.testing.assert_array_equal(*pair)
    assert one.loss_history_ == plain.loss_history_


def test_known_kinds_do_not_see_each_other_in_dawid_skene(crowd):
    """All items of a kind removed: the other kind is unchanged; both are fits of their own."""
    model, frame = coterie.DawidSkene(smoothing=0.5, tol=1e-13), frame_of(crowd)
    whole = model.fit(crowd.annotations, kinds=crowd.kinds).predict_proba()
    for kind in ("a", "b"):
        part = model.fit(frame[frame["topic"] == kind]).predict_proba()
        np.testing.assert_allclose(whole.loc[part.index], part, atol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_the_objective_never_falls(smoothing, crowd):
    model = coterie.DawidSkene(smoothing=smoothing).fit(crowd.annotations, kinds=crowd.kinds)
    assert model.converged_
    assert (np.diff(model.loss_history_) > -1e-12).all()


def test_the_order_of_rows_changes_neither_the_kinds_nor_a_bit(crowd):
    rows = frame_of(crowd)
    first, other = (
        coterie.IBCC(**QUICK).fit(frame, kinds="topic").posterior_
        for frame in (rows.sort_values("topic"), rows.sort_values("topic", ascending=False))
    )
    assert first.kinds().columns[-2:].tolist() == ["kind a", "kind b"]
    pd.testing.assert_frame_equal(first.kinds(), other.kinds())
    np.testing.assert_array_equal(first.item_probability, other.item_probability)


@MODELS
def test_latent_kinds_are_kept_checkpointed_and_reported(model, crowd, tmp_path):
    fresh = model(kinds=2, **QUICK).fit(crowd.annotations).posterior_
    again = [
        model(kinds=2, checkpoint=tmp_path / "run", **QUICK).fit(crowd.annotations).posterior_
        for _ in range(2)
    ]
    for other in again:
        np.testing.assert_array_equal(other.item_probability, fresh.item_probability)
        np.testing.assert_array_equal(other.draws.confusion, fresh.draws.confusion)
    fresh.save(tmp_path / "kept")
    saved.same(coterie.load(tmp_path / "kept"), fresh)
    table = fresh.kinds()
    np.testing.assert_allclose(table["kind 1"] + table["kind 2"], 1, rtol=1e-9)
    assert table["kind 1"].sum() >= table["kind 2"].sum()
    totals = fresh.draws.trace["kind_total"]
    assert (totals[..., 0] >= totals[..., 1]).all()
    assert (totals.sum(axis=-1) == 40).all()
    fresh.report(tmp_path / "page.html")
    assert "Kinds of items" in (tmp_path / "page.html").read_text("utf-8")


def test_a_checkpoint_of_other_kinds_is_refused(crowd, tmp_path):
    model = coterie.IBCC(checkpoint=tmp_path / "run", **QUICK)
    model.fit(crowd.annotations, kinds=crowd.kinds)
    with pytest.raises(coterie.DataError, match="other known kinds"):
        model.fit(crowd.annotations, kinds=crowd.kinds.where(crowd.kinds.index != "q01", "b"))


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        ({"q01": "a"}, r"39 items have no kind in kinds=, such as 'q02', 'q03', 'q04'"),
        ("topic", "is a column, but the labels were already read"),
        (3, "kinds must be a Series or dict"),
    ],
    ids=["missing", "column", "number"],
)
def test_errors_say_what_to_do(kinds, sentence, crowd):
    with pytest.raises(coterie.DataError, match=sentence):
        coterie.IBCC(**QUICK).fit(crowd.annotations, kinds=kinds)


def test_two_kinds_of_an_item_and_latent_beside_known(crowd):
    frame = frame_of(crowd)
    frame.loc[0, "topic"] = "c"
    with pytest.raises(coterie.DataError, match="is of two kinds in the frame"):
        coterie.IBCC(**QUICK).fit(frame, kinds="topic")
    with pytest.raises(coterie.DataError, match="has no column 'tropic'"):
        coterie.IBCC(**QUICK).fit(frame, kinds="tropic")
    with pytest.raises(coterie.DataError, match="looks for latent kinds, but fit was given known"):
        coterie.IBCC(kinds=2, **QUICK).fit(crowd.annotations, kinds=crowd.kinds)
    with pytest.raises(coterie.DataError, match=r"kinds=.*at least 1"):
        coterie.IBCC(kinds=0, **QUICK).fit(crowd.annotations)
    with pytest.raises(coterie.CoterieError, match="knows no kinds of items; fit IBCC"):
        coterie.MajorityVote().fit(crowd.annotations).posterior_.kinds()
    with pytest.raises(coterie.DataError, match="initial_error is for annotators without kinds"):
        coterie.DawidSkene(initial_error_strategy="addition").fit(
            crowd.annotations, None, pd.DataFrame(), kinds=crowd.kinds
        )


def test_kinds_of_chains_are_aligned():
    rng = np.random.default_rng(0)
    first = rng.dirichlet([0.2] * 3, 30)
    np.testing.assert_array_equal(align_kinds(first, first[:, [2, 0, 1]]), first)


@MODELS
def test_bystanders_change_nobody(model, crowd):
    """An item without labels and an annotator without any, with latent kinds."""
    frame = crowd.annotations.to_frame()
    wide = frame.pivot(index="item", columns="annotator", values="label").reset_index()
    more = wide.assign(silent=None)
    more.loc[len(more)] = ["q99", *[None] * (more.shape[1] - 1)]
    people = [name for name in more.columns if name != "item"]
    one = model(kinds=2, **QUICK).fit(coterie.read(wide, item="item", annotator=people[:-1]))
    two = model(kinds=2, **QUICK).fit(coterie.read(more, item="item", annotator=people))
    expected, found = one.posterior_.item_probability, two.posterior_.item_probability
    np.testing.assert_allclose(found[:-1], expected, rtol=1e-12)
    assert np.isfinite(two.posterior_.confusion_mean).all()
    kinds = two.posterior_.item_numbers["kind"].values
    np.testing.assert_allclose(kinds.sum(axis=1), 1, rtol=1e-9)


def test_where_everybody_knows_half_of_the_items_a_matrix_each_is_misled():
    crowd = coterie.simulate("kinds", items=400, annotators=10, labels_per_item=6, random_state=5)
    model = coterie.DawidSkene(smoothing=0.5)
    plain = model.fit(crowd.annotations).posterior_.score(crowd.truth)
    known = model.fit(crowd.annotations, kinds=crowd.kinds).posterior_.score(crowd.truth)
    assert known.accuracy > plain.accuracy


def test_known_kinds_tell_experts_from_novices():
    crowd = coterie.simulate("kinds", items=200, annotators=6, labels_per_item=6, random_state=5)
    posterior = coterie.IBCC(sweeps=300, burn_in=100, chains=2, random_state=0).fit(
        crowd.annotations, kinds=crowd.kinds
    )
    found = posterior.posterior_.draws.extra["accuracy_by_kind"].values.mean(axis=(0, 1))
    table = pd.DataFrame(found, index=crowd.groups, columns=["a", "b"])
    assert (table.loc["expert of a", "a"] > table.loc["expert of a", "b"]).all()
    assert (table.loc["expert of b", "b"] > table.loc["expert of b", "a"]).all()


def test_hard_items_are_found_and_who_is_good_at_them():
    crowd = coterie.simulate("easy-hard", items=300, annotators=12, random_state=1)
    model = coterie.EasyHardBCC(sweeps=400, burn_in=200, chains=2, random_state=0)
    posterior = model.fit(crowd.annotations).posterior_
    table = posterior.difficulty()
    assert table.columns.tolist() == ["item", "label", "hardness", "n_labels"]
    assert table["hardness"].is_monotonic_decreasing
    hard = (crowd.kinds == "hard").reindex(table["item"])
    assert table["hardness"][hard.to_numpy()].mean() > table["hardness"][~hard.to_numpy()].mean()
    extra = posterior.draws.extra
    assert extra["hard_accuracy"].values.shape[-1] == 12
    np.testing.assert_allclose(posterior.labels()["hardness"].sum(), table["hardness"].sum())
    best = kind_facts(posterior)["hard"]["people"]
    assert [row["accuracy"] for row in best] == sorted((r["accuracy"] for r in best), reverse=True)
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in best)
    experts = crowd.groups.index[crowd.groups == "expert"]
    assert best[0]["annotator"] in set(experts)
    with pytest.raises(coterie.CoterieError, match="fit EasyHardBCC or Consensus"):
        coterie.MajorityVote().fit(crowd.annotations).posterior_.difficulty()
