"""Outcomes set side by side: the league, and what people and machines read of it."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import metrics
from coterie.metrics import score
from coterie.metrics.scores import mean_gap, pool_tables, pooled_gap
from coterie.studies import league_pages as tables
from coterie.studies.league import Row, make_league, mean_interval
from coterie.studies.league_pages import (
    CURVES,
    About,
    kind,
    make_pages,
    make_record,
    pooled,
    pooled_table,
    scale,
)

BASE = metrics.score(pd.DataFrame({"x": [1.0], "y": [0.0]}), {0: "x"})


def ok(dataset, model, hit, log_loss=0.5, **changed):
    right = pd.Series(hit, dtype=float)
    score = replace(
        BASE,
        items=len(right),
        accuracy=right.mean(),
        balanced_accuracy=right.mean(),
        log_loss=log_loss,
        calibration_error=0.125,
        right=right,
    )
    return Row(dataset, model, "ok", score=score, seconds=2.0)._replace(**changed)


# ---- the league


@pytest.fixture
def league():
    """Three models on four data sets: d3 has no truth, and `slow` fails on d2."""
    base = [1, 1, 0, 0, 0, 0, 0.5, 0.5]
    good = [1, 1, 1, 1, 0, 0, 0.5, 0.5]
    return make_league(
        ["d1", "d2", "d3", "d4"],
        ["majority", "ds", "slow"],
        [
            ok("d4", "slow", good, coteries=2.25),
            ok("d4", "ds", base[::-1]),
            ok("d4", "majority", base),
            ok("d1", "majority", base, log_loss=1.0),
            ok("d1", "ds", good, seconds=0.5),
            ok("d1", "slow", base, notes=("look | <here>",)),
            ok("d2", "majority", base),
            ok("d2", "ds", [0, *base[1:]]),
            Row("d2", "slow", "timeout", "not done after 3 s"),
            *(Row("d3", m, "no truth", "nothing") for m in ("majority", "ds", "slow")),
        ],
    )


def test_rows_are_in_order_and_against_the_vote(league):
    order = [(row.dataset, row.model) for row in league.rows]
    assert order == [(d, m) for d in league.datasets for m in league.models]
    assert league.row("d1", "majority").difference is None
    assert league.row("d2", "slow").difference is None
    difference = league.row("d1", "ds").difference
    assert difference == mean_interval([0, 0, 1, 1, 0, 0, 0, 0])
    assert difference.mean == 0.25
    # The same accuracy on other items: no difference, but an interval around it.
    level = league.row("d4", "ds").difference
    assert level.mean == 0
    assert level.low < 0 < level.high


def test_means_run_over_the_common_data_sets(league):
    assert league.common == ("d1", "d4")
    assert league.without_truth == ("d3",)
    majority, ds, slow = league.standings
    assert (majority.scored, majority.failed) == (3, 0)
    assert (slow.scored, slow.failed) == (2, 1)
    assert majority.accuracy == 0.375
    assert majority.log_loss == 0.75
    assert majority.difference is majority.worst is None
    assert ds.difference == (0.125, None, None)  # two data sets: no interval
    assert ds.worst == ("d4", 0)  # d2 is worse, but not common
    assert slow.worst == ("d1", 0)
    assert ds.seconds == 2.5
    assert (league.best("d1"), league.best("d2")) == ({"ds"}, {"majority"})
    assert league.best("d3") == set()


def test_the_mean_has_an_interval_over_data_sets():
    names = [f"d{n}" for n in range(6)]
    hits = [[1, 0], [1, 1], [1, 1], [0, 1], [0, 0], [1, 1]]
    outcomes = [ok(d, "majority", [1, 0]) for d in names]
    outcomes += [ok(d, "ds", hit) for d, hit in zip(names, hits, strict=True)]
    standing = make_league(names, ["majority", "ds"], outcomes).standings[1]
    assert standing.difference == mean_interval([0, 0.5, 0.5, 0, -0.5, 0.5])
    assert standing.worst == ("d4", -0.5)


def test_a_model_that_never_succeeds_takes_nobody_with_it():
    league = make_league(
        ["d1"], ["majority", "bad"], [ok("d1", "majority", [1, 0]), Row("d1", "bad", "crash")]
    )
    assert league.common == ("d1",)
    assert league.standings[0].accuracy == 0.5
    assert league.standings[1].accuracy is None
    assert league.standings[1].failed == 1


def test_a_model_that_scores_other_items_is_a_failure():
    outcomes = [ok("d1", "majority", [1, 0]), ok("d1", "ds", [1])]
    row = make_league(["d1"], ["majority", "ds"], outcomes).row("d1", "ds")
    assert (row.status, row.score, row.difference) == ("error", None, None)
    assert row.reason == "it labelled 1 of the 2 items that the vote labelled"


def test_without_the_vote_there_is_no_difference():
    outcomes = [Row("d1", "majority", "crash", "?"), ok("d1", "ds", [1, 0])]
    league = make_league(["d1"], ["majority", "ds"], outcomes)
    assert league.row("d1", "ds").difference is None
    assert league.standings[1].difference is None
    assert "<circle class=" not in make_pages(league, ABOUT)["compare.html"]


# ---- what people and machines read


def test_numbers_as_they_are_written():
    assert [tables.points(x) for x in (0.0125, -0.0125, -1e-9)] == ["+1.25", "−1.25", "0.00"]
    assert tables.interval(mean_interval([0.01] * 5)) == "+1.00 to +1.00"


def test_tables_show_every_row_and_every_reason(league):
    grid = tables.row_table(league)
    assert len(grid.rows) == 9  # d3 has no truth
    assert {len(row) for row in grid.rows} == {len(grid.header)}
    assert grid.left == (0, 1)
    cells = dict(zip(grid.header, grid.rows[-1], strict=True))
    assert (cells["data set"], cells["model"], cells["coteries"]) == ("d4", "slow", "2.25")
    assert (cells["accuracy"], cells["vs vote"]) == ("62.50", "+25.00")
    failed = dict(zip(grid.header, grid.rows[5], strict=True))
    assert (failed["accuracy"], failed["seconds"]) == ("timeout", "–")
    _, failed, notes = tables.details(league)
    assert failed.rows == [
        ["d2", "slow", "timeout: not done after 3 s"],
        ["d3", "all", "no truth: nothing"],
    ]
    assert notes.rows == [["d1", "slow", "look | <here>"]]
    standing = tables.standing_table(league)
    assert standing.rows[2][:4] == ["slow", "2 of 3", "50.00", "+12.50"]
    assert standing.rows[2][-1] == "0.00 on d1"
    assert "the 2 data sets, of 3 with a truth" in tables.explanation(league)


def test_better_and_worse_than_the_vote_are_named_only_beyond_chance():
    vote = [1.0, 0.0] * 10
    outcomes = [ok(f"d{n}", "majority", vote) for n in range(1, 6)]
    hits = [[1] * 12 + [1, 0] * 4, [1] * 20, [0] * 20, vote[::-1], vote]
    outcomes += [ok(f"d{n}", "ds", hit) for n, hit in enumerate(hits, 1)]
    league = make_league([f"d{n}" for n in range(1, 6)], ["majority", "ds"], outcomes)
    (table, _) = tables.details(league)
    assert table.rows == [["ds", "d2, d1", "d3"]]  # the furthest first; d4 and d5 are even


def test_the_coteries_column_goes_where_there_are_none():
    league = make_league(["d1"], ["majority"], [ok("d1", "majority", [1, 0])])
    grid = tables.row_table(league)
    assert "coteries" not in grid.header
    assert dict(zip(grid.header, grid.rows[0], strict=True))["seconds"] == "2.0"


def test_the_headline_says_no_more_than_the_interval():
    def headline(*hits):
        names = [f"d{n}" for n in range(len(hits))]
        outcomes = [ok(d, "majority", [1, 0]) for d in names]
        outcomes += [ok(d, "ds", hit) for d, hit in zip(names, hits, strict=True)]
        return tables.headline(make_league(names, ["majority", "ds"], outcomes))

    assert "no model is better than the vote" in headline([0, 0])
    assert headline([1, 1]) == (
        "Highest mean accuracy: ds, 100.00 %, +50.00 points against the vote."
    )
    assert "which lies above zero" in headline(*[[1, 1]] * 5)
    assert "which holds zero" in headline([1, 1], [1, 1], [0, 0], [1, 0], [1, 0])
    nothing = make_league(["d1"], ["majority"], [Row("d1", "majority", "crash")])
    assert tables.headline(nothing) == "No model was scored on any data set."


ABOUT = About("coterie compare x", {"seed": 0, "sweeps": None, "memory_gigabytes": 4.0}, ("raw",))


FIELDS = [
    "dataset", "model", "status", "reason", "items", "accuracy", "balanced_accuracy", "log_loss",
    "brier_score", "calibration_error", "ties", "floor", "n_floored", "n_not_a_class", "n_gold",
    "n_without_truth", "n_not_in_data", "coteries", "seconds", "difference", "notes",
]  # fmt: skip


def test_the_record_is_plain_json(league):
    text = json.dumps(make_record(league, ABOUT), allow_nan=False)
    record = json.loads(text)
    assert (record["format"], record["version"]) == (2, coterie.__version__)
    assert (record["reference"], record["passed_over"]) == ("majority", ["raw"])
    assert (record["common"], record["without_truth"]) == (["d1", "d4"], ["d3"])
    assert record["settings"]["memory_gigabytes"] == 4
    assert len(record["rows"]) == 12
    assert all(list(row) == FIELDS for row in record["rows"])
    row = record["rows"][1]
    assert (row["dataset"], row["model"], row["status"]) == ("d1", "ds", "ok")
    assert row["difference"].keys() == {"mean", "low", "high"}
    assert row["accuracy"] == 0.625
    failed = record["rows"][5]
    assert (failed["status"], failed["reason"]) == ("timeout", "not done after 3 s")
    assert failed["accuracy"] is failed["difference"] is None
    assert failed.keys() == row.keys()
    assert (record["log_loss_floor"], row["floor"], row["ties"]) == (1e-4, 1e-4, "shared")
    assert record["standings"][1]["worst"] == {"dataset": "d4", "difference": 0}


BAD = "<script>alert('&')</script>"


@pytest.fixture
def hostile():
    """Names and messages that would be markup."""
    return make_league(
        [BAD, "a|b_*"],
        ["majority", BAD],
        [
            ok(BAD, "majority", [1, 0, 0, 0, 0]),
            ok(BAD, BAD, [1, 1, 0, 0, 0], notes=(BAD,)),
            ok("a|b_*", "majority", [1, 0]),
            Row("a|b_*", BAD, "error", BAD),
        ],
    )


def test_the_page_escapes_every_name_and_message(hostile):
    about = About(f"coterie compare '{BAD}'", {"duplicates": BAD}, (BAD,))
    page = make_pages(hostile, about)["compare.html"]
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 10
    assert not re.search(r"https?:|(?:src|href)=", page)  # it loads nothing
    assert "default-src &#39;none&#39;; " in page
    assert "script-src &#39;none&#39;; " in page
    assert "prefers-color-scheme: dark" in page


def test_the_page_marks_the_best_and_lists_failures(league):
    page = make_pages(league, ABOUT)["compare.html"]
    assert page.count('<td class="best">62.50') == 2  # ds on d1, slow on d4
    assert page.count('<span class="fail">timeout</span>') == 1
    assert "not done after 3 s" in page
    assert "no truth: nothing" in page
    assert "coterie compare x" in page
    assert "the model&#39;s own" in page
    assert page.count("<circle class=") == 5


def test_markdown_cells_hold_together(hostile, league):
    for case in (hostile, league):
        text = make_pages(case, ABOUT)["compare.md"]
        assert "<script" not in text
        for line in text.splitlines():
            if line.startswith("| "):
                bars = line.replace("\\|", "").count("|")
                assert bars in {4, 5, 11, 12}, line
    assert "Made by `coterie compare x`" in make_pages(league, ABOUT)["compare.md"]


def test_the_scale_holds_everything_and_zero():
    for ends in ([-0.031, 0.12], [0.2, 0.3], [-0.4, -0.1], [0.0], [], [-0.05, 0.05], [0.9, -0.9]):
        low, high, step = scale(ends)
        assert low < 0 < high
        assert all(low <= end <= high for end in ends)
        assert (high - low) / step <= 8
        assert (-low / step) == pytest.approx(round(-low / step))


def test_kinds_follow_the_interval():
    assert kind(mean_interval([0.5] * 5)) == "better"
    assert kind(mean_interval([-0.5] * 5)) == "worse"
    assert kind(mean_interval([-1, 1, 0, 0, 0])) == kind(mean_interval([1])) == kind(None) == "even"


# ---- pooled calibration: each data set counts once


def scored(sure, n_right, n_wrong):
    p = pd.DataFrame({"x": sure, "y": 1 - sure}, index=range(n_right + n_wrong))
    return score(p, dict(enumerate(["x"] * n_right + ["y"] * n_wrong)))


@pytest.fixture
def two_sets():
    rows = [
        Row("small", "majority", "ok", score=scored(0.85, 10, 0)),
        Row("large", "majority", "ok", score=scored(0.85, 400, 600)),
        Row("small", "ds", "ok", score=scored(0.55, 5, 5)),
        Row("large", "ds", "ok", score=scored(0.95, 900, 100)),
    ]
    return make_league(["small", "large"], ["majority", "ds"], rows)


def test_each_data_set_counts_once(two_sets):
    table = pooled(two_sets)["majority"]
    (row,) = table[table["items"] > 0].itertuples()
    assert (row.items, row.weight) == (1010, 1)
    assert (row.confidence, row.accuracy) == (pytest.approx(0.85), pytest.approx(0.7))
    assert pooled_gap(table) == pytest.approx(0.15)


def test_the_error_is_the_weighted_gap_over_items():
    """Written out: bins over all items, an item of a set of n weighing 1 / n."""
    rng = np.random.default_rng(0)
    tables, every = [], []
    for n in (30, 200, 1000):
        sure, right = rng.uniform(0.5, 1, n), rng.random(n) < 0.7
        p = pd.DataFrame({"x": sure, "y": 1 - sure})
        found = score(p, dict(enumerate(np.where(right, "x", "y"))))
        tables.append(found.calibration)
        every.append(pd.DataFrame({"sure": sure, "right": right, "weight": 1 / n / 3}))
    items = pd.concat(every)
    which = np.ceil(items["sure"] * 10)
    gap = ((items["right"] - items["sure"]) * items["weight"]).groupby(which).sum()
    assert pooled_gap(pool_tables(tables)) == pytest.approx(gap.abs().sum(), rel=1e-12)
    assert pooled_gap(pool_tables(tables[:1])) == pytest.approx(mean_gap(tables[0]), rel=1e-12)


def test_table_and_picture(two_sets):
    table = pooled_table(two_sets)
    assert table.header == ["sure", "majority", "ds"]
    assert table.rows == [
        ["50 to 60 %", "–", "50.00 (50 %)"],
        ["80 to 90 %", "70.00 (100 %)", "–"],
        ["90 to 100 %", "–", "90.00 (50 %)"],
        ["error", "0.150", "0.050"],
    ]
    pages = make_pages(two_sets, ABOUT)
    picture = pages[CURVES]
    assert picture.startswith('<svg xmlns="http://www.w3.org/2000/svg" class="curves"')
    dots = [tuple(map(float, dot)) for dot in re.findall('<circle cx="(.+?)" cy="(.+?)"', picture)]
    # sides of 150, of majority and then of ds: how sure, and how often right
    assert dots == [(127.5, 45.0), (82.5, 75.0), (142.5, 15.0)]
    assert picture.partition(" class")[2].rstrip() in pages["compare.html"]
    assert "(compare-calibration.svg)" in pages["compare.md"]
    record = json.loads(json.dumps(make_record(two_sets, ABOUT), allow_nan=False))
    assert record["pooled_calibration"]["ds"]["error"] == pytest.approx(0.05)
    assert len(record["pooled_calibration"]["ds"]["bins"]) == 2


def test_nothing_scored_is_no_picture():
    league = make_league(["d"], ["majority"], [Row("d", "majority", "crash")])
    assert pooled_table(league).rows == []
    pages = make_pages(league, ABOUT)
    assert not any("How sure" in pages[name] for name in ("compare.html", "compare.md"))
