"""The two forms of a table, long and wide, as triples of codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from coterie.data.annotations import Array
from coterie.data.columns import (
    Asked,
    Columns,
    find_long,
    gold_like,
    guess,
    not_recognised,
    place_of,
)
from coterie.data.encoding import Coded, Mixed, code_objects, in_order, value_array
from coterie.data.table import Table, mixed
from coterie.errors import Argument, DataError
from coterie.words.values import written


class Triples(NamedTuple):
    """The codes of each label's item, annotator and answer; items and annotators in order."""

    item: Coded  # codes (labels,)
    annotator: Coded  # codes (labels,)
    label: Coded  # codes (labels,); values as they came
    row: Array | None  # (labels,) the row each came from; None if label and row are the same
    item_of_row: Array  # (rows,)

    def rows_of(self, labels: Array) -> Array:
        """Give the rows that these labels came from."""
        return labels if self.row is None else self.row[labels]


def read_triples(
    table: Table, asked: Asked, gold: int | None
) -> tuple[Columns, Triples, Coded | None]:
    """Find the columns and read them, long or wide, with each row's gold if there is a column."""
    annotators = _as_list(table, asked.annotator)
    if annotators is not None:
        columns = _asked_wide(table, asked, annotators)
    else:
        found = find_long(table, asked)
        columns = _guessed_wide(table, asked, gold) if found is None else found
    places = [columns.item, *columns.annotators]
    places += [place for place in (columns.label, gold) if place is not None]
    cells = table.read(places)
    if not len(cells[0].codes):
        raise DataError(
            f"{table.name} has no rows, only the columns {written(table.columns)}; "
            "expected one row per label"
        )
    known = None if gold is None else cells.pop()
    triples = _wide(table, columns, cells) if columns.label is None else _long(table, cells)
    return columns, triples, known


def _as_list(table: Table, name: Any) -> list[Hashable] | None:
    """Tell a list of columns from one column, whose name may be a tuple."""
    if isinstance(name, str) or not isinstance(name, Iterable) or getattr(name, "ndim", 1) == 0:
        return None
    return None if isinstance(name, tuple) and name in table.columns else list(name)


def _long(table: Table, cells: list[Coded]) -> Triples:
    item, annotator, label = cells
    for role, coded in (("item", item), ("annotator", annotator), ("label", label)):
        refuse_blanks(table, role, coded)
    item, annotator = in_order(item), in_order(annotator)
    return Triples(item, annotator, label, None, item.codes)


def refuse_blanks(table: Table, role: str, coded: Coded) -> None:
    """Refuse missing cells, with their rows."""
    if coded.codes.min(initial=0) < 0:
        (blank,) = np.nonzero(coded.codes < 0)
        one = len(blank) == 1
        raise DataError(
            f"{table.rows(blank)} {'has' if one else 'have'} a blank {role}; "
            f"fill {'it' if one else 'them'} in, or remove the {'row' if one else 'rows'}"
        )


def _wide(table: Table, columns: Columns, cells: list[Coded]) -> Triples:
    item, *answers = cells
    refuse_blanks(table, "item", item)
    item = in_order(item)
    # One vocabulary for all columns; each column's values are a stretch of the merged codes.
    try:
        merged = code_objects([value for coded in answers for value in coded.values.tolist()])
    except Mixed as error:
        raise mixed(f"the annotators' columns of {table.name} hold", error) from error
    rows, annotators, labels = [], [], []
    first = 0
    for l, coded in enumerate(answers):
        (given,) = np.nonzero(coded.codes >= 0)
        rows.append(given)
        annotators.append(np.full(len(given), l, np.int32))
        labels.append(merged.codes[first + coded.codes[given]])
        first += len(coded.values)
    row = np.concatenate(rows)
    names = value_array(table.columns[place] for place in columns.annotators)
    return Triples(
        Coded(item.codes[row], item.values),
        in_order(Coded(np.concatenate(annotators), names)),
        Coded(np.concatenate(labels), merged.values),
        row,
        item.codes,
    )


def _asked_wide(table: Table, asked: Asked, annotators: Sequence[Hashable]) -> Columns:
    """Take the annotators' columns that the user listed."""
    if asked.label is not None:
        raise DataError(
            [
                *(Argument("annotator"), " lists columns, one per annotator, whose cells are the "),
                *("labels: ", Argument("label", asked.label), " has no place"),
            ],
            argument="label",
            remedy="leave it out, or pass one annotator column",
        )
    places = tuple(place_of(table, name, "annotator") for name in annotators)
    if len(set(places)) < len(places) or not places:
        raise DataError(
            [Argument("annotator"), " must list each annotator's column once, and at least one"]
        )
    return Columns(_item_of_wide(table, asked, places), places, None)


def _item_of_wide(table: Table, asked: Asked, taken: Sequence[int]) -> int:
    if asked.item is not None:
        return place_of(table, asked.item, "item")
    place = guess(table, "item", taken)
    place = table.index if place is None else place
    if place is None:
        raise DataError(
            f"no column of {table.name} is named like the item; "
            f"its columns are {written(table.columns)}",
            remedy=["pass ", Argument("item")],
        )
    return place


def _guessed_wide(table: Table, asked: Asked, gold: int | None) -> Columns:
    """Take every other column as an annotator, if they all speak the same words."""
    item = place_of(table, asked.item, "item") if asked.item is not None else guess(table, "item")
    item = table.index if item is None else item
    if item is None:
        raise not_recognised(table)
    left_out = {item, gold, *gold_like(table)}
    places = [place for place in range(len(table.columns)) if place not in left_out]
    names = [table.columns[place] for place in places]
    if len(set(names)) < len(names) or not _same_words(table.read(places)):
        raise not_recognised(table)
    return Columns(item, tuple(places), None)


def _same_words(columns: list[Coded]) -> bool:
    """Tell whether columns look like annotators answering one question.

    At least two columns are not blank, half of all words are said in more than one column, and
    words come back: there are at least twice as many cells as different words.
    """
    spoken = [set(coded.values.tolist()) for coded in columns if len(coded.values)]
    speakers = Counter(word for words in spoken for word in words)
    shared = 2 * sum(count > 1 for count in speakers.values()) >= len(speakers)
    cells = sum(int(np.count_nonzero(coded.codes >= 0)) for coded in columns)
    return len(spoken) > 1 and shared and cells >= 2 * len(speakers)
