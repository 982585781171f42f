"""DynamicIBCC as people use it: times read, drift found, constant annotators called constant."""

import warnings

import numpy as np
import pandas as pd
import pytest

import coterie
from builders import saved

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("drifting", items=120, annotators=6, classes=2, random_state=1)


@pytest.fixture(scope="module")
def posterior(crowd):
    model = coterie.DynamicIBCC(sweeps=400, burn_in=150, chains=2, random_state=0)
    return model.fit(crowd.annotations).posterior_


def test_drift_is_found_and_dated_and_the_steady_are_called_steady(crowd, posterior):
    table = posterior.drift().set_index("annotator")
    turned = crowd.groups == "turned"
    assert table["changed"].is_monotonic_decreasing
    assert (table["changed"][turned] > 0.95).all()
    assert (table["changed"][~turned] < 0.3).all()
    assert (table["last"][turned] < table["first"][turned] - 0.15).all()
    assert (table["after"][turned] - table["n_labels"][turned] / 2).abs().max() < 20
    assert table["after"][~turned].isna().all()
    assert table["when"][~turned].isna().all()
    for who in crowd.groups.index[turned]:
        course = posterior.trajectory(who)
        assert course["time"][table["after"][who]] == table["when"][who]
        assert course.columns.tolist() == ["time", "accuracy", "accuracy_low", "accuracy_high"]
        n = len(course)
        falls = course["accuracy"].to_numpy() < (course["accuracy"].max() + 1 / 2) / 2
        assert abs(np.argmax(falls) - n / 2) < n / 4
    assert posterior.score(crowd.truth).accuracy >= 0.95


def test_a_crowd_in_which_nobody_changes_is_called_constant():
    still = coterie.simulate({"expert": 2, "novice": 1}, items=150, annotators=6, random_state=4)
    frame = still.annotations.to_frame().sample(frac=1, random_state=0)
    data = coterie.read(frame.assign(time=range(len(frame))), time="time")
    model = coterie.DynamicIBCC(sweeps=300, burn_in=100, chains=2, random_state=0)
    table = model.fit(data).posterior_.drift()
    assert (table["changed"] < 0.5).all()
    assert table["changed"].mean() < 0.25


def test_the_margin_says_how_far_is_a_change(posterior):
    changed = [
        posterior.drift(margin=margin).set_index("annotator")["changed"].sort_index()
        for margin in (0.0, 0.1, 0.9)
    ]
    assert (changed[0] >= changed[1]).all()
    assert (changed[1] >= changed[2]).all()
    # The smallest step is a move: what is left is the probability of a walk without steps.
    static = posterior.drift().set_index("annotator")["static"].sort_index()
    np.testing.assert_allclose(1 - changed[0], static, atol=0.02)
    with pytest.raises(coterie.DataError, match=r"drift\(margin=...\) must be at least 0 and"):
        posterior.drift(margin=1)


def test_saved_checkpointed_and_pickled(crowd, posterior, tmp_path):
    posterior.save(tmp_path / "run")
    again = coterie.load(tmp_path / "run")
    saved.same(again, posterior)
    pd.testing.assert_frame_equal(again.drift(), posterior.drift())
    settings = {"sweeps": 40, "burn_in": 20, "chains": 2, "random_state": 3}
    fresh = coterie.DynamicIBCC(**settings).fit(crowd.annotations).posterior_
    for _ in range(2):
        model = coterie.DynamicIBCC(checkpoint=tmp_path / "check", **settings)
        found = model.fit(crowd.annotations).posterior_
        np.testing.assert_array_equal(found.item_probability, fresh.item_probability)
        np.testing.assert_array_equal(found.draws.confusion, fresh.draws.confusion)


