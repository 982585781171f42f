"""What the panel says, in sentences and tables of text: the same on a terminal and on the page."""

from __future__ import annotations

import math

import pandas as pd

from coterie.judges.order import LEAST
from coterie.judges.panel import Panel
from coterie.judges.worth import COPY, Worth
from coterie.posterior.verdicts import reading_names
from coterie.studies.table import Table
from coterie.words.numbers import SPACE, count, decimal, in_percent, listed, percent, span
from coterie.words.visible import shorten, visible

LONGEST = 34
MOST = 12
FREE, COPIED = 0.95, 0.5
"""Shares of the labels: worth more, they may be independent; worth less, many may be copies."""


def name(judge: object) -> str:
    """Write a judge's name so that it fits into a table."""
    return shorten(visible(judge), LONGEST)


def headline(panel: Panel) -> list[str]:
    """Say what a panel is worth, who copies, whom to keep and how far to trust it."""
    return [
        text
        for text in (
            _worth(panel),
            _copies(panel),
            _position(panel),
            _no_columns(panel),
            _kept(panel),
            _trust(panel),
            _score(panel),
        )
        if text
    ]


def _worth(panel: Panel) -> str:
    a, worth = panel.posterior.annotations, panel.worth
    if worth is None:
        return "No item has two labels: nothing can be said of how judges depend on each other."
    dense = worth.labels > 0.9 * a.n_annotators
    judges = count(a.n_annotators, "judge")
    what = judges if dense else f"{worth.labels:.1f} labels per item"
    mean = f"mean dependence of errors {decimal(worth.dependence.value)}"
    known = panel.worth_known
    if known is None and _open(worth):
        return (
            f"{what} are worth between {worth.low:.1f} and {worth.high:.1f} independent ones: the"
            f" labels alone do not tell, by the model {worth.number:.1f} ({mean}). Judges who are"
            " right together look like judges who err together; known labels (gold) of some items"
            " would tell."
        )
    told = "" if known is None else f" On known items alone: {_number(known)}."
    return f"{what} are worth {_number(worth)} independent ones ({mean}).{told}"


def _open(worth: Worth) -> bool:
    """Tell whether anything from many copies to no dependence at all is possible."""
    return worth.high > FREE * worth.labels and worth.low < COPIED * worth.labels


def _number(worth: Worth) -> str:
    return f"{worth.number:.1f} [{worth.low:.1f}, {worth.high:.1f}]"


def _copies(panel: Panel) -> str:
    if not panel.copies:
        return f"No two judges surely err together more than not (dependence above {COPY})."
    sets = [listed([name(judge) for judge in group], 4) for group in panel.copies[:3]]
    more = len(panel.copies) - len(sets)
    rest = f"; and {count(more, 'further set')}" if more > 0 else ""
    return f"Near copies of each other (dependence surely above {COPY}): {'; '.join(sets)}{rest}."


def _position(panel: Panel) -> str:
    table = panel.position
    if table.empty:
        return "No judge is read in both orders (judge, judge / swapped): position cannot be seen."
    worst = table.sort_values("consistent").iloc[0]
    mean = in_percent(float(table["consistent"].mean()), 0)
    said = f"Order: verdicts stay the same when answers are swapped on {mean}{SPACE}% of pairs"
    return f"{said}; least with {name(worst['judge'])}, {percent(float(worst['consistent']))}."


def _no_columns(panel: Panel) -> str:
    """Say so if columns were given and nothing can be said of them."""
    if panel.columns is None or not panel.columns.empty:
        return ""
    return (
        f"Columns: no judge has {LEAST} verdicts, not all alike, on items with numbers that differ:"
        " nothing can be said of them."
    )


def _kept(panel: Panel) -> str:
    kept = panel.kept
    if not kept.found:
        return f"No smaller panel is as good to a tolerance of {percent(kept.tolerance)}."
    who = listed([name(judge) for judge in kept.judges], 6)
    cost = f", at {kept.price:g} of {kept.whole:g}" if kept.whole != len(panel.judges) else ""
    gold = (
        ""
        if kept.right is None or kept.right_whole is None
        else f"; right on {percent(kept.right)} of known items, all {percent(kept.right_whole)}"
    )
    return (
        f"Keep {who}{cost}: that agrees with the consensus of all on {percent(kept.agreement)} of"
        f" the items ({span(kept.low, kept.high)}){gold}."
    )


