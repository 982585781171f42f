"""What probabilities are worth on a data set not seen: the tables of all data sets, pooled."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from coterie.metrics.scores import pool_tables, pooled_gap
from coterie.studies.league.league import League
from coterie.studies.table import Table
from coterie.words.numbers import NOTHING, decimal, in_percent

SIDE = 150.0
"""Length of the axes of a curve, in the units of the picture."""
LARGEST = 9.0
"""Radius of the dot of a bin that holds everything."""


class Dot(NamedTuple):
    """A bin: how sure, how often right, and how much of all lies there, as places and a radius."""

    x: float
    y: float
    radius: float


class Curve(NamedTuple):
    """A model's probabilities against how often they are right."""

    model: str
    error: float
    dots: list[Dot]


def pooled(league: League) -> dict[str, pd.DataFrame]:
    """Pool the bins of the common data sets, each set counting once, by model."""
    found = {}
    for model in league.models:
        scores = [league.score(dataset, model) for dataset in league.common]
        tables = [score.calibration for score in scores if score is not None and score.items]
        if tables:
            found[model] = pool_tables(tables)
    return found


def pooled_table(league: League) -> Table:
    """One row per bin, and one of the errors: how often each model is right when so sure."""
    tables = pooled(league)
    if not tables:
        return Table("Pooled calibration", ["sure"], [])
    every = pd.concat(tables)
    bins = every.loc[every["items"] > 0, ["low", "high"]].drop_duplicates().sort_values("low")
    rows = [
        [f"{100 * low:.0f} to {100 * high:.0f} %", *(_cell(t, low) for t in tables.values())]
        for low, high in bins.to_numpy()
    ]
    errors = [decimal(pooled_gap(table), 3) for table in tables.values()]
    return Table("Pooled calibration", ["sure", *tables], [*rows, ["error", *errors]])


def _cell(table: pd.DataFrame, low: float) -> str:
    """Write the share that is right, and how much of all lies in the bin."""
    row = table[table["low"] == low].iloc[0]
    if row["items"] == 0:
        return NOTHING
    return f"{in_percent(row['accuracy'])} ({100 * row['weight']:.0f} %)"


def curves(league: League) -> list[Curve]:
    """Place the dots of every model's curve; the area of a dot is the share of its bin."""
    return [
        Curve(model, pooled_gap(table), _dots(table[table["items"] > 0]))
        for model, table in pooled(league).items()
    ]


def _dots(table: pd.DataFrame) -> list[Dot]:
    places = table[["confidence", "accuracy", "weight"]].to_numpy(float)
    return [Dot(SIDE * x, SIDE * (1 - y), LARGEST * weight**0.5) for x, y, weight in places]
