"""Table -> Annotations: vocabularies in order, every check, what was taken."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from coterie.data.annotations import Annotations, Array
from coterie.data.answers import Answers, code_answers
from coterie.data.codes import Codes, count_pairs, encode
from coterie.data.columns import ROLES, Asked, Columns, gold_like, place_of
from coterie.data.forms import Triples, read_triples
from coterie.data.gold import gold_of_rows, with_gold
from coterie.data.provenance import Form, Gold, Provenance
from coterie.data.table import INDEX, Table, table_from
from coterie.data.warn import (
    warn_of_lone_annotator,
    warn_of_lone_label,
    warn_of_mixed_types,
    warn_of_variants,
)
from coterie.errors import Argument, DataError
from coterie.words.values import written

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
    asked = Asked(item, annotator, label)
    if isinstance(data, Annotations):
        declared = {"classes": classes, "extra_answers": extra_answers}
        return _as_they_are(data, asked._asdict() | declared, gold)
    if duplicates not in DUPLICATES:
        raise DataError(
            [Argument("duplicates", duplicates), f" is not one of {written(DUPLICATES)}"]
        )
    table = table_from(data)
    place = place_of(table, gold, "gold") if isinstance(gold, str) else None
    columns, triples, known = read_triples(table, asked, place)
    answers = code_answers(table, triples, classes, extra_answers)
    annotations = Annotations(
        triples.item.values,
        triples.annotator.values,
        answers.classes,
        answers.extra_answers,
        _encoded(table, triples, answers, duplicates),
        provenance=replace(
            _taken(table, columns),
            duplicates=duplicates,
            classes=None if classes is None else tuple(answers.classes.tolist()),
            extra_answers=None if extra_answers is None else tuple(answers.extra_answers.tolist()),
        ),
    )
    _look_over(table, triples)
    if known is not None and place is not None:
        source = Gold(column=table.columns[place])
        annotations = gold_of_rows(table, annotations, triples.item_of_row, known, source)
    elif gold is not None:
        annotations = with_gold(annotations, gold)
    log.info("%s", annotations.origin)
    return annotations


def _as_they_are(annotations: Annotations, told: dict[str, Any], gold: Any) -> Annotations:
    """Pass Annotations through, with gold if given."""
    for argument, value in told.items():
        if value is not None:
            raise DataError(
                [Argument(argument), " cannot change Annotations that were already made"],
                remedy=["pass ", Argument(argument), " where the labels are read"],
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
        raise _repeats(table, triples, repeated)
    return encode(*(part[~repeated] for part in parts), sizes=sizes)


def _repeated(triples: Triples, keep: Literal["first", "last"]) -> Array:
    """Mark an annotator's labels of an item but the first or last."""
    import pandas as pd

    pair = triples.item.codes.astype(np.int64) * len(triples.annotator.values)
    pair += triples.annotator.codes
    return pd.Series(pair).duplicated(keep=keep).to_numpy()


def _repeats(table: Table, triples: Triples, repeated: Array) -> DataError:
    (again,) = np.nonzero(repeated)
    item = triples.item.values.tolist()[triples.item.codes[again[0]]]
    annotator = triples.annotator.values.tolist()[triples.annotator.codes[again[0]]]
    rows = np.unique(triples.rows_of(again))
    first, last, keep = (Argument("duplicates", rule) for rule in ("first", "last", "keep"))
    return DataError(
        f"{table.rows(rows)} {'repeats' if len(rows) == 1 else 'repeat'} the item and annotator "
        f"of an earlier label ({len(again):,} in all; first item {item!r}, "
        f"annotator {annotator!r})",
        remedy=[
            *("pass ", first, " or ", last, " to keep one label of each, "),
            *("or ", keep, " to count them all"),
        ],
    )


def _taken(table: Table, columns: Columns) -> Provenance:
    """Say which columns were taken."""
    places = {columns.item, *columns.annotators, columns.label}
    return Provenance(
        source=table.source,
        form=Form.WIDE if columns.label is None else Form.LONG,
        item=None if columns.item == INDEX else table.columns[columns.item],
        annotators=tuple(table.columns[place] for place in columns.annotators),
        label=None if columns.label is None else table.columns[columns.label],
        unread=tuple(table.columns[place] for place in gold_like(table) if place not in places),
    )