def _trust(panel: Panel) -> str:
    trust = panel.trust
    if not trust.items:
        return "Every item with labels is known: there is no consensus to trust."
    said = (
        f"{percent(trust.sure)} of the labels have a probability of 95{SPACE}% or more;"
        f" {trust.wrong:,.0f} of {trust.items:,} are expected to be wrong;"
        f" {count(len(trust.doubtful), 'item')} below 80{SPACE}% are for a person."
    )
    if trust.readings is None:
        return said
    need = trust.gold_needed or 0
    return f"{said} {trust.sentence} About {count(need, 'known label')} of those are needed."


def _score(panel: Panel) -> str:
    if panel.score is None or panel.vote is None or "known_right" not in panel.judges:
        return ""
    best = panel.judges.sort_values("known_right", kind="stable", na_position="first").iloc[-1]
    return (
        f"On {count(panel.score.items, 'item')} with a truth that the fit has not seen: consensus"
        f" {in_percent(panel.score.accuracy, 1)}{SPACE}% right (it claims"
        f" {in_percent(1 - panel.trust.wrong / panel.trust.items, 0)}{SPACE}%), vote"
        f" {in_percent(panel.vote.accuracy, 1)}{SPACE}%, best single judge {name(best['judge'])}"
        f" {in_percent(float(best['known_right']), 1)}{SPACE}% (picked by that truth)."
    )


def judge_rows(panel: Panel, most: int | None = None) -> Table:
    """Give the judges, the best first: how often right, how consistent, how biased."""
    by = "known_right" if "known_right" in panel.judges else "right"
    judges = panel.judges.sort_values(by, ascending=False, kind="stable", na_position="last")
    order = panel.position.set_index("judge")
    header = ["judge", "labels", "right, by the model", "right, known items"]
    header += ["same when swapped", "bias to first", "order explains"]
    rows = []
    for row in _few(judges, most).to_dict("records"):
        cells = [name(row["judge"]), f"{row['n_labels']:,}", _share(row, "right", "low", "high")]
        cells.append(_share(row, "known_right", "known_low", "known_high"))
        if row["judge"] in order.index:
            seen = order.loc[row["judge"]]
            cells += [_share(seen, "consistent", "low", "high")]
            cells += [decimal(float(seen["bias"])), percent(float(seen["explained"]))]
        else:
            cells += ["–"] * 3
        rows.append(cells)
    table = Table("Judges", header, rows)
    for column in ("right, known items", *header[4:]):
        if all(row[table.header.index(column)] == "–" for row in table.rows):
            table = table.without(column)
    return table


def _few(frame: pd.DataFrame, most: int | None) -> pd.DataFrame:
    """Keep the first and the last rows."""
    if most is None or len(frame) <= most:
        return frame
    return pd.concat([frame.head(most // 2), frame.tail(most - most // 2)])


def _share(row: object, value: str, low: str, high: str) -> str:
    found = row if isinstance(row, dict) else dict(row)  # type: ignore[call-overload]
    if value not in found or math.isnan(found[value]):
        return "–"
    reach = "" if math.isnan(found[low]) else f" [{span(found[low], found[high])}]"
    return f"{percent(found[value])}{reach}"


def pair_rows(panel: Panel, most: int = MOST) -> Table:
    """Give the pairs who err together most."""
    rows = [
        [name(row["first"]), name(row["second"])]
        + [decimal(row[column]) for column in ("dependence", "low", "high")]
        for row in panel.dependence.head(most).to_dict("records")
    ]
    return Table(
        "Who errs together, given the truth",
        ["judge", "and", "dependence", "low", "high"],
        rows,
        left=(0, 1),
    )


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
        for row in (table if most is None else table.head(most)).to_dict("records")
    ]
    header = ["judge", "column", "items", "correlation", "95 % interval", "explains"]
    return Table("Verdicts that go with a column", header, rows, left=(0, 1))


def doubtful_rows(panel: Panel, most: int = MOST) -> Table:
    """Give the items that a person should see first."""
    found = panel.trust.doubtful.head(most)
    rows = [
        [
            shorten(visible(row["item"]), LONGEST),
            visible(row["label"]),
            percent(row["probability"]),
            visible(row["runner_up"]),
        ]
        for row in found.to_dict("records")
    ]
    return Table("For a person", ["item", "label", "probability", "or else"], rows, left=(0, 1, 3))


def reading_rows(panel: Panel, most: int | None = None) -> Table | None:
    """Give two readings side by side; None if there is one."""
    found = panel.trust.readings
    if found is None:
        return None
    rows = [
        [
            shorten(visible(row[0]), LONGEST),
            f"{visible(row[1])} ({percent(row[2])})",
            f"{visible(row[3])} ({percent(row[4])})",
        ]
        for row in (found if most is None else found.head(most)).itertuples(index=False)
    ]
    header = ["item", *reading_names(panel.posterior)]
    return Table("Two readings: gold of these items would decide", header, rows, left=(0, 1, 2))
