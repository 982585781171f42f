"""Known kinds of items: from a column of the table, a mapping, a Series, or another table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.data.annotations import Annotations, Array
from coterie.data.columns import guess, place_of
from coterie.data.encoding import Coded, in_order, look_up
from coterie.data.gold import items_and_labels
from coterie.data.table import INDEX, Table
from coterie.errors import Argument, DataError
from coterie.words.visible import quoted

SHOWN = 3
"""Items that an error names."""


@dataclass(frozen=True, eq=False)
class KnownKinds:
    """The kind of every item.

    Parameters
    ----------
    names
        What the kinds are called, in order.
    codes
        The kind of each item, shape (items,).
    """

    names: tuple[Any, ...]
    codes: Array


def known_kinds(given: Any, annotations: Annotations) -> KnownKinds:
    """Give the kind of every item, from a mapping or Series item -> kind, or a frame of both.

    Items that the annotations do not have are passed over; an item without a kind is an error.

    Examples
    --------
    >>> from coterie.data import annotations_from
    >>> crowd = annotations_from([("q1", "ann", "yes"), ("q2", "bob", "no")])
    >>> known_kinds({"q1": "cats", "q2": "dogs", "q3": "dogs"}, crowd)
    KnownKinds(names=('cats', 'dogs'), codes=array([0, 1], dtype=int32))
    """
    table, item, kind = items_and_labels(given, "kinds")
    code = look_up(item.values, annotations.items)
    return _of_rows(table, annotations, code[item.codes], kind)


def kinds_of_column(table: Table, column: str, annotations: Annotations) -> KnownKinds:
    """Give the kind of every item, from a column of the table that the labels were read from."""
    place, provenance = place_of(table, column, "kinds"), annotations.provenance
    name = None if provenance is None else provenance.item
    at = guess(table, "item") if name is None else place_of(table, name, "item")
    items = INDEX if at is None else at
    item, kind = table.read([items, place])
    code = look_up(item.values, annotations.items)
    return _of_rows(table, annotations, np.where(item.codes >= 0, code[item.codes], -1), kind)


def _of_rows(table: Table, annotations: Annotations, item: Array, read: Coded) -> KnownKinds:
    kind = in_order(read)  # whatever the order of the rows
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
