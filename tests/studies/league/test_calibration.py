"""Pooled calibration: each data set counts once, and the table and the picture say the same."""

import json

import numpy as np
import pandas as pd
import pytest

from coterie.metrics import score
from coterie.metrics.scores import mean_gap, pool_tables, pooled_gap
from coterie.studies.league import Row, make_league
from coterie.studies.league.calibration import SIDE, curves, pooled, pooled_table
from coterie.studies.league.page import make_curves, make_page
from coterie.studies.league.record import About, make_record
from coterie.studies.league.write import make_markdown

ABOUT = About("coterie compare x", {})


def scored(sure, n_right, n_wrong):
    p = pd.DataFrame({"x": sure, "y": 1 - sure}, index=range(n_right + n_wrong))
    return score(p, dict(enumerate(["x"] * n_right + ["y"] * n_wrong)))


@pytest.fixture
def league():
    rows = [
        Row("small", "majority", "ok", score=scored(0.85, 10, 0)),
        Row("large", "majority", "ok", score=scored(0.85, 400, 600)),
        Row("small", "ds", "ok", score=scored(0.55, 5, 5)),
        Row("large", "ds", "ok", score=scored(0.95, 900, 100)),
    ]
    return make_league(["small", "large"], ["majority", "ds"], rows)


def test_each_data_set_counts_once(league):
    table = pooled(league)["majority"]
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


def test_table_and_picture(league):
    table = pooled_table(league)
    assert table.header == ["sure", "majority", "ds"]
    assert table.rows == [
        ["50 to 60 %", "–", "50.00 (50 %)"],
        ["80 to 90 %", "70.00 (100 %)", "–"],
        ["90 to 100 %", "–", "90.00 (50 %)"],
        ["error", "0.150", "0.050"],
    ]
    _, ds = curves(league)
    assert [(round(dot.x / SIDE, 2), round(1 - dot.y / SIDE, 2)) for dot in ds.dots] == [
        (0.55, 0.5),
        (0.95, 0.9),
    ]
    picture = make_curves(league)
    assert picture.startswith('<svg xmlns="http://www.w3.org/2000/svg" class="curves"')
    assert picture.count("<circle") == 3
    assert picture.partition(" class")[2].rstrip() in make_page(league, ABOUT)
    assert "(compare-calibration.svg)" in make_markdown(league, ABOUT)
    record = json.loads(json.dumps(make_record(league, ABOUT), allow_nan=False))
    assert record["pooled_calibration"]["ds"]["error"] == pytest.approx(0.05)
    assert len(record["pooled_calibration"]["ds"]["bins"]) == 2


def test_nothing_scored_is_no_picture():
    league = make_league(["d"], ["majority"], [Row("d", "majority", "crash")])
    assert (curves(league), pooled_table(league).rows) == ([], [])
    assert "How sure" not in make_markdown(league, ABOUT)
    assert "How sure" not in make_page(league, ABOUT)
