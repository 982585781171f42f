"""What the panel says, in sentences and tables of text: the same on a terminal and on the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from coterie.judges.bias import COPY, LEAST
from coterie.judges.panel import Panel
from coterie.posterior.verdicts import reading_names
from coterie.report.base import make_sentences
from coterie.studies.table import Table
from coterie.words import numbers
from coterie.words.numbers import NOTHING, decimal, percent, span
from coterie.words.visible import shorten, visible

LONGEST = 34
MOST = 12
LIMITS = {"free": 0.95, "copied": 0.5, "alike": COPY, "least": LEAST}
"""Shares of the labels: worth more, they may be independent; worth less, many may be copies; the
dependence of a copy, and verdicts below which nothing is said of a judge."""


def name(judge: object) -> str:
    """Write a judge's name so that it fits into a table."""
    return shorten(visible(judge), LONGEST)


FILTERS = (
    *(numbers.percent, numbers.in_percent, numbers.span, numbers.decimal, numbers.count),
    *(numbers.listed, name),
)


def headline(panel: Panel) -> list[str]:
    """Say what a panel is worth, who copies, whom to keep and how far to trust it."""
    judges, position = panel.judges, panel.position
    worst = None if position.empty else position.sort_values("consistent").iloc[0]
    best = None
    if "known_right" in judges:
        best = judges.sort_values("known_right", kind="stable", na_position="first").iloc[-1]
    return make_sentences(
        "sentences.txt",
        ["coterie.judges"],
        filters=FILTERS,
        limits=LIMITS,
        panel=panel,
        worst=worst,
        best=best,
    )


def judge_rows(panel: Panel, most: int | None = None) -> Table:
    """Give the judges, the best first: how often right, how consistent, how biased."""
    by = "known_right" if "known_right" in panel.judges else "right"
    judges = panel.judges.sort_values(by, ascending=False, kind="stable", na_position="last")
    if most is not None and len(judges) > most:
        judges = pd.concat([judges.head(most // 2), judges.tail(most - most // 2)])
    order = panel.position.set_index("judge").to_dict("index")
    header = ["judge", "labels", "right, by the model", "right, known items"]
    header += ["same when swapped", "bias to first", "order explains"]
    rows = []
    for row in judges.to_dict("records"):
        seen, cells = order.get(row["judge"], {}), [name(row["judge"]), f"{row['n_labels']:,}"]
        cells += [_share(row, "right", "low", "high")]
        cells += [_share(row, "known_right", "known_low", "known_high")]
        cells += [_share(seen, "consistent", "low", "high")]
        cells += [decimal(seen.get("bias")), percent(seen.get("explained"))]
        rows.append(cells)
    table = Table("Judges", header, rows)
    for column in ("right, known items", *header[4:]):
        if all(row[table.header.index(column)] == NOTHING for row in table.rows):
            table = table.without(column)
    return table


def _share(row: Mapping[Any, Any], value: str, low: str, high: str) -> str:
    share, ends = row.get(value), span(row.get(low), row.get(high))
    reach = "" if ends == NOTHING or share is None or math.isnan(share) else f" [{ends}]"
    return f"{percent(share)}{reach}"


def pair_rows(panel: Panel, most: int = MOST) -> Table:
    """Give the pairs who err together most."""
    rows = [
        [name(row["first"]), name(row["second"])]
        + [decimal(row[column]) for column in ("dependence", "low", "high")]
        for row in panel.dependence.head(most).to_dict("records")
    ]
    header = ["judge", "and", "dependence", "low", "high"]
    return Table("Who errs together, given the truth", header, rows, left=(0, 1))


def column_rows(panel: Panel, most: int | None = None) -> Table | None:
    """Give how far verdicts go with numbers of the items; None if there are none."""
    if panel.columns is None or panel.columns.empty:
        return None
    table = panel.columns.sort_values("explained", ascending=False, kind="stable")
    rows = [
        [
            name(row["judge"]),
            visible(row["column"]),
            f"{row['items']:,}",
            decimal(row["correlation"]),
            f"[{decimal(row['low'])}, {decimal(row['high'])}]",
            percent(row["explained"]),
        ]
        for row in table.head(most if most is not None else len(table)).to_dict("records")
    ]
    header = ["judge", "column", "items", "correlation", "95 % interval", "explains"]
    return Table("Verdicts that go with a column", header, rows, left=(0, 1))


def doubtful_rows(panel: Panel, most: int = MOST) -> Table:
    """Give the items that a person should see first."""
    rows = [
        [name(item), visible(label), percent(probability), visible(runner_up)]
        for item, label, probability, runner_up in panel.trust.doubtful.head(most).values
    ]
    return Table("For a person", ["item", "label", "probability", "or else"], rows, left=(0, 1, 3))


def reading_rows(panel: Panel, most: int | None = None) -> Table | None:
    """Give two readings side by side; None if there is one."""
    found = panel.trust.readings
    if found is None:
        return None
    rows = [
        [name(item), f"{visible(one)} ({percent(p)})", f"{visible(other)} ({percent(q)})"]
        for item, one, p, other, q in found.head(len(found) if most is None else most).values
    ]
    header = ["item", *reading_names(panel.posterior)]
    return Table("Two readings: gold of these items would decide", header, rows, left=(0, 1, 2))
