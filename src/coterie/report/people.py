"""What the page says of coteries and annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.report.annotator_kinds import kinds_by_role
from coterie.report.matrix import Axes, cut
from coterie.roles import Kind, Role
from coterie.words.names import name

MOST_CARDS = 24
MOST_ROWS = 100
MOST_MEMBERS = 30
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
    unlike = [
        own is not shared and Kind.UNKNOWN not in (own, shared)
        for own, shared in zip(*kinds_by_role(posterior), strict=True)
    ]
    cards = [
        {**row, "matrix": matrix.tolist(), **members_of(row["coterie"], table)}
        for row, matrix in zip(
            rows[:MOST_CARDS], cut(mean_matrices(posterior, partition.group), axes), strict=False
        )
    ]
    others = rows[MOST_CARDS : MOST_CARDS + MOST_ROWS]
    counts = posterior.n_coteries
    low, high = np.quantile(counts, INTERVAL)
    numbers, times = np.unique(counts, return_counts=True)
    return {
        "n": partition.n_coteries,
        "cards": cards,
        "others": others,
        "left_out": len(rows) - len(cards) - len(others),
        "n_unlike": sum(unlike),
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
    """Describe the annotators, those with the most labels first: they shape the result.

    The matrices are whole percents, row after row, for a script that shows them on demand.
    """
    order = np.argsort(-table["n_labels"].to_numpy(), kind="stable")[:MOST_ANNOTATORS]
    shown = table.iloc[order]
    whole = np.rint(100 * cut(posterior.confusion_mean[shown.index], axes)).astype(int)
    rows = records(shown)
    if posterior.abilities.uncertainty:
        roles = posterior.roles().role
        rows = with_kinds(rows, [roles[l] for l in order])
    return {
        "rows": rows,
        "left_out": len(table) - len(shown),
        "n": len(table),
        "matrices": whole.reshape(len(rows), -1).tolist(),
        "has_interval": "accuracy_low" in table,
        "has_role": "role" in table,
        "has_coterie": "coterie" in table,
        "roles": words_of(shown, "role"),
        "coteries": words_of(shown, "coterie"),
    }


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
