"""Repeated labels of one item by one annotator: which they are, and what refuses them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import numpy as np

from coterie.data.annotations import Array
from coterie.data.forms import Triples
from coterie.data.table import Table
from coterie.errors import Argument, DataError
from coterie.words.visible import quoted


def mark_repeated(
    triples: Triples, keep: Literal["first", "last"], order: Array | None = None
) -> Array:
    """Mark an annotator's labels of an item but the first or last, by rows or in this order."""
    import pandas as pd

    pair = triples.item.codes.astype(np.int64) * len(triples.annotator.values)
    pair += triples.annotator.codes
    if order is None:
        return pd.Series(pair).duplicated(keep=keep).to_numpy()
    marked = np.zeros(len(pair), bool)
    marked[order] = pd.Series(pair[order]).duplicated(keep=keep).to_numpy()
    return marked


def repeats(table: Table, triples: Triples, repeated: Array) -> DataError:
    """Say which rows repeat the item and annotator of an earlier label."""
    (again,) = np.nonzero(repeated)
    item = triples.item.values.tolist()[triples.item.codes[again[0]]]
    annotator = triples.annotator.values.tolist()[triples.annotator.codes[again[0]]]
    rows = np.unique(triples.rows_of(again))
    first = (item, annotator)
    return refused(table.rows(rows), len(rows), len(again), count_same(triples, again), first)


def refused(
    rows: str, n_rows: int, repeated: int, same: int, first: tuple[Hashable, Hashable]
) -> DataError:
    """Refuse repeated labels.

    Parameters
    ----------
    rows, n_rows
        The rows that are named, and how many those are.
    repeated, same
        Repeated labels, and how many of them say what the first said.
    first
        Item and annotator of the first one.
    """
    item, annotator = map(quoted, first)
    rule = {name: Argument("duplicates", name) for name in ("first", "last", "keep")}
    return DataError(
        f"{rows} {'repeats' if n_rows == 1 else 'repeat'} the item and annotator "
        f"of an earlier label ({repeated:,} in all, {_agreement(repeated, same)}; first item "
        f"{item}, annotator {annotator})",
        remedy=[
            *("pass ", rule["first"], " or ", rule["last"], " to keep one label of each, "),
            *("or ", rule["keep"], " to count them all"),
        ],
    )


def count_same(triples: Triples, again: Array) -> int:
    """Count the repeated labels that say the same as the first of their item and annotator."""
    import pandas as pd

    pair = pd.MultiIndex.from_arrays([triples.item.codes, triples.annotator.codes])
    label = pd.Series(triples.label.codes, index=pair)
    first = label[~label.index.duplicated()]
    return int((first.loc[pair[again]].to_numpy() == label.iloc[again].to_numpy()).sum())


def _agreement(repeated: int, same: int) -> str:
    if same == repeated:
        return "which say the same" if same > 1 else "which says the same"
    return f"{same:,} of which say the same" if same else "none of which says the same"
