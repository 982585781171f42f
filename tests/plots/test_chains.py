"""Traces of chains, and calibration: what is drawn are the numbers, where they can be read."""

from dataclasses import replace

import numpy as np
import pytest

from builders.plotted import (
    BURN_IN,
    CHAINS,
    DRAWS,
    THIN,
    TRUTH,
    annotations,
    sampled,
    segments,
    texts,
)
from coterie.errors import DataError
from coterie.metrics import expected_calibration_error, reliability
from coterie.plots import Plots

# Trace


def test_trace_is_one_line_a_chain_at_its_sweeps(posterior):
    ax = Plots(posterior).trace("log_joint")
    assert len(ax.lines) == CHAINS
    for line, values in zip(ax.lines, posterior.draws.trace["log_joint"], strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values)
        assert line.get_xdata().tolist() == list(range(BURN_IN + 1, BURN_IN + DRAWS * THIN + 1))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sweep", "log joint")


def test_the_number_of_coteries_is_drawn_at_the_kept_draws_and_apart(posterior):
    ax = Plots(posterior).trace()
    assert ax.get_ylabel() == "number of coteries"
    for line, values in zip(ax.lines, posterior.n_coteries, strict=True):
        np.testing.assert_allclose(line.get_ydata(), values, rtol=0, atol=0.06)
        last = BURN_IN + DRAWS * THIN
        assert line.get_xdata().tolist() == list(range(BURN_IN + THIN, last + 1, THIN))
    assert len({float(line.get_ydata()[0] % 1) for line in ax.lines}) == CHAINS
    assert all(tick == int(tick) for tick in ax.get_yticks())


@pytest.mark.parametrize("chains", [1, CHAINS])
@pytest.mark.parametrize("always", [1, 7])
def test_a_number_of_coteries_that_never_changes_can_be_read(posterior, chains, always):
    counts = np.full((chains, DRAWS), always)
    draws = replace(
        posterior.draws,
        confusion=posterior.draws.confusion[:chains],
        class_balance=posterior.draws.class_balance[:chains],
        partition=posterior.draws.partition[:chains],
        n_coteries=counts,
        trace={"log_joint": posterior.draws.trace["log_joint"][:chains]},
    )
    ax = Plots(replace(posterior, draws=draws)).trace()
    assert ax.get_yticks().tolist() == [always - 1, always, always + 1]
    assert ax.get_ylim() == (always - 1, always + 1)
    places = np.array([line.get_ydata() for line in ax.lines])
    np.testing.assert_allclose(places, counts, rtol=0, atol=0.06 if chains > 1 else 0)
    dot = ax.lines[0].get_markersize() / 72 * ax.figure.dpi
    assert np.ptp(ax.transData.transform([(0, y) for y in places[:, 0]])[:, 1]) <= 1.5 * dot


def test_chains_keep_their_numbers_when_one_was_left_out():
    ax = Plots(sampled(run={"left_out": {"2": "mirrored"}})).trace()
    assert [line.get_label() for line in ax.lines] == ["1", "3", "4"]


def test_a_class_total_is_named_by_its_class(posterior):
    assert Plots(posterior).trace("class_total[1]").get_ylabel() == "items of class yes"


def test_the_name_of_a_class_is_shortened_and_its_label_wrapped():
    classes = ("no", "Politics (domestic $ affairs)")
    ax = Plots(sampled(annotations(classes=classes))).trace("class_total[1]")
    assert ax.get_ylabel() == "items of class\nPolitics (…airs)"
    ax.figure.canvas.draw()
    box = ax.yaxis.label.get_window_extent()
    assert box.y0 > -1
    assert box.y1 < ax.figure.bbox.height + 1


def test_an_unknown_quantity_is_refused_with_those_there_are(posterior):
    with pytest.raises(DataError, match="no trace of 'rhat'; there are n_coteries, log_joint, cl"):
        Plots(posterior).trace("rhat")


def test_a_trace_without_watched_quantities(posterior):
    bare = replace(posterior, draws=replace(posterior.draws, trace={}))
    (line, *_) = Plots(bare).trace().lines
    assert line.get_xdata()[0] == BURN_IN + 1


# Calibration


def test_calibration_draws_the_bins_of_reliability(posterior):
    ax = Plots(posterior).calibration(TRUTH, bins=5)
    table = reliability(posterior.probabilities(), TRUTH, bins=5)
    table = table[table["items"] > 0]
    diagonal, curve = ax.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    np.testing.assert_array_equal(curve.get_xydata(), table[["confidence", "accuracy"]])
    error = expected_calibration_error(posterior.probabilities(), TRUTH, bins=5)
    counts = [str(items) for items in table["items"]]
    assert ax.get_title() == f"ECE {error:.3f}"
    assert texts(ax) == ["items", *counts]
    centres = [text.get_position()[0] for text in ax.texts[1:]]
    np.testing.assert_allclose(centres, (table["low"] + table["high"]) / 2)
    ends = segments(ax)
    np.testing.assert_array_equal(ends[:, 0, 0], table["confidence"])
    assert (ends[:, 0, 1] <= table["accuracy"]).all()
    assert (ends[:, 1, 1] >= table["accuracy"]).all()


def test_items_with_gold_are_not_scored(posterior):
    gold = np.full(12, -1)
    gold[:5] = 1
    with_gold = replace(posterior, annotations=posterior.annotations.with_gold_codes(gold))
    ax = Plots(with_gold).calibration(TRUTH)
    assert sum(int(count) for count in texts(ax)[1:]) == 12 - 5


def test_counts_that_would_touch_are_turned(posterior):
    few = Plots(posterior).calibration(TRUTH, bins=4)
    many = Plots(posterior).calibration(TRUTH, bins=100)
    assert {text.get_rotation() for text in few.texts[1:]} == {0}
    assert {text.get_rotation() for text in many.texts[1:]} == {90}


@pytest.mark.parametrize("bins", [4, 100])
def test_the_calibration_error_is_written_above_everything(posterior, bins):
    ax = Plots(posterior).calibration(TRUTH, bins=bins)
    ax.figure.canvas.draw()
    bottom = ax.title.get_window_extent().y0
    assert all(text.get_window_extent().y1 < bottom for text in ax.texts)
    assert ax.bbox.y1 < bottom
