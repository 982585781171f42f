"""Table -> Annotations: vocabularies in order, every check, what was taken."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np

from coterie.data.annotations import Annotations, Array
from coterie.data.answers import Answers, code_answers
from coterie.data.codes import Codes, count_pairs, encode
from coterie.data.columns import ROLES, Asked, Columns, gold_like, place_of
from coterie.data.forms import Triples, read_triples
from coterie.data.gold import gold_of_rows, with_gold
from coterie.data.table import INDEX, Table, listed, table_from
from coterie.data.warn import (
    warn_of_lone_annotator,
    warn_of_lone_label,
    warn_of_mixed_types,
    warn_of_variants,
)
from coterie.errors import DataError

DUPLICATES = ("error", "first", "last", "keep")
log = logging.getLogger("coterie")


def annotations_from(
    data: Any,
    *,
    item: Hashable | None = None,
    annotator: Hashable | Iterable[Hashable] | None = None,
    label: Hashable | None = None,
    gold: Any = None,
    classes: Iterable[Hashable] | None = None,
    extra_answers: Iterable[Hashable] | None = None,
    duplicates: str = "error",
) -> Annotations:
    """Make Annotations of a dataframe (pandas, polars, pyarrow) or of triples.

    The parameters are those of :func:`coterie.read`, which also takes files; here ``gold`` is a
    column's name, a mapping or Series item -> label, or a frame of items and labels.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [0, 1, 1]})
    >>> annotations_from(frame, gold={2: 1})
    <Annotations: 2 items x 2 annotators, 3 labels, 2 classes, 25.0 % missing, 1 gold>
    """
    told = {
        "item": item,
        "annotator": annotator,
        "label": label,
        "classes": classes,
        "extra_answers": extra_answers,
    }
    if isinstance(data, Annotations):
        return _as_they_are(data, told, gold)
    if duplicates not in DUPLICATES:
        raise DataError(f"duplicates={duplicates!r} is not one of {listed(DUPLICATES)}")
    table = table_from(data)
    place = place_of(table, gold, "gold") if isinstance(gold, str) else None
    columns, triples, known = read_triples(table, Asked(item, annotator, label), place)
    answers = code_answers(table, triples, classes, extra_answers)
    annotations = Annotations(
        triples.item.values,
        triples.annotator.values,
        answers.classes,
        answers.extra_answers,
        _encoded(table, triples, answers, duplicates),
        tuple(table.columns[p] for p in _places(columns) if p != INDEX),
        _origin(table, columns, place),
    )
    _look_over(table, triples)
    log.info("%s", annotations.origin)
    if known is not None:
        return gold_of_rows(table, annotations, triples.item_of_row, known)
    return annotations if gold is None else with_gold(annotations, gold)


def _as_they_are(annotations: Annotations, told: dict[str, Any], gold: Any) -> Annotations:
    """Pass Annotations through, with gold if given."""
    for argument, value in told.items():
        if value is not None:
            raise DataError(
                f"{argument}= cannot change Annotations that were already made; "
                f"pass {argument}= where the labels are read"
            )
    return annotations if gold is None else with_gold(annotations, gold)


def _look_over(table: Table, triples: Triples) -> None:
    """Warn of what works, but a person should look at."""
    warn_of_variants(table, triples.label)
    warn_of_lone_label(table, triples.label)
    warn_of_lone_annotator(table, triples.annotator)
    for role, coded in zip(ROLES, triples[:3], strict=True):
        warn_of_mixed_types(table, role, coded)


def _encoded(table: Table, triples: Triples, answers: Answers, duplicates: str) -> Codes:
    """Encode the triples; what to do with an annotator's repeated labels is the user's choice."""
    item, annotator = triples.item, triples.annotator
    sizes = (
        len(item.values),
        len(annotator.values),
        len(answers.classes),
        len(answers.classes) + len(answers.extra_answers),
    )
    parts = [item.codes, annotator.codes, answers.codes]
    codes = encode(*parts, sizes=sizes)
    if duplicates == "keep" or count_pairs(codes) == len(answers.codes):
        return codes
    repeated = _repeated(triples, "last" if duplicates == "last" else "first")
    if duplicates == "error":
        raise DataError(_repeats(table, triples, repeated))
    return encode(*(part[~repeated] for part in parts), sizes=sizes)


def _repeated(triples: Triples, keep: Literal["first", "last"]) -> Array:
    """Mark an annotator's labels of an item but the first or last."""
    import pandas as pd

    pair = triples.item.codes.astype(np.int64) * len(triples.annotator.values)
    pair += triples.annotator.codes
    return pd.Series(pair).duplicated(keep=keep).to_numpy()


def _repeats(table: Table, triples: Triples, repeated: Array) -> str:
    (again,) = np.nonzero(repeated)
    first = again[0]
    item = triples.item.values.tolist()[triples.item.codes[first]]
    annotator = triples.annotator.values.tolist()[triples.annotator.codes[first]]
    rows = np.unique(triples.rows_of(again))
    return (
        f"{table.rows(rows)} {'repeats' if len(rows) == 1 else 'repeat'} the item and annotator "
        f"of an earlier label ({len(again):,} in all; first item {item!r}, "
        f'annotator {annotator!r}); pass duplicates="first" or "last" to keep one label of each, '
        'or "keep" to count them all'
    )


def _places(columns: Columns) -> list[int]:
    return [columns.item, *columns.annotators, *([] if columns.label is None else [columns.label])]


def _origin(table: Table, columns: Columns, gold: int | None) -> str:
    """Say which columns were taken."""
    taken = f"item {table.column_name(columns.item)}, "
    if columns.label is None:
        names = listed(table.columns[place] for place in columns.annotators)
        taken += f"one column an annotator: {names}"
    else:
        (annotator,) = columns.annotators
        taken += (
            f"annotator {table.column_name(annotator)}, label {table.column_name(columns.label)}"
        )
    if gold is not None:
        taken += f", gold {table.column_name(gold)}"
    unread = [table.columns[p] for p in gold_like(table) if p not in _places(columns)]
    if unread and gold is None:
        taken += f" (not read: {listed(unread)}; gold= would take it as known labels)"
    return f"{table.name}{table.note}: {taken}"
