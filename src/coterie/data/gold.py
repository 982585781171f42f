"""Known labels: from a column of the table, a mapping, a Series, or another table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.data.annotations import Annotations, Array
from coterie.data.columns import gold_like, guess
from coterie.data.encoding import Coded, look_up
from coterie.data.forms import refuse_blanks
from coterie.data.provenance import Format, Gold, Source
from coterie.data.table import Table, columns_table, is_frame, table_from
from coterie.errors import Argument, DataError
from coterie.words.values import join, written
from coterie.words.visible import quoted

if TYPE_CHECKING:
    import pandas as pd


def with_gold(annotations: Annotations, gold: Any) -> Annotations:
    """Give the annotations with these known labels, in place of any they had.

    Parameters
    ----------
    annotations
        The labels.
    gold
        A mapping or Series item -> label, or a frame (or :class:`Table`) of items and labels;
        blank labels are unknown.

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
    """Give the annotations with the known label of each row's item.

    Parameters
    ----------
    table
        Where the rows come from.
    annotations
        The labels.
    item
        The item of each row, shape (rows,).
    label
        The known label of each row, -1 where unknown, codes of shape (rows,).
    origin
        Where the known labels come from.
    """
    place = look_up(label.values, annotations.classes)
    (known,) = np.nonzero(label.codes >= 0)
    truth = place[label.codes[known]]
    if (truth < 0).any():
        raise _never_true(table, annotations, item, label, known[truth < 0])
    gold = np.full(annotations.n_items, -1, np.int32)
    gold[item[known]] = truth
    (contradicted,) = np.nonzero(gold[item[known]] != truth)
    if len(contradicted):
        i = item[known[contradicted[0]]]
        said = annotations.classes[np.unique(truth[item[known] == i])].tolist()
        raise DataError(
            f"item {quoted(annotations.items.tolist()[i])} has {len(said)} gold labels in "
            f"{table.name}, {join([quoted(label) for label in said])}; keep one"
        )
    return annotations.with_gold_codes(gold, origin)


def _never_true(
    table: Table, annotations: Annotations, item: Array, label: Coded, rows: Array
) -> DataError:
    value = label.values.tolist()[label.codes[rows[0]]]
    of = f"the label {quoted(value)} of item {quoted(annotations.items.tolist()[item[rows[0]]])}"
    if value in annotations.extra_answers.tolist():
        return DataError(
            f"{of} in {table.name} is an extra answer, which is never true", remedy="correct it"
        )
    return DataError(
        f"{of} in {table.name} is not one of the classes "
        f"{written(annotations.classes.tolist(), '[]')}",
        remedy=["correct it, or pass ", Argument("classes"), " with every possible truth"],
    )


def known_labels(source: Any, name: str = "gold") -> pd.Series[Any]:
    """Give the labels of a truth or gold table as a Series, item -> label.

    Parameters
    ----------
    source
        As ``gold`` in :func:`with_gold`; rows with a blank label are left out.
    name
        What errors call it.

    Examples
    --------
    >>> known_labels({"q2": "no", "q1": None}).to_dict()
    {'q2': 'no'}
    """
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

    A text file's '7' is then the typed source's 7, for items and for labels.

    Parameters
    ----------
    annotations
        The data to be scored.
    source
        A mapping or Series item -> label, or a frame (or :class:`Table`) of items and labels;
        blank labels are left out.

    Examples
    --------
    >>> from coterie.data import annotations_from
    >>> crowd = annotations_from([(1, "ann", "yes"), (1, "bob", "no"), (2, "bob", "no")])
    >>> truth_for(crowd, {"2": "no", "9": "yes"}).to_dict()
    {2: 'no', '9': 'yes'}
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
    found = place >= 0
    result = np.array(values, object)
    result[found] = vocabulary[place[found]]
    return result


def items_and_labels(source: Any, name: str) -> tuple[Table, Coded, Coded]:
    """Read items and their known labels; every item must be named, labels may be blank."""
    import pandas as pd

    if isinstance(source, Table):
        table = source
    elif isinstance(source, pd.Series):
        table = _pairs(name, source.index.tolist(), source.tolist())
    elif isinstance(source, Mapping):
        table = _pairs(name, list(source), list(source.values()))
    elif is_frame(source):
        table = replace(table_from(source), source=Source(f"the {name} frame", Format.FRAME))
    else:
        raise DataError(
            f"{name} must be a Series or dict, item -> label, or a dataframe of items and labels, "
            f"got {quoted(source)}",
            argument=name,
            remedy="coterie.io.read_truth reads a file",
        )
    places = _gold_columns(table)
    item, label = table.read(places)
    refuse_blanks(table, "item", item)
    return table, item, label


def _pairs(name: str, items: list[Any], labels: list[Any]) -> Table:
    return columns_table(Source(name, Format.MAPPING), {"item": items, "label": labels})


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
