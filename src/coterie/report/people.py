"""What the page says of coteries and annotators: matrices, roles, and who goes with whom."""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

import numpy as np
import pandas as pd

from coterie.numeric import Array, FloatArray, LongArray
from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.posterior.sheets import label_counts
from coterie.roles import Kind, Role
from coterie.words.names import Name, name

MOST_CLASSES, MOST_EXTRA = 12, 3
"""Classes of a matrix that is read at a glance; more are cut to the commonest, and so are extra
answers where there are too many answers."""
REST = name("other")
CELL, LETTER = 36, 8
"""Pixels that a cell takes at least, and that a letter takes; a Chinese one takes nearly two."""
LEAST_HEAD, MOST_HEAD = 80, 140
"""Pixels of the rows' names, and of the corner above; the style breaks names between these."""
THIRD, HALF = 290, 460
"""Pixels inside of a card of three per line, and of two per line."""

MOST_CARDS, LEAST_CARDS, MOST_ROWS, MOST_MEMBERS = 9, 3, 100, 30
TINY = 3
"""Annotators below which a coterie is a row of a table, but the largest coteries."""
MOST_ANNOTATORS = 1_000
MOST_NUMBERS = 20_000_000
"""Numbers of draws whose quantiles are taken; of larger crowds the first annotators' alone."""

MOST_PIXELS = 400
"""Annotators of the picture, one per pixel; of more, so many are picked evenly."""
MOST_NAMES, MOST_BLOCKS = 45, 12
LEVELS = 32
"""Steps of colour: the eye sees no more, and the file stays small."""
COLOUR = (38, 113, 196)
"""A blue that stands out from white and from black paper."""

NAMES = ("annotator", "role")
"""Columns that hold words of the data."""
Facts = dict[str, Any]


@dataclass(frozen=True)
class Room:
    """How a matrix is laid out so that all of it is seen."""

    upright: bool  # whether names of columns are written upwards
    card: str  # of a line: third, half or full


@dataclass(frozen=True, eq=False)
class Axes:
    """The classes and answers that matrices show."""

    true: LongArray  # (rows,)
    answer: LongArray  # (columns,)   the classes shown come first, as in the rows
    rest: bool  # whether a last column holds all other answers
    left_out: int  # classes
    rows: list[Name]
    columns: list[Name]
    room: Room

    def cut(self, matrices: Array) -> FloatArray:
        """Give the shown part of matrices, (..., classes, answers) to (..., rows, columns)."""
        rows = np.asarray(matrices, np.float64)[..., self.true, :]
        shown = rows[..., self.answer]
        if not self.rest:
            return shown
        others = rows.sum(axis=-1) - shown.sum(axis=-1)
        return np.concatenate([shown, np.clip(others, 0, None)[..., None]], axis=-1)


def axes_of(posterior: Posterior) -> Axes:
    """Choose what matrices show: everything, or the commonest classes of many."""
    a = posterior.annotations
    true, extra = np.arange(a.n_classes), np.arange(a.n_classes, a.n_answers)
    if len(true) > MOST_CLASSES:
        true = np.sort(np.argsort(-posterior.class_balance, kind="stable")[:MOST_CLASSES])
    if len(extra) > MOST_EXTRA:
        said = np.bincount(a.codes.item_answer, minlength=a.n_answers)[extra]
        extra = np.sort(extra[np.argsort(-said, kind="stable")[:MOST_EXTRA]])
    answer = np.concatenate([true, extra])
    rest = len(answer) < a.n_answers
    rows = [name(word) for word in a.classes[true].tolist()]
    columns = [*(name(word) for word in a.answers[answer].tolist()), *[REST] * rest]
    left_out = a.n_classes - len(rows)
    return Axes(true, answer, rest, left_out, rows, columns, room_of(rows, columns))


def room_of(rows: Sequence[str], columns: Sequence[str], longest_cell: str = "100") -> Room:
    """Choose the layout of a matrix by the space that its names and numbers need.

    Examples
    --------
    >>> room_of(["cat", "dog"], ["cat", "dog"])
    Room(upright=False, card='third')
    >>> long = ["Entertainment & lifestyle", "Politics & government"] * 3
    >>> room_of(long[:5], long[:5]).card, room_of(long, long)
    ('third', Room(upright=True, card='half'))
    """
    head = min(max([LEAST_HEAD, *(_width(word) + 16 for word in rows)]), MOST_HEAD)
    cell = max(CELL, _width(longest_cell) + 12)
    flat = head + sum(max(cell, _width(word) + 18) for word in columns)
    upright = LEAST_HEAD + cell * len(columns)
    turned = flat > THIRD and upright < flat
    needed = upright if turned else flat
    return Room(turned, "third" if needed <= THIRD else "half" if needed <= HALF else "full")


