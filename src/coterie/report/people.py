"""What the page says of coteries and annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.posterior.sheets import label_counts
from coterie.report.matrix import Axes, cut
from coterie.roles import Kind, Role
from coterie.words.names import name
from coterie.words.numbers import listed

MOST_CARDS = 9
MOST_ROWS = 100
MOST_MEMBERS = 30
TINY = 3
"""Annotators below which a coterie is a row of a table, but the largest coteries."""
LEAST_CARDS = 3
MOST_NUMBERS = 20_000_000
"""Numbers of draws whose quantiles are taken; of larger crowds the first annotators' alone."""
MOST_ANNOTATORS = 1_000

Facts = dict[str, Any]


def coterie_facts(posterior: Posterior, table: pd.DataFrame, axes: Axes) -> Facts:
    """Describe the coteries, largest first: the first as cards, more as rows of a table.

    Parameters
    ----------
    posterior
        Of a model with coteries.
    table
        ``posterior.annotators()``.
    axes
        What matrices show.
    """
    partition = posterior.partition()
    rows = with_kinds(records(posterior.coteries()), posterior.coterie_roles().role)
    sizes = [row["size"] for row in rows]  # the largest first
    n_cards = min(max(sum(size >= TINY for size in sizes), LEAST_CARDS), MOST_CARDS)
    cards = [
        {
            **row,
            "matrix": matrix.tolist(),
            **members_of(row["coterie"], table),
            "own_roles": own_roles(posterior, row["coterie"] - 1),
        }
        for row, matrix in zip(
            rows[:n_cards], cut(mean_matrices(posterior, partition.group), axes), strict=False
        )
    ]
    others = rows[n_cards : n_cards + MOST_ROWS]
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
        "numbers": [
            {"n": int(n), "probability": float(k / counts.size)}
            for n, k in zip(numbers, times, strict=True)
        ],
    }


def mean_matrices(posterior: Posterior, group: NDArray[Any]) -> NDArray[np.float64]:
    """Average the members' matrices, those of the first coteries, shape (coteries, T, C)."""
    n = min(int(group.max(initial=-1)) + 1, MOST_CARDS)
    return np.array([posterior.confusion_mean[group == m].mean(axis=0) for m in range(n)])


def own_roles(posterior: Posterior, m: int) -> str:
    """Say in a line which members are of another kind than their coterie; nothing if none is."""
    shared = posterior.coterie_roles().role[m].kind
    members = np.flatnonzero(posterior.partition().group == m)
    roles = [posterior.roles().role[l] for l in members]
    unlike = Counter(str(role) for role in roles if role.kind not in (shared, Kind.UNKNOWN))
    if not unlike:
        return ""
    each = [f"{n:,} {name(words)}" for words, n in unlike.most_common()]
    return f"The role is of all answers together; by their own, {listed(each, 3)}."


def members_of(coterie: int, table: pd.DataFrame) -> Facts:
    """Name the members of a coterie, the surest first."""
    members = table[table["coterie"].eq(coterie).fillna(False).to_numpy(bool)]
    members = members.sort_values("membership", ascending=False, kind="stable")
    shown = members["annotator"].head(MOST_MEMBERS)
    return {
        "members": [name(member) for member in shown.tolist()],
        "more_members": len(members) - len(shown),
    }


def annotator_facts(posterior: Posterior, table: pd.DataFrame, axes: Axes) -> Facts:
    """Describe the annotators, those with the most labels first: they shape the result."""
    order = np.argsort(-table["n_labels"].to_numpy(), kind="stable")[:MOST_ANNOTATORS]
    shown = table.iloc[order]
    rows = records(shown)
    if posterior.abilities.uncertainty:
        roles = posterior.roles().role
        rows = with_kinds(rows, [roles[l] for l in order])
    return {
        "rows": rows,
        "left_out": len(table) - len(shown),
        "n": len(table),
        "matrices": matrix_facts(posterior, order, axes),
        "has_interval": "accuracy_low" in table,
        "has_role": "role" in table,
        "has_coterie": "coterie" in table,
        "roles": words_of(shown, "role"),
        "coteries": words_of(shown, "coterie"),
    }


def matrix_facts(posterior: Posterior, order: NDArray[Any], axes: Axes) -> Facts:
    """Give what a script shows of annotators: whole percents, row after row, and counts of labels.

    ``mean`` and ``count`` are of all in ``order``, ``low`` and ``high`` (95 %) of as many as there
    is time for, none without draws.
    """
    n = len(order)

    def flat(values: NDArray[Any]) -> Any:
        return np.rint(values).astype(int).reshape(len(values), -1).tolist()

    counts = cut(label_counts(posterior)[order], axes)
    found: Facts = {
        "mean": flat(100 * cut(posterior.confusion_mean[order], axes)),
        "count": flat(counts),
    }
    if not posterior.abilities.uncertainty:
        return found
    pooled = posterior.require_draws("intervals").confusion.reshape(
        -1, *posterior.confusion_mean.shape
    )
    most = max(1, MOST_NUMBERS // max(len(pooled) * len(axes.rows) * len(axes.columns), 1))
    ends = [
        100 * np.quantile(cut(pooled[:, order[k : k + 50]], axes), INTERVAL, axis=0)
        for k in range(0, min(n, most), 50)
    ]
    low, high = np.concatenate(ends, axis=1) if ends else ([], [])
    return {**found, "low": flat(np.asarray(low)), "high": flat(np.asarray(high))}


def with_kinds(rows: list[Facts], roles: Sequence[Role]) -> list[Facts]:
    """Give the rows with the kind of each one's role."""
    return [{**row, "kind": role.kind.value} for row, role in zip(rows, roles, strict=True)]


def words_of(table: pd.DataFrame, column: str) -> list[Any]:
    """List what a column holds, in order, for a filter."""
    found = table[column].dropna().unique().tolist() if column in table else []
    return [name(word) if column in NAMES else word for word in sorted(found)]


NAMES = ("annotator", "role")
"""Columns that hold words of the data."""


def records(table: pd.DataFrame) -> list[Facts]:
    """Give the rows as dicts of plain Python values; what is missing is None."""
    columns = {str(column): series.tolist() for column, series in table.items()}
    for column, missing in zip(columns, table.isna().to_numpy().T, strict=True):
        for k in np.flatnonzero(missing):
            columns[column][k] = None
    columns |= {key: [name(word) for word in columns[key]] for key in NAMES if key in columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
