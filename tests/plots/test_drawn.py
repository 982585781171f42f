"""What is drawn are the tables' numbers, in the tables' order."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

from builders.plotted import (
    TRUTH,
    annotations,
    image,
    point,
    sampled,
    segments,
    texts,
    ticks,
)
from coterie.errors import CoterieError, DataError
from coterie.plots import Plots
from coterie.plots.lines import draw_coteries

# Confusion


def check_matrix(ax, table):
    np.testing.assert_array_equal(image(ax), table.to_numpy())
    assert ticks(ax.xaxis) == [str(name) for name in table.columns]
    assert ticks(ax.yaxis) == [str(name) for name in table.index]
    cells = {text.get_position(): text.get_text() for text in ax.texts}
    assert cells == {
        (column, row): f"{share:.2f}" for (row, column), share in np.ndenumerate(table.to_numpy())
    }
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("true class", "given answer")


def test_confusion_of_an_annotator_with_an_extra_answer(posterior):
    ax = Plots(posterior).confusion("bob")
    check_matrix(ax, posterior.confusion("bob"))
    assert image(ax).shape == (2, 3)
    assert ax.images[0].get_clim() == (0, 1)


def test_confusion_of_a_coterie(posterior):
    ax = Plots(posterior).confusion(coterie=2)
    check_matrix(ax, posterior.confusion(coterie=2))
    assert ax.get_title() == "coterie 2"
    check_matrix(Plots(posterior).confusion(coterie=2, k=2), posterior.confusion(coterie=2, k=2))


def test_confusion_is_by_default_the_mean_of_those_with_labels(posterior):
    ax = Plots(posterior).confusion()
    np.testing.assert_allclose(image(ax), posterior.confusion_mean[:-1].mean(axis=0))
    assert ax.get_title() == "mean of all annotators"


def test_confusion_of_both_is_refused(posterior):
    with pytest.raises(CoterieError, match="not both"):
        Plots(posterior).confusion("bob", coterie=1)


def test_many_classes_get_a_colour_bar_instead_of_numbers():
    classes = [f"c{t}" for t in range(40)]
    posterior = point(annotations(classes=classes, extra=()))
    ax = Plots(posterior).confusion()
    assert texts(ax) == []
    (bar,) = ax.child_axes
    assert bar.get_ylabel() == "probability of the answer"
    shown = ticks(ax.yaxis)
    step = int(ax.get_yticks()[1])
    assert shown == classes[::step]
    assert len(shown) > 5


# Co-occurrence


def test_cooccurrence_stands_coterie_by_coterie_with_lines_between(posterior):
    ax = Plots(posterior).cooccurrence()
    order = ticks(ax.yaxis)
    point_estimate = posterior.partition()
    assert "gil" not in order  # no labels
    assert sorted(order) == ["ann", "bob", "cat", "dan", "eve", "fay"]
    group = [
        point_estimate.group[posterior.annotations.annotators.tolist().index(x)] for x in order
    ]
    assert group == [0, 0, 0, 1, 1, 2]
    np.testing.assert_array_equal(image(ax), posterior.cooccurrence(order))
    assert sorted(line.get_ydata()[0] for line in ax.lines[::2]) == [2.5, 4.5]
    assert sorted(line.get_xdata()[0] for line in ax.lines[1::2]) == [2.5, 4.5]
    assert (ax.get_xticks().tolist(), ticks(ax.xaxis)) == ([1, 3.5, 5], ["1", "2", "3"])
    assert ax.child_axes[0].get_ylabel() == "probability of sharing a coterie"


def test_cooccurrence_puts_the_surest_members_first():
    posterior = sampled(blocks=[0, 0, 0, 0, 1, 1, 0])
    partition = posterior.draws.partition
    partition[:, :5, 1] = 1  # ann, cat and dan stay, bob leaves for some draws
    order = ticks(Plots(posterior).cooccurrence().yaxis)
    membership = dict(
        zip(posterior.annotations.annotators, posterior.partition().membership, strict=True)
    )
    assert order[3] == "bob"
    assert membership["bob"] < min(membership[name] for name in order[:3])


def test_cooccurrence_of_some(posterior):
    ax = Plots(posterior).cooccurrence(["fay", "gil", "cat", "ann"])
    assert ticks(ax.yaxis) == ["cat", "ann", "fay"]  # as asked for where equally sure
    assert ticks(ax.xaxis) == ["1", "3"]
    assert ticks(Plots(posterior).cooccurrence(iter(["cat", "ann"])).yaxis) == ["cat", "ann"]
    for wrong in ("ann", 3):
        with pytest.raises(DataError, match=f"must be a list or None, got {wrong!r}"):
            Plots(posterior).cooccurrence(wrong)
    with pytest.raises(DataError, match="no annotators were asked for"):
        Plots(posterior).cooccurrence([])
    with pytest.raises(DataError, match="no annotator 'zoe'"):
        Plots(posterior).cooccurrence(["zoe"])
    with pytest.raises(CoterieError, match="none of these annotators has labels"):
        Plots(posterior).cooccurrence(["gil"])


def test_cooccurrence_of_many_leaves_out_names_and_crowded_numbers():
    names = [f"w{l:03}" for l in range(201)]
    posterior = sampled(annotations(names), blocks=[*range(100), *([100] * 101)])
    ax = Plots(posterior).cooccurrence()
    assert ticks(ax.yaxis) == []
    assert ax.get_ylabel() == "200 annotators, by coterie"
    assert ticks(ax.xaxis)[0] == "1"
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_cooccurrence_of_many_coteries_parts_those_it_can():
    names = [f"w{l:03}" for l in range(501)]
    large, small = np.repeat(np.arange(4), 75), np.arange(4, 205)
    posterior = sampled(annotations(names), blocks=[*large, *small])
    ax = Plots(posterior).cooccurrence()
    places = sorted({float(line.get_ydata()[0]) for line in ax.lines[::2]})
    assert len(places) == 4
    assert np.diff(places).min() * ax.bbox.height / ax.figure.dpi * 72 / 500 >= 4
    assert ticks(ax.xaxis) == ["1", "2", "3", "4"]
    assert ax.get_xlabel() == "coterie (lines for the first 4 of 204)"


@pytest.mark.parametrize("longest", [4, 40])
def test_names_beside_a_cooccurrence_do_not_overlap(longest):
    names = [f"{l:02}{'m' * longest}" for l in range(31)]
    ax = Plots(sampled(annotations(names), blocks=[0] * 31)).cooccurrence()
    ax.figure.canvas.draw()
    size = {label.get_fontsize() for label in ax.get_yticklabels()}
    room = ax.bbox.height / ax.figure.dpi * 72 / 30
    assert not size or max(size) <= room
    assert ax.get_ylabel() == ("annotator" if size else "30 annotators, by coterie")


def test_cooccurrence_of_too_many_is_refused(posterior, monkeypatch):
    monkeypatch.setattr("coterie.plots.matrices.MOST_ANNOTATORS", 5)
    with pytest.raises(CoterieError, match=r"6 annotators are more .*annotators=\[\.\.\.\]"):
        Plots(posterior).cooccurrence()
    Plots(posterior).cooccurrence(["ann", "bob"])


# Coteries and annotators


def test_coteries_have_their_intervals_the_largest_on_top(posterior):
    ax = Plots(posterior).coteries()
    table = posterior.coteries()
    row = np.arange(3)
    expected = np.stack(
        [np.stack([table["accuracy_low"], row], 1), np.stack([table["accuracy_high"], row], 1)], 1
    )
    np.testing.assert_allclose(segments(ax), expected)
    points = np.concatenate([line.get_xydata() for line in ax.lines])
    np.testing.assert_allclose(points, np.stack([table["accuracy"], row], 1))
    for label, (_, one) in zip(ticks(ax.yaxis), table.iterrows(), strict=True):
        flat = " ".join(label.split())
        assert flat.startswith(f"{one['coterie']}: {one['role']} {one['size']} annotator")
    assert ax.yaxis_inverted()
    assert ax.get_xlim() == (0, 1)
    assert len({line.get_color() for line in ax.lines}) == 3
    assert len(ticks(Plots(posterior).coteries(k=2).yaxis)) == 2


def test_of_many_coteries_the_largest_are_drawn_and_the_others_counted():
    names = [f"w{l:03}" for l in range(151)]
    ax = Plots(sampled(annotations(names), blocks=range(151))).coteries()
    assert len(ticks(ax.yaxis)) == len(segments(ax)) == 20
    n = len(sampled(annotations(names), blocks=range(151)).coteries())
    assert ax.get_ylabel() == f"coterie, {n - 20} smaller ones not shown"
    assert ax.figure.get_size_inches()[1] < 11


@pytest.mark.parametrize("inches", [3, 1.6, 0.9])
def test_labels_of_coteries_do_not_overlap(inches):
    posterior = sampled(annotations([f"w{l:02}" for l in range(14)]), blocks=[0, 0, *range(1, 13)])
    table = posterior.coteries()
    assert len(table) == 12
    ax = Plots(posterior).coteries(ax=Figure((4, inches), layout="compressed").subplots())
    ax.figure.canvas.draw()
    labels = ax.get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
    assert min(label.get_fontsize() for label in labels) >= 4.5
    assert len(segments(ax)) == len(labels) > 3
    first = f"1: {table['role'][0]} ({table['size'][0]})"
    assert labels[0].get_text() == first
    left_out = "" if inches > 1 else f", {12 - len(labels)} smaller ones not shown"
    assert " ".join(ax.get_ylabel().split()) == f"coterie (annotators){left_out}"
    if inches > 1:  # a word is wider than an inch
        box = ax.yaxis.label.get_window_extent()
        assert box.y0 > -1
        assert box.y1 < ax.figure.bbox.height + 1


def test_long_roles_take_two_lines(posterior):
    table = posterior.coteries().assign(role=f"confuses {'very ' * 20}long with short")
    for inches, lines in ((4, 3), (0.8, 1)):
        ax = Figure((4, inches)).subplots()
        draw_coteries(ax, table)
        shown = [label.split("\n") for label in ticks(ax.yaxis)]
        assert {len(label) for label in shown} == {lines}
        assert max(len(line) for label in shown for line in label) <= 26 + len(" (3)")


def test_annotators_are_ranked_with_their_intervals(posterior):
    ax = Plots(posterior).annotators()
    table = posterior.annotators()
    table = table[table["n_labels"] > 0].sort_values("accuracy", ascending=False)
    assert ticks(ax.xaxis) == table["annotator"].tolist()
    points = np.concatenate([line.get_xydata() for line in ax.lines])
    points = points[np.argsort(points[:, 0])]
    np.testing.assert_allclose(points[:, 1], table["accuracy"])
    ends = segments(ax)
    ends = ends[np.argsort(ends[:, 0, 0])]
    np.testing.assert_allclose(ends[:, 0, 1], table["accuracy_low"])
    np.testing.assert_allclose(ends[:, 1, 1], table["accuracy_high"])


def test_annotators_have_one_look_a_coterie(posterior):
    ax = Plots(posterior).annotators()
    table = posterior.annotators().set_index("annotator")
    order = ticks(ax.xaxis)
    for line in ax.lines:
        for place in line.get_xdata():
            assert str(table.loc[order[int(place)], "coterie"]) == line.get_label()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1", "2", "3"]
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 3
    coteries = Plots(posterior).coteries()
    assert [line.get_color() for line in ax.lines] == [line.get_color() for line in coteries.lines]


def test_coteries_beyond_the_palette_share_a_grey():
    names = [f"w{l:02}" for l in range(11)]
    posterior = sampled(annotations(names), blocks=range(11))
    legend = Plots(posterior).annotators().get_legend()
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == ["1", "2", "3", "4", "5", "6", "7", "others"]
    assert sum(len(line.get_xdata()) for line in legend.axes.lines) == 10


def test_many_annotators_are_counted_instead_of_named():
    names = [f"w{l:03}" for l in range(101)]
    ax = Plots(point(annotations(names))).annotators()
    assert ticks(ax.xaxis) == []
    assert ax.get_xlabel() == "100 annotators, by accuracy"


def test_a_point_estimate_has_no_intervals():
    posterior = point()
    ax = Plots(posterior).annotators()
    (line,) = ax.lines
    table = posterior.annotators().query("n_labels > 0")
    assert line.get_ydata().tolist() == sorted(table["accuracy"], reverse=True)
    assert len(ax.collections) == 0
    assert ax.get_legend() is None
    assert ax.get_ylabel() == "accuracy"
    check_matrix(Plots(posterior).confusion("ann"), posterior.confusion("ann"))
    assert len(Plots(posterior).calibration(TRUTH).lines) == 2