def _width(text: str) -> int:
    return sum(2 * LETTER if east_asian_width(sign) in "WF" else LETTER for sign in text)


def coterie_facts(posterior: Posterior, table: pd.DataFrame, axes: Axes) -> Facts:
    """Describe the coteries, largest first: the first as cards, more as rows of a table.

    ``table`` is that of ``posterior.annotators()``.
    """
    partition = posterior.partition()
    rows = with_kinds(records(posterior.coteries()), posterior.coterie_roles().role)
    n_cards = max(sum(row["size"] >= TINY for row in rows), LEAST_CARDS)  # the largest first
    cards = rows[: min(n_cards, MOST_CARDS)]
    for m, card in enumerate(cards):
        mean = posterior.confusion_mean[partition.group == m].mean(axis=0)
        mine = table[table["coterie"].eq(m + 1).fillna(False).to_numpy(bool)]
        mine = mine.sort_values("membership", ascending=False, kind="stable")
        members = mine["annotator"].tolist()
        card |= {
            "matrix": axes.cut(mean).tolist(),
            "members": [name(member) for member in members[:MOST_MEMBERS]],
            "more_members": max(len(members) - MOST_MEMBERS, 0),
            "own_roles": own_roles(posterior, m),
        }
    others = rows[len(cards) : len(cards) + MOST_ROWS]
    drawn = posterior.abilities.coteries  # else there is one grouping, found after the fact
    counts = posterior.n_coteries if drawn else np.full(1, partition.n_coteries)
    low, high = np.quantile(counts, INTERVAL)
    numbers, times = np.unique(counts, return_counts=True)
    return {
        "n": partition.n_coteries,
        "drawn": drawn,
        "cards": cards,
        "others": others,
        "left_out": len(rows) - len(cards) - len(others),
        "mean": float(counts.mean()),
        "low": int(low),
        "high": int(high),
        "numbers": list(zip(numbers.tolist(), (times / counts.size).tolist(), strict=True)),
    }


def own_roles(posterior: Posterior, m: int) -> list[str]:
    """Count the roles of members that are of another kind than their coterie."""
    shared, roles = posterior.coterie_roles().role[m].kind, posterior.roles().role
    members = [roles[l] for l in np.flatnonzero(posterior.partition().group == m)]
    unlike = Counter(str(role) for role in members if role.kind not in (shared, Kind.UNKNOWN))
    return [f"{n:,} {name(words)}" for words, n in unlike.most_common()]


def annotator_facts(posterior: Posterior, table: pd.DataFrame, axes: Axes) -> Facts:
    """Describe the annotators, those with the most labels first: they shape the result."""
    order = np.argsort(-table["n_labels"].to_numpy(), kind="stable")[:MOST_ANNOTATORS]
    shown = table.iloc[order]
    rows = records(shown)
    if posterior.abilities.uncertainty:
        roles = posterior.roles().role
        rows = with_kinds(rows, [roles[l] for l in order])
    coteries = shown["coterie"].dropna().unique().tolist() if "coterie" in shown else []
    return {
        "rows": rows,
        "left_out": len(table) - len(shown),
        "n": len(table),
        "matrices": _matrices(posterior, order, axes),
        "has_interval": "accuracy_low" in table,
        "has_role": "role" in table,
        "has_coterie": "coterie" in table,
        "roles": [name(word) for word in sorted(set(shown["role"].dropna()))]
        if "role" in shown
        else [],
        "coteries": sorted(coteries),
    }


