"""What is known of items, labels and kinds: from a column of the table, a mapping, a Series, or
another table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.data.annotations import Annotations
from coterie.data.codes import Array
from coterie.data.columns import gold_like, guess, place_of, refuse_blanks
from coterie.data.provenance import Format, Gold, Source
from coterie.data.table import (
    INDEX,
    Coded,
    Table,
    columns_table,
    in_order,
    is_frame,
    look_up,
    table_from,
)  # fmt: skip
from coterie.errors import Argument, DataError
from coterie.words.values import join, written
from coterie.words.visible import quoted

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 3
"""Items that an error names."""


def with_gold(annotations: Annotations, gold: Any) -> Annotations:
    """Give the annotations with these known labels, in place of any they had.

    ``gold`` is a mapping or Series item -> label, or a frame (or :class:`Table`) of items and
    labels; blank labels are unknown.

    Examples
    --------
    >>> from coterie.data import annotations_from
    >>> crowd = annotations_from([("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "bob", "no")])
    >>> with_gold(crowd, {"q2": "no"}).gold
    {'q2': 'no'}
    """
    table, item, label = items_and_labels(gold, "gold")
    code = look_up(item.values, annotations.items)
    if code.min(initial=0) < 0:
        raise not_labelled(table, item.values[code < 0].tolist())
    return gold_of_rows(table, annotations, code[item.codes], label, Gold(source=table.source))


def not_labelled(table: Table, unknown: list[Any]) -> DataError:
    """Say which known items have no labels."""
    more = f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else ""
    return DataError(
        f"item {quoted(unknown[0])} of {table.name}{more} is not among the items labelled; "
        "remove it, or write the ids as in the labels"
    )


def gold_of_rows(
    table: Table, annotations: Annotations, item: Array, label: Coded, origin: Gold
) -> Annotations:
    """Give the annotations with the known label of each row's item, -1 where that is unknown."""
    place = look_up(label.values, annotations.classes)
    (known,) = np.nonzero(label.codes >= 0)
    truth = place[label.codes[known]]
    classes = annotations.classes.tolist()

    def named(i: int) -> str:
        return quoted(annotations.items[[i]].tolist()[0])

    if (truth < 0).any():
        row = known[truth < 0][0]
        value = label.values.tolist()[label.codes[row]]
        of = f"the label {quoted(value)} of item {named(item[row])} in {table.name}"
        if value in annotations.extra_answers.tolist():
            raise DataError(f"{of} is an extra answer, which is never true", remedy="correct it")
        raise DataError(
            f"{of} is not one of the classes {written(classes, '[]')}",
            remedy=["correct it, or pass ", Argument("classes"), " with every possible truth"],
        )
    gold = np.full(annotations.n_items, -1, np.int32)
    gold[item[known]] = truth
    (contradicted,) = np.nonzero(gold[item[known]] != truth)
    if len(contradicted):
        i = item[known[contradicted[0]]]
        said = [quoted(classes[t]) for t in np.unique(truth[item[known] == i])]
        raise DataError(
            f"item {named(i)} has {len(said)} gold labels in {table.name}, {join(said)}; keep one"
        )
    return annotations.with_gold_codes(gold, origin)


def known_labels(source: Any, name: str = "gold") -> pd.Series[Any]:
    """Give the labels that such a source holds, which errors call so: a Series, item -> label."""
    import pandas as pd

    table, item, label = items_and_labels(source, name)
    rows = np.nonzero(label.codes >= 0)[0]
    known = pd.Series(
        label.values[label.codes[rows]],
        index=pd.Index(item.values[item.codes[rows]], name="item", tupleize_cols=False),
        name="label",
    )
    several = known.groupby(level=0).nunique() > 1
    if several.any():
        raise DataError(
            f"item {quoted(several.index[several][0])} has several labels in {table.name}; keep one"
        )
    return known[~known.index.duplicated()]


def truth_for(annotations: Annotations, source: Any) -> pd.Series[Any]:
    """Give the labels to score a result with, written as in the data: a Series, item -> label.

    A text file's '7' is then the typed source's 7, for items and for labels. ``source`` is a
    mapping or Series item -> label, or a frame (or :class:`Table`) of items and labels; blank
    labels are left out.
    """
    import pandas as pd

    truth = known_labels(source, "truth")
    items = _as_written(truth.index.to_numpy(), annotations.items)
    labels = _as_written(truth.to_numpy(), annotations.classes)
    index = pd.Index(items, name="item", tupleize_cols=False)
    return pd.Series(labels, index=index, name=truth.name)


def _as_written(values: Array, vocabulary: Array) -> Array:
    """Give the vocabulary's own value for each value that is written like one of it."""
    place = look_up(values, vocabulary)
    result = np.array(values, object)
    result[place >= 0] = vocabulary[place[place >= 0]]
    return result


def items_and_labels(source: Any, name: str) -> tuple[Table, Coded, Coded]:
    """Read items and their known labels; every item must be named, labels may be blank."""
    import pandas as pd

    if isinstance(source, Table):
        table = source
    elif isinstance(source, pd.Series | Mapping):
        items, labels = (
            (source.index.tolist(), source.tolist())
            if isinstance(source, pd.Series)
            else (list(source), list(source.values()))
        )
        table = columns_table(Source(name, Format.MAPPING), {"item": items, "label": labels})
    elif is_frame(source):
        table = replace(table_from(source), source=Source(f"the {name} frame", Format.FRAME))
    else:
        raise DataError(
            f"{name} must be a Series or dict, item -> label, or a dataframe of items and labels, "
            f"got {quoted(source)}",
            argument=name,
            remedy="coterie.io.read_truth reads a file",
        )
    item, label = table.read(_gold_columns(table))
    refuse_blanks(table, "item", item)
    return table, item, label


def _gold_columns(table: Table) -> tuple[int, int]:
    """Find the columns of items and known labels; of two columns, the second holds the labels."""
    item = guess(table, "item")
    truths = gold_like(table)
    if len(truths) > 1:
        raise DataError(
            f"{len(truths)} columns of {table.name} fit the known label equally well, "
            f"{written(table.columns[place] for place in truths)}; keep one"
        )
    label = truths[0] if truths else guess(table, "label")
    if item is None and len(table.columns) == 1:
        item, label = table.index, 0
    elif len(table.columns) == 2:
        item = 1 - (1 if label is None else label) if item is None else item
        label = 1 - item if label is None else label
    if item is None or label is None or item == label:
        raise DataError(
            f"{table.name} must have a column of items and one of known labels; its columns are "
            f"{written(table.columns)}; call them 'item' and 'label'"
        )
    return item, label


@dataclass(frozen=True, eq=False)
class KnownKinds:
    """The names of the kinds, in order, and the kind of every item, shape (items,)."""

    names: tuple[Any, ...]
    codes: Array


def known_kinds(given: Any, annotations: Annotations) -> KnownKinds:
    """Give the kind of every item, from a mapping or Series item -> kind, or a frame of both.

    Items that the annotations do not have are passed over; an item without a kind is an error.
    """
    return _kinds_of_rows(annotations, *items_and_labels(given, "kinds"))


def kinds_of_column(table: Table, column: str, annotations: Annotations) -> KnownKinds:
    """Give the kind of every item, from a column of the table that the labels were read from."""
    place, provenance = place_of(table, column, "kinds"), annotations.provenance
    name = None if provenance is None else provenance.item
    at = guess(table, "item") if name is None else place_of(table, name, "item")
    return _kinds_of_rows(annotations, table, *table.read([INDEX if at is None else at, place]))


def _kinds_of_rows(
    annotations: Annotations, table: Table, item_read: Coded, kind_read: Coded
) -> KnownKinds:
    code = look_up(item_read.values, annotations.items)
    item = np.where(item_read.codes >= 0, code[item_read.codes], -1)
    kind = in_order(kind_read)  # whatever the order of the rows
    (rows,) = np.nonzero((item >= 0) & (kind.codes >= 0))
    found = np.full(annotations.n_items, -1, np.int32)
    found[item[rows]] = kind.codes[rows]
    words, items = kind.values.tolist(), annotations.items.tolist()
    (contradicted,) = np.nonzero(found[item[rows]] != kind.codes[rows])
    if len(contradicted):
        row = rows[contradicted[0]]
        both = f"{quoted(words[kind.codes[row]])} and {quoted(words[found[item[row]]])}"
        raise DataError(
            f"item {quoted(items[item[row]])} is of two kinds in {table.name}, {both}; keep one"
        )
    (missing,) = np.nonzero(found < 0)
    if len(missing):
        some = ", ".join(quoted(items[i]) for i in missing[:SHOWN])
        raise DataError(
            [f"{len(missing):,} items have no kind in ", Argument("kinds"), f", such as {some}"],
            remedy="give every item a kind, 'other' for example",
        )
    used, codes = np.unique(found, return_inverse=True)
    return KnownKinds(tuple(words[k] for k in used), codes.astype(np.int32))
