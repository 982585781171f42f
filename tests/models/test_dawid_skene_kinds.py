"""Dawid and Skene's model with known kinds of items: everybody has a matrix for each."""

import numpy as np
import pandas as pd
import pytest

import coterie

SMOOTH = {"smoothing": 0.5, "tol": 1e-13}


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("kinds", items=120, annotators=8, labels_per_item=5, random_state=3)


def frame_of(crowd):
    frame = crowd.annotations.to_frame()
    return frame.assign(topic=frame["item"].map(crowd.kinds))


def test_one_kind_is_the_model_without(crowd):
    """Reduces to the base model: to the bit."""
    plain = coterie.DawidSkene().fit(crowd.annotations)
    one = coterie.DawidSkene().fit(crowd.annotations, kinds=dict.fromkeys(crowd.kinds.index, "all"))
    np.testing.assert_array_equal(
        one.posterior_.item_probability, plain.posterior_.item_probability
    )
    np.testing.assert_array_equal(one.posterior_.confusion_mean, plain.posterior_.confusion_mean)
    np.testing.assert_array_equal(one.posterior_.class_balance, plain.posterior_.class_balance)
    assert one.loss_history_ == plain.loss_history_


def test_known_kinds_do_not_see_each_other(crowd):
    """All items of a kind removed: the other kind is unchanged; both are fits of their own."""
    whole = coterie.DawidSkene(**SMOOTH).fit(crowd.annotations, kinds=crowd.kinds).predict_proba()
    frame = frame_of(crowd)
    for kind in ("a", "b"):
        part = coterie.DawidSkene(**SMOOTH).fit(frame[frame["topic"] == kind]).predict_proba()
        np.testing.assert_allclose(whole.loc[part.index], part, atol=1e-5)


def test_the_objective_never_falls(crowd):
    for smoothing in (0.0, 0.5):
        model = coterie.DawidSkene(smoothing=smoothing).fit(crowd.annotations, kinds=crowd.kinds)
        assert model.converged_
        assert (np.diff(model.loss_history_) > -1e-12).all()


def test_a_series_a_mapping_and_a_column(crowd):
    by_series = coterie.DawidSkene().fit(crowd.annotations, kinds=crowd.kinds).posterior_
    shuffled = crowd.kinds.sample(frac=1, random_state=1).to_dict()
    by_mapping = coterie.DawidSkene().fit(crowd.annotations, kinds=shuffled).posterior_
    by_column = coterie.DawidSkene().fit(frame_of(crowd), kinds="topic").posterior_
    for other in (by_mapping, by_column):
        np.testing.assert_array_equal(other.item_probability, by_series.item_probability)
    assert (by_series.kinds().set_index("item")["kind"] == crowd.kinds).all()
    np.testing.assert_allclose(by_series.confusion_mean.sum(axis=-1), 1)
    np.testing.assert_allclose(by_series.class_balance.sum(), 1)


def test_experts_of_one_kind_are_novices_in_the_other():
    """What kinds are for: where everybody knows half of the items, a matrix each is misled."""
    crowd = coterie.simulate("kinds", items=400, annotators=10, labels_per_item=6, random_state=5)
    model = coterie.DawidSkene(smoothing=0.5)
    plain = model.fit(crowd.annotations).posterior_.score(crowd.truth)
    known = model.fit(crowd.annotations, kinds=crowd.kinds).posterior_.score(crowd.truth)
    assert known.accuracy > plain.accuracy


def test_saved_and_loaded_and_reported(crowd, tmp_path):
    posterior = coterie.DawidSkene().fit(crowd.annotations, kinds=crowd.kinds).posterior_
    posterior.save(tmp_path / "run")
    again = coterie.load(tmp_path / "run")
    pd.testing.assert_frame_equal(again.kinds(), posterior.kinds())
    posterior.report(tmp_path / "page.html")
    assert "Kinds of items" in (tmp_path / "page.html").read_text()


def test_errors_say_what_to_do(crowd):
    with pytest.raises(coterie.DataError, match="initial_error is for annotators without kinds"):
        coterie.DawidSkene(initial_error_strategy="addition").fit(
            crowd.annotations, None, pd.DataFrame(), kinds=crowd.kinds
        )
    model = coterie.DawidSkene().fit(crowd.annotations, kinds=crowd.kinds)
    with pytest.raises(coterie.DataError, match="was told the kinds"):
        model.update([("q001", "somebody", crowd.annotations.classes[0])])