def test_the_order_of_rows_changes_nothing_and_gold_is_clamped(crowd):
    frame = crowd.annotations.to_frame()
    settings = {"sweeps": 40, "burn_in": 20, "chains": 1, "random_state": 3}
    one, two = (
        coterie.DynamicIBCC(**settings).fit(
            coterie.read(some, time="time"), true_labels={"q001": "yes"}
        )
        for some in (frame, frame.sample(frac=1, random_state=0))
    )
    np.testing.assert_array_equal(one.posterior_.item_probability, two.posterior_.item_probability)
    assert one.predict_proba().loc["q001", "yes"] == 1


def test_times_are_read_as_platforms_write_them():
    frame = pd.DataFrame(
        {
            "item": ["p", "q", "r"],
            "annotator": ["ann", "bob", "ann"],
            "label": ["a", "b", "a"],
            "time": ["2017-01-09T22:06:01", "Mon Jan 09 14:06:01 PST 2017", "1/9/2017 22:06:01"],
        }
    )
    times = coterie.read(frame, time="time").times
    assert times.time.tolist() == [1483999561.0] * 3


def test_errors_say_what_is_missing(crowd):
    frame = crowd.annotations.to_frame()
    with pytest.raises(coterie.DataError, match=r"needs the time of every label; read the labels"):
        coterie.DynamicIBCC().fit(frame[["item", "annotator", "label"]])
    with pytest.raises(coterie.CoterieError, match="does not know of time; fit DynamicIBCC"):
        coterie.MajorityVote().fit(crowd.annotations).posterior_.drift()
    frame["time"] = frame["time"].astype(object)
    frame.loc[3, "time"] = None
    with pytest.raises(coterie.DataError, match=r"row 3 .*has no time"):
        coterie.read(frame, time="time")
    frame.loc[3, "time"] = "soon"
    with pytest.raises(coterie.DataError, match=r"'soon' in row 3.* is neither a number"):
        coterie.read(frame, time="time")
    for wrong in ({"clock": "sun"}, {"unit": 0}, {"step_size": 0}):
        with pytest.raises(coterie.DataError, match=next(iter(wrong))):
            coterie.DynamicIBCC(**wrong).fit(crowd.annotations)


def test_first_and_last_are_so_in_time():
    rows = [("a", "x", "0", "2026-01-02"), ("b", "x", "1", "2026-01-01T10:00:00+02:00")]
    rows += [("a", "y", "0", "2026-01-03"), ("a", "x", "1", "2025-12-31")]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label", "when"])
    first = coterie.read(frame, time="when", duplicates="first").to_frame()
    last = coterie.read(frame, time="when", duplicates="last").to_frame()
    assert first.loc[0, "label"] == "1"
    assert last.loc[0, "label"] == "0"
    assert first["time"].is_monotonic_increasing is False
    hidden = coterie.read(frame, time="when", duplicates="keep", anonymise=True)
    assert sorted(hidden.to_frame()["time"]) == sorted(
        coterie.read(frame, time="when", duplicates="keep").to_frame()["time"]
    )


def test_the_report_and_the_picture_say_who_changed(crowd, posterior, tmp_path):
    posterior.report(tmp_path / "page.html")
    assert "Who changed" in (tmp_path / "page.html").read_text("utf-8")
    ax = posterior.plot.drift(["a1", "a6"])
    assert (ax.get_xlabel(), ax.get_ylabel(), len(ax.lines)) == ("moment", "accuracy", 2)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a1", "a6"]


def test_more_labels_with_their_times_join(crowd):
    """Without times they are refused; with them the model is that of all labels."""
    frame = crowd.annotations.to_frame()
    model = coterie.DynamicIBCC(sweeps=60, burn_in=20, chains=2, random_state=0, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame.iloc[:-40], time="time").update(frame.iloc[-40:], time="time")
        joined = model.posterior_.annotations
        assert joined.n_labels == len(frame)
        np.testing.assert_array_equal(joined.times.time, crowd.annotations.times.time)
        assert len(model.posterior_.drift()) == crowd.annotations.n_annotators
        with pytest.raises(coterie.DataError, match="needs the time of every label"):
            model.update([("another", "somebody", crowd.annotations.classes[0])])
