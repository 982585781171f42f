"""The league as a page: one self-contained HTML file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import coterie
from coterie.report import base
from coterie.studies.league import tables
from coterie.studies.league.bootstrap import Interval
from coterie.studies.league.calibration import SIDE, curves, pooled_table
from coterie.studies.league.league import League
from coterie.studies.league.lineup import REFERENCE
from coterie.studies.league.record import About
from coterie.words.numbers import decimal, in_percent, seconds

STEPS = (0.5, 1, 2, 5, 10, 20, 50)
"""Percentage points between the ticks of the chart."""


class Mark(NamedTuple):
    """A data set in the chart of a model: places in percent of the width."""

    dataset: str
    difference: Interval
    kind: str  # better, worse, or even
    at: float
    low: float
    high: float


class Tick(NamedTuple):
    """A line of the chart's scale."""

    at: float
    text: str


class Chart(NamedTuple):
    """How much better than the vote a model is, on each data set, best first."""

    model: str
    marks: list[Mark]
    better: int
    worse: int


def make_page(league: League, about: About) -> str:
    """Write the league as HTML that loads nothing and needs no script.

    Every name and message is escaped.
    """
    ticks, charts = make_charts(league)
    return base.make_page(
        "league.html",
        ["coterie.studies.league", "coterie.studies"],
        styles=["study.css", "league.css"],
        filters=(in_percent, decimal, seconds, tables.points, tables.interval, kind),
        league=league,
        about=about,
        charts=charts,
        ticks=ticks,
        curves=curves(league),
        side=SIDE,
        alone=False,
        pooled=pooled_table(league),
        tables=tables,
        shown=[d for d in league.datasets if d not in league.without_truth],
        reference=REFERENCE,
        version=coterie.__version__,
    )


def make_curves(league: League) -> str:
    """Draw how sure and how right every model is: a picture by itself, in SVG."""
    return base.make_page(
        "curves.svg",
        ["coterie.studies.league"],
        styles=[],
        filters=(decimal,),
        curves=curves(league),
        side=SIDE,
        alone=True,
    )


def kind(difference: Interval | None) -> str:
    """Say whether an interval lies above zero (better), below (worse), or holds it (even)."""
    if difference is None or difference.low is None or difference.high is None:
        return "even"
    return "better" if difference.low > 0 else "worse" if difference.high < 0 else "even"


def make_charts(league: League) -> tuple[list[Tick], list[Chart]]:
    """Draw every model but the vote on one scale, which always shows zero."""
    found = {
        model: [
            (d, difference)
            for d in league.datasets
            if (difference := league.row(d, model).difference) is not None
        ]
        for model in league.models
        if model != REFERENCE
    }
    ends = [end for pairs in found.values() for _, interval in pairs for end in _ends(interval)]
    low, high, step = scale(ends)
    charts = [_chart(model, pairs, low, high) for model, pairs in found.items() if pairs]
    n_steps = round((high - low) / step)
    values = [low + step * k for k in range(n_steps + 1)]
    ticks = [Tick(100 * (v - low) / (high - low), tables.points(v)[:-3]) for v in values]
    return ticks, charts


def _chart(model: str, pairs: list[tuple[str, Interval]], low: float, high: float) -> Chart:
    def place(value: float) -> float:
        return 100 * (value - low) / (high - low)

    pairs = sorted(pairs, key=lambda pair: -pair[1].mean)
    marks = [
        Mark(dataset, interval, kind(interval), place(interval.mean), *map(place, _ends(interval)))
        for dataset, interval in pairs
    ]
    kinds = [mark.kind for mark in marks]
    return Chart(model, marks, kinds.count("better"), kinds.count("worse"))


def _ends(interval: Interval) -> tuple[float, float]:
    mean, low, high = interval
    return (mean if low is None else low), (mean if high is None else high)


def scale(ends: Sequence[float]) -> tuple[float, float, float]:
    """Give the ends of a scale that holds these values and zero, and the step of its ticks.

    Examples
    --------
    >>> scale([-0.031, 0.12])
    (-0.05, 0.15, 0.05)
    """
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    step = next((s for s in STEPS if (high - low) * 100 / s <= 6), 100) / 100
    # Whole steps outwards, at least one to each side: zero is never at the edge.
    below = min(-1, math.floor(round(low / step, 9)))
    above = max(1, math.ceil(round(high / step, 9)))
    return round(below * step, 9), round(above * step, 9), step