def _matrices(posterior: Posterior, order: Array, axes: Axes) -> Facts:
    """Give what a script shows of annotators: whole percents, row after row, and counts of labels.

    ``mean`` and ``count`` are of all in ``order``, ``low`` and ``high`` (95 %) of as many as there
    is time for, none without draws.
    """

    def flat(values: Array) -> Any:
        return np.rint(values).astype(int).reshape(len(values), -1).tolist()

    mean = 100 * axes.cut(posterior.confusion_mean[order])
    found = {"mean": flat(mean), "count": flat(axes.cut(label_counts(posterior)[order]))}
    if not posterior.abilities.uncertainty:
        return found
    drawn = posterior.require_draws("intervals").confusion
    pooled = drawn.reshape(-1, *posterior.confusion_mean.shape)
    most = max(1, MOST_NUMBERS // max(len(pooled) * len(axes.rows) * len(axes.columns), 1))
    ends = [
        100 * np.quantile(axes.cut(pooled[:, order[k : k + 50]]), INTERVAL, axis=0)
        for k in range(0, min(len(order), most), 50)
    ]
    low, high = np.concatenate(ends, axis=1) if ends else np.zeros((2, 0))
    return {**found, "low": flat(low), "high": flat(high)}


def with_kinds(rows: list[Facts], roles: Sequence[Role]) -> list[Facts]:
    """Give the rows with the kind of each one's role."""
    return [{**row, "kind": role.kind.value} for row, role in zip(rows, roles, strict=True)]


def records(table: pd.DataFrame) -> list[Facts]:
    """Give the rows as dicts of plain Python values; what is missing is None."""
    columns = {str(column): series.tolist() for column, series in table.items()}
    for column, missing in zip(columns, table.isna().to_numpy().T, strict=True):
        for k in np.flatnonzero(missing):
            columns[column][k] = None
    columns |= {key: [name(word) for word in columns[key]] for key in NAMES if key in columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def cooccurrence_facts(posterior: Posterior, table: pd.DataFrame) -> Facts | None:
    """Describe how often annotators share a coterie; None with fewer than two annotators."""
    labelled = table[table["coterie"].notna().to_numpy(bool)]
    if len(labelled) < 2:
        return None
    by = labelled.astype({"coterie": int}).sort_values(
        ["coterie", "membership"], ascending=[True, False], kind="stable"
    )
    shown = by.iloc[np.linspace(0, len(by) - 1, min(len(by), MOST_PIXELS)).round().astype(int)]
    together = posterior.cooccurrence(shown["annotator"].tolist()).to_numpy()
    coterie = shown["coterie"].to_numpy()
    starts = np.flatnonzero(np.diff(coterie, prepend=0))
    sizes = np.diff(starts, append=len(coterie))
    # The picture in numbers: averages over pairs of different annotators, by their coteries.
    total = np.add.reduceat(np.add.reduceat(together, starts, axis=0), starts, axis=1)
    total = total - np.diag(np.add.reduceat(np.diag(together), starts))
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    mean = np.divide(total, pairs, out=np.full(total.shape, np.nan), where=pairs > 0)
    few = slice(MOST_BLOCKS)
    return {
        "n": len(shown),
        "left_out": len(labelled) - len(shown),
        "image": picture(together),
        "groups": [
            {"coterie": m, "start": start, "size": size}
            for m, start, size in zip(
                coterie[starts].tolist(), starts.tolist(), sizes.tolist(), strict=True
            )
        ],
        "names": [name(l) for l in shown["annotator"]] if len(shown) <= MOST_NAMES else [],
        "block_names": coterie[starts][few].tolist(),
        "blocks": [[None if x != x else x for x in row] for row in mean[few, few].tolist()],
    }


def picture(share: FloatArray) -> str:
    """Draw shares between 0 and 1 as a PNG, one pixel each, the higher the less transparent.

    Returns
    -------
    The picture as a data URI.

    Examples
    --------
    >>> picture(np.eye(2))[:26]
    'data:image/png;base64,iVBO'
    """
    height, width = share.shape
    level = np.rint(np.clip(share, 0, 1) * LEVELS).astype(np.uint8)
    rows = np.column_stack([np.zeros(height, np.uint8), level])  # each row starts with its filter
    content = b"\x89PNG\r\n\x1a\n"
    for kind, data in (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(COLOUR) * (LEVELS + 1)),
        (b"tRNS", bytes(round(255 * k / LEVELS) for k in range(LEVELS + 1))),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ):
        content += struct.pack(">I", len(data)) + kind + data
        content += struct.pack(">I", zlib.crc32(kind + data))
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")
