"""The panel as a page: one self-contained HTML file."""

from __future__ import annotations

from typing import Any

import coterie
from coterie.judges import words
from coterie.judges.panel import Panel
from coterie.judges.worth import COPY
from coterie.report import base, charts
from coterie.words.names import name
from coterie.words.numbers import decimal

MOST_JUDGES_IN_HEAT = 40


def make_page(panel: Panel, title: str | None = None) -> str:
    """Write what a panel says as HTML that loads nothing and needs no script.

    Parameters
    ----------
    panel
        The panel, looked at.
    title
        Heading of the page.
    """
    a = panel.posterior.annotations
    return base.make_page(
        "judges.html",
        ["coterie.judges", "coterie.studies"],
        styles=["study.css", "judges.css"],
        heading=name(title, 200) if title else f"A panel of {a.n_annotators:,} judges",
        about=a.describe(),
        model=panel.posterior.model,
        sentences=words.headline(panel),
        judges=words.judge_rows(panel),
        pairs=words.pair_rows(panel, 30),
        heat=heat(panel),
        copies=[[words.name(judge) for judge in group] for group in panel.copies],
        copy_limit=COPY,
        columns=words.column_rows(panel),
        first=None if panel.first is None else words.name(panel.first),
        kept=panel.kept,
        kept_names=[words.name(judge) for judge in panel.kept.judges],
        doubtful=words.doubtful_rows(panel, 50),
        readings=words.reading_rows(panel),
        version=coterie.__version__,
    )


def heat(panel: Panel) -> dict[str, Any] | None:
    """Give the matrix of dependence for the picture; None if there are too many judges."""
    judges = panel.judges["judge"].tolist()
    if not 2 <= len(judges) <= MOST_JUDGES_IN_HEAT or panel.dependence.empty:
        return None
    place = {judge: k for k, judge in enumerate(judges)}
    cells: list[list[float | None]] = [[None] * len(judges) for _ in judges]
    for row in panel.dependence.to_dict("records"):
        k, l = place[row["first"]], place[row["second"]]
        cells[k][l] = cells[l][k] = row["dependence"]
    rows = [
        {
            "name": words.name(judge),
            "cells": [
                {"text": "" if x is None else decimal(x), "shade": charts.heat(x)} for x in cells[k]
            ],
        }
        for k, judge in enumerate(judges)
    ]
    return {"rows": rows, "n": len(judges)}
