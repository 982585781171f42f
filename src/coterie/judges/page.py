"""The panel as a page: one self-contained HTML file."""

from __future__ import annotations

from itertools import chain

import coterie
from coterie.judges import words
from coterie.judges.bias import COPY
from coterie.judges.panel import Panel
from coterie.report import base
from coterie.words.names import name
from coterie.words.numbers import decimal

MOST_JUDGES_IN_HEAT = 40


def make_page(panel: Panel, title: str | None = None) -> str:
    """Write what a panel says as HTML that loads nothing and needs no script."""
    a, judges = panel.posterior.annotations, panel.judges["judge"].tolist()
    pairs = zip(*(panel.dependence[x] for x in ("first", "second", "dependence")), strict=True)
    together = dict(chain.from_iterable((((k, l), d), ((l, k), d)) for k, l, d in pairs))
    pictured = 2 <= len(judges) <= MOST_JUDGES_IN_HEAT and together
    return base.make_page(
        "judges.html",
        ["coterie.judges", "coterie.studies"],
        styles=["study.css", "judges.css"],
        filters=(base.heat, decimal, words.name),
        heading=name(title, 200) if title else f"A panel of {a.n_annotators:,} judges",
        about=a.describe(),
        model=panel.posterior.model,
        sentences=words.headline(panel),
        judges=words.judge_rows(panel),
        pairs=words.pair_rows(panel, 30),
        heat=[(k, [together.get((k, l)) for l in judges]) for k in judges] if pictured else [],
        copies=panel.copies,
        copy_limit=COPY,
        columns=words.column_rows(panel),
        first=panel.first,
        kept=panel.kept,
        doubtful=words.doubtful_rows(panel, 50),
        readings=words.reading_rows(panel),
        version=coterie.__version__,
    )
