"""Input that works, but that a person should look at."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import numpy as np

from coterie.data.encoding import Coded
from coterie.data.table import Table
from coterie.errors import DataWarning


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=2)


def _alike(values: list[Any], key: Any) -> list[list[Any]]:
    groups = defaultdict(list)
    for value in values:
        groups[key(value)].append(value)
    return [group for group in groups.values() if len(group) > 1]


def warn_of_variants(table: Table, label: Coded) -> None:
    """Show labels that differ only by case or surrounding blanks."""
    texts = [value for value in label.values.tolist() if isinstance(value, str)]
    groups = _alike(sorted(texts), lambda text: text.strip().casefold())
    if not groups:
        return
    counts = dict(zip(label.values.tolist(), np.bincount(label.codes).tolist(), strict=True))
    shown = "; ".join(
        ", ".join(f"{text!r} ({counts[text]:,})" for text in group) for group in groups[:3]
    )
    more = f"; and {len(groups) - 3} more groups" if len(groups) > 3 else ""
    _warn(
        f"labels of {table.name} that differ only by case or surrounding blanks count as different "
        f"(how often): {shown}{more}; write them alike if they mean the same"
    )


def warn_of_mixed_types(table: Table, role: str, coded: Coded) -> None:
    """Show values that are written alike and differ in type, such as 1 and '1'."""
    values = coded.values
    if values.dtype != object or all(type(value) is str for value in values):
        return
    groups = _alike(values.tolist(), str)
    if groups:
        pair = " and ".join(f"{value!r} ({type(value).__name__})" for value in groups[0])
        more = f", and {len(groups) - 1:,} more such cases" if len(groups) > 1 else ""
        _warn(
            f"the {role} column of {table.name} holds {pair}{more}, which count as different; "
            "give the column one type if they mean the same"
        )


def warn_of_lone_annotator(table: Table, annotator: Coded) -> None:
    """Say that a single annotator cannot be compared with anybody."""
    if len(annotator.values) == 1:
        _warn(
            f"{table.name} has one annotator, {annotator.values.tolist()[0]!r}: with nobody to "
            "compare, a result can only repeat the labels"
        )


def warn_of_lone_label(table: Table, label: Coded) -> None:
    """Say that every label is the same, though more classes were declared."""
    if len(label.values) == 1:
        _warn(
            f"every label of {table.name} is {label.values.tolist()[0]!r}; "
            "the other classes were never said"
        )
