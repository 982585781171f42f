"""Pictures in general: axes, figures, settings, names, models that lack something."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from builders.plotted import CHAINS, EVERY, annotations, point, sampled, segments, ticks
from coterie import IBCC
from coterie.errors import CoterieError, DataError, MissingExtraError
from coterie.plots import Plots
from coterie.posterior import Draws


@pytest.mark.parametrize("name", EVERY)
def test_given_axes_are_drawn_into_and_returned(posterior, name):
    figure, (left, right) = pyplot.subplots(1, 2)
    assert EVERY[name](Plots(posterior), right) is right
    assert pyplot.get_fignums() == [figure.number]
    assert right.has_data()
    assert not left.has_data()
    figure.canvas.draw()  # whatever cannot be drawn shows here


@pytest.mark.parametrize("name", EVERY)
def test_axes_of_a_figure_outside_pyplot_will_do(posterior, name):
    figure = Figure(layout="compressed")
    ax = figure.subfigures(1, 2)[1].subplots()
    assert EVERY[name](Plots(posterior), ax) is ax
    figure.canvas.draw()
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("name", EVERY)
def test_without_axes_there_is_one_figure_of_one_column_and_settings_stay(posterior, name):
    before = dict(mpl.rcParams)
    ax = EVERY[name](Plots(posterior))
    assert pyplot.get_fignums() == [ax.figure.number]
    assert ax.figure.get_size_inches()[0] <= 3.3
    assert ax.xaxis.label.get_fontsize() == 8
    assert dict(mpl.rcParams) == before
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@pytest.mark.parametrize("name", EVERY)
def test_no_text_leaves_a_new_figure(posterior, name):
    ax = EVERY[name](Plots(posterior))
    ax.figure.canvas.draw()
    width, height = ax.figure.bbox.size
    box = ax.get_tightbbox()
    assert min(box.x0, box.y0) > -1  # rounding of a dot
    assert max(box.x1 - width, box.y1 - height) < 1


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("ax", [Figure(), np.array(Figure().subplots(2)), 3], ids=type)
def test_what_is_no_axes_is_refused(posterior, name, ax):
    with pytest.raises(DataError, match=f"ax must be one Axes .*, got {type(ax).__name__}; "):
        EVERY[name](Plots(posterior), ax)


def test_a_failed_plot_leaves_no_figure(posterior, monkeypatch):
    monkeypatch.setattr("coterie.plots.plots.draw_trace", lambda ax, trace: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Plots(posterior).trace()
    assert pyplot.get_fignums() == []


def test_the_posterior_has_them_as_plot(posterior):
    assert posterior.plot.confusion("bob").get_title() == "annotator bob"
    assert "confusion" in repr(posterior.plot)


def test_matplotlib_is_imported_only_to_draw():
    code = "import coterie.plots, sys; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", EVERY)
def test_without_matplotlib_the_remedy_is_named(posterior, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'plot needs .*: pip install "coterie\[plots\]"'):
        EVERY[name](Plots(posterior))


# Models that lack what a picture needs


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (
            lambda plot: plot.cooccurrence(),
            "Point finds no coteries; fit a model that does, such as Consensus",
        ),
        (
            lambda plot: plot.coteries(),
            "Point finds no coteries; fit a model that does, such as Consensus",
        ),
        (
            lambda plot: plot.confusion(coterie=1),
            "Point finds no coteries; fit a model that does, such as Consensus",
        ),
        (
            lambda plot: plot.annotators(k=3),
            "Point finds no coteries; fit a model that does, such as Consensus",
        ),
        (lambda plot: plot.trace(), "Point gives a point estimate without a trace"),
        (lambda plot: plot.trace("log_joint"), "Point gives a point estimate without a trace"),
    ],
)
def test_a_point_estimate_says_what_it_lacks(draw, sentence):
    with pytest.raises(CoterieError, match=sentence):
        draw(Plots(point()))
    assert pyplot.get_fignums() == []


def test_a_sampler_without_coteries(posterior):
    draws = posterior.draws
    plain = Draws(draws.confusion, draws.class_balance, trace=draws.trace)
    plot = Plots(replace(posterior, draws=plain, model="IBCC", abilities=IBCC.abilities))
    for draw in (plot.cooccurrence, plot.coteries, lambda: plot.trace("n_coteries")):
        with pytest.raises(CoterieError, match="IBCC finds no coteries"):
            draw()
    ax = plot.trace()
    assert (len(ax.lines), ax.get_ylabel()) == (CHAINS, "log joint")
    with pytest.raises(DataError, match="no trace of 'x'; there are log_joint, n_coteries"):
        plot.trace("x")
    ax = plot.annotators()
    assert (len(ax.lines), len(segments(ax)), ax.get_legend()) == (1, 6, None)


# Names


ODD = [
    r"$\frac{1}{0$",
    "$5 or $6",
    "über_ß λ",
    "two\nlines",
    r"\alpha^~{}",
    "long " * 20,
    "50 % & #",
]


def odd_posterior():
    data = annotations([*ODD, "nobody"], ("$x^$y$", "no"), ("$unsure$",))
    return sampled(data, blocks=[0, 0, 0, 0, 0, 1, 1, 0])


def test_names_are_shown_as_they_are_written():
    ax = Plots(odd_posterior()).annotators()
    ax.figure.canvas.draw()
    shown = set()
    for label in ax.get_xticklabels():
        text, math = label._preprocess_math(label.get_text())
        assert math is False
        shown.add(text)
    assert {r"$\frac{1}{0$", "$5 or $6", "über_ß λ", "two lines", "long long … long"} <= shown


@pytest.mark.parametrize("name", EVERY)
def test_odd_names_can_be_drawn(name):
    truth = {f"q{i:02}": "no" for i in range(12)}
    plot = Plots(odd_posterior())
    ax = plot.calibration(truth) if name == "calibration" else EVERY[name](plot)
    ax.figure.canvas.draw()
    title = plot.confusion(ODD[0]).title
    assert title._preprocess_math(title.get_text()) == (f"annotator {ODD[0]}", False)


def test_signs_that_turn_the_writing_are_replaced():
    names = ["a\u202eb", "c\u2067d\u2069", "e\u200f", "f", "g"]
    ax = Plots(sampled(annotations(names), blocks=[0, 0, 0, 1, 1])).cooccurrence()
    assert set(ticks(ax.yaxis)) == {"a\ufffdb", "c\ufffdd\ufffd", "e\ufffd", "f"}


@pytest.mark.parametrize(
    ("name", "spelt"),
    [("\u200b", "U+200B"), ("\u2060\ufeff", "U+2060 U+FEFF"), (" \t", r"' \t'")],
)
def test_names_of_which_nothing_can_be_seen_are_spelt(name, spelt):
    shown = ticks(Plots(point(annotations([name, "b", "c"]))).annotators().xaxis)
    assert set(shown) == {spelt, "b"}


@pytest.mark.parametrize("letter", ["i", "m"])
@pytest.mark.parametrize(("inches", "panels"), [(None, 1), (4, 1), (3.3, 2)])
def test_long_titles_keep_to_their_place(letter, inches, panels):
    names = [letter * length for length in (1, 12, 30, 1000)]
    plot = Plots(point(annotations(names)))
    for name in names:
        axes = [None]
        if inches is not None:
            axes = np.ravel(Figure((inches, 3), layout="compressed").subplots(1, panels)).tolist()
        axes = [plot.confusion(name, ax=ax) for ax in axes]
        axes[0].figure.canvas.draw()
        boxes = [ax.title.get_window_extent() for ax in axes]
        assert boxes[0].x0 > -1
        assert boxes[-1].x1 < axes[0].figure.bbox.width + 1
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
        assert max(len(ax.get_title().split()[1]) for ax in axes) <= 16
        assert len(name) > 1 or axes[0].get_title().split() == ["annotator", name]


def test_long_names_that_begin_alike_can_be_told_apart():
    names = [f"https://example.org/{l}.jpg" for l in range(6)]
    shown = ticks(Plots(point(annotations(names))).annotators().xaxis)
    assert sorted(shown) == [f"https://ex…{l}.jpg" for l in range(5)]


def test_tex_gets_names_it_can_set():
    with mpl.rc_context({"text.usetex": True}):
        figure = Figure()
        ax = Plots(odd_posterior()).annotators(ax=figure.subplots())
        shown = ticks(ax.xaxis)
        assert ax.get_ylabel() == r"accuracy (95 \% interval)"
    assert r"\textbackslash{}alpha\textasciicircum{}\textasciitilde{}\{\}" in shown
    assert r"50 \% \& \#" in shown
