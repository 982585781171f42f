"""A study of replays to files: JSON and a table for machines, a page and Markdown for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import coterie
from coterie.files.atomic import Writer, check_free, text_writer, write_set
from coterie.files.values import as_json
from coterie.io.write import table_writer
from coterie.report import base
from coterie.studies.replay.study import WITHIN, Standing, standings
from coterie.studies.table import Table, listing
from coterie.words.numbers import decimal, in_percent
from coterie.words.visible import visible

MEANINGS = (
    ("accuracy", "of all labels, in %"),
    ("needed", "share of the labels that first reaches it, within half a point"),
    ("at 20 %", "accuracy of a fifth of the labels"),
    ("stops at", "share of the labels at which no item is worth another one"),
    ("risk holds", "share of the batches after which at most so many are wrong as is said"),
    ("below balanced", "mean shortfall against balanced assignment, in standard errors"),
)
NAMES = ("replay.json", "replay.csv", "replay.html", "replay.md")
WIDTH, HEIGHT = 600, 220
HEADER = (
    "data", "policy", "labels", "accuracy", "needed", "at 20 %", "stops at", "accuracy then",
    "risk holds", "below balanced",
)  # fmt: skip


class Line(NamedTuple):
    """One policy in a chart: its mean over seeds, and the band that the seeds lie in."""

    policy: str
    points: str
    band: str


class Chart(NamedTuple):
    """Accuracy against the share of the labels, on one data set."""

    data: str
    low: float
    high: float
    full: float
    lines: list[Line]


def check_target(out: Path, *, force: bool) -> None:
    """Refuse, before any work is done, to write where an earlier study lies."""
    check_free(out, [out / name for name in NAMES], force=force)


def write_study(curves: pd.DataFrame, command: str, out: Path, *, force: bool) -> list[Path]:
    """Write ``replay.json``, ``replay.csv``, ``replay.html`` and ``replay.md``, all or none."""
    found = list(standings(curves))
    record = {
        "command": command,
        "version": coterie.__version__,
        "within": WITHIN,
        "standings": [one._asdict() for one in found],
    }
    each = (
        text_writer(as_json(record)),
        table_writer(curves.round(5), "csv"),
        text_writer(page(curves, found, command)),
        text_writer(markdown(found, command)),
    )
    writers: dict[Path, Writer] = dict(zip([out / name for name in NAMES], each, strict=True))
    write_set(out, writers, force=force)
    return list(writers)


def table_of(found: Sequence[Standing]) -> Table:
    """Give the standings as a table of text, with the means of every policy below."""
    rows = [_row(one) for one in found]
    if len({one.data for one in found}) > 1:
        for policy in dict.fromkeys(one.policy for one in found):
            own = [one for one in found if one.policy == policy]
            numbers = np.array([one[3:] for one in own], float)
            mean = Standing("mean", policy, 0, *map(float, numbers.mean(axis=0)))
            rows.append([*_row(mean)[:2], "", *_row(mean)[3:-1], ""])
    return Table("Labels needed for the accuracy of all of them, in %", HEADER, rows, (0, 1))


def _row(one: Standing) -> list[str]:
    shares = (one.accuracy, one.needed, one.early, one.stopped, one.at_stop, one.holds)
    return [one.data, one.policy, f"{one.labels:,}", *(in_percent(x, 1) for x in shares),
            decimal(one.worst, 1)]  # fmt: skip


def markdown(found: Sequence[Standing], command: str) -> str:
    """Write the standings as Markdown."""
    return f"Made by `{visible(command)}`.\n\n{table_of(found).markdown()}\n\n{listing(MEANINGS)}\n"


def page(curves: pd.DataFrame, found: Sequence[Standing], command: str) -> str:
    """Write the study as HTML that loads nothing and needs no script."""
    return base.make_page(
        "replay.html",
        ["coterie.studies.replay", "coterie.studies"],
        styles=["study.css", "replay.css"],
        filters=(in_percent,),
        charts=[chart(str(data), rows) for data, rows in curves.groupby("data")],
        table=table_of(found),
        command=command,
        meanings=MEANINGS,
        width=WIDTH,
        height=HEIGHT,
        version=coterie.__version__,
    )


def chart(data: str, rows: pd.DataFrame) -> Chart:
    """Place the lines of one data set."""
    total = rows["labels"].max()
    low, high = float(rows["accuracy"].min()), float(rows["accuracy"].max())
    span = max(high - low, 1e-9)

    def place(share: Any, accuracy: Any) -> str:
        return f"{share * WIDTH:.1f},{HEIGHT - 4 - (accuracy - low) / span * (HEIGHT - 8):.1f}"

    lines = []
    for policy in dict.fromkeys(rows["policy"]):
        own = rows[rows["policy"] == policy]
        by_labels = own.groupby("labels")["accuracy"].agg(["mean", "min", "max"])
        share = by_labels.index.to_numpy(float) / total
        upper = [place(*pair) for pair in zip(share, by_labels["max"], strict=True)]
        lower = [place(*pair) for pair in zip(share, by_labels["min"], strict=True)]
        mean = [place(*pair) for pair in zip(share, by_labels["mean"], strict=True)]
        lines.append(Line(str(policy), " ".join(mean), " ".join([*upper, *lower[::-1]])))
    full = float(rows.loc[rows["labels"] == total, "accuracy"].mean())
    return Chart(data, low, high, HEIGHT - 4 - (full - low) / span * (HEIGHT - 8), lines)
