"""Rows of an export -> Annotations, with their gold."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from coterie.data import annotations_from
from coterie.data.annotations import Annotations
from coterie.data.columns import ROLES
from coterie.data.provenance import OWN_GOLD
from coterie.data.table import columns_table
from coterie.errors import Argument, DataError, Words
from coterie.io.exports.archive import parts_of
from coterie.io.exports.label_studio import PREDICTIONS
from coterie.io.exports.questions import SINGLE, in_order
from coterie.io.exports.read import rows_of
from coterie.io.exports.rows import ExportRows
from coterie.io.exports.sagemaker import is_manifest, manifest_labels
from coterie.io.files import File, find
from coterie.io.reading import Reading
from coterie.io.tables import table_of_file


def named_by(rows: ExportRows, source: Any) -> ExportRows:
    """Note the files as the user named them."""
    several = isinstance(source, (list, tuple))
    names = [
        str(one.path if isinstance(one, File) else one) for one in (source if several else [source])
    ]
    own = replace(rows.source, path=names[0])
    return replace(
        rows, source=own, facts=replace(rows.facts, paths=tuple(names) if len(names) > 1 else ())
    )


def annotations_of(
    rows: ExportRows, gold: Any, plain: Mapping[str, Any], options: Reading
) -> Annotations:
    """Make Annotations of rows; ``gold`` may be one of their fields, a file, or data."""
    if not rows.columns["item"]:
        models: Words = ["pass ", Argument("annotators", PREDICTIONS), " to read the models"]
        raise DataError(
            f"nothing in {rows.source.name} counts: {rows.facts.sentence()}",
            remedy=models if PREDICTIONS in dict(rows.facts.left_out) else "",
        )
    by_field = isinstance(gold, str) and rows.has_gold_field
    column = gold if by_field else OWN_GOLD
    known: Any = column if any(label is not None for label in rows.columns["gold"]) else None
    if gold is not None and not by_field:
        known = _of_file(rows, gold, options) if isinstance(gold, (str, PathLike, File)) else gold
    told = dict(plain)
    if known == OWN_GOLD and told["classes"] is None:
        told["classes"] = _classes(rows, told["extra_answers"])
    table, facts = rows.table(column), rows.facts
    roles: dict[str, Any] = {role: role for role in ROLES}
    roles["time"] = "time" if rows.timed else None
    return annotations_from(table, gold=known, export=facts, **roles, **told)


def _classes(rows: ExportRows, extra_answers: Any) -> tuple[Hashable, ...] | None:
    """Give the classes where a reference has one that nobody said; else None: every label seen."""
    said, never = set(rows.columns["label"]), set(extra_answers or ())
    unsaid = {label for label in rows.columns["gold"] if label is not None} - said - never
    return in_order([*(said - never), *unsaid]) if unsaid else None


def _of_file(rows: ExportRows, gold: str | PathLike[str] | File, options: Reading) -> Any:
    """Read known labels from a file: an export of references, or a table of items and labels."""
    if not isinstance(gold, File) and gold != "-" and not Path(gold).expanduser().exists():
        raise DataError(
            [Argument("gold", str(gold)), f" is neither a field of {rows.source.name} nor a file"]
        )
    parts = parts_of(gold)
    single = rows.facts.kind == SINGLE
    asked = replace(options, gold=None, question=rows.facts.question)
    known = rows_of(parts, None, asked, single=single)
    if known is None:
        return table_of_file(gold if isinstance(gold, File) else find(gold))
    labelled = set(rows.columns["item"])
    agreed = {item: label for item, label in _agreed(known).items() if item in labelled}
    path = gold.path if isinstance(gold, File) else str(gold)
    columns: dict[Hashable, list[Any]] = {"item": [*agreed], "label": [*agreed.values()]}
    return columns_table(replace(known.source, path=path), columns)


def _agreed(rows: ExportRows) -> dict[Hashable, Hashable]:
    """Give the labels on which all who labelled an item agree."""
    said: dict[Hashable, set[Hashable]] = {}
    for item, label in zip(rows.columns["item"], rows.columns["label"], strict=True):
        said.setdefault(item, set()).add(label)
    return {item: next(iter(one)) for item, one in said.items() if len(one) == 1}


def truth_in(source: Any, items: Collection[Hashable] = ()) -> dict[Hashable, Hashable] | None:
    """Give the true labels of an export: references, else what all agree on; None for a table.

    An output manifest of SageMaker holds no annotators, but a consensus.
    """
    parts = parts_of(source)
    if all(part.header for part in parts):
        return None
    if len(parts) == 1 and is_manifest(parts[0].first):
        return manifest_labels(parts[0], items)
    rows = rows_of(parts, None, Reading().of_export())
    return None if rows is None else dict(rows.known) or _agreed(rows)
