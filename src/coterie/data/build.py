"""Table -> Annotations: vocabularies in order, every check, what was taken."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from coterie.data.annotations import Annotations, Array
from coterie.data.anonymous import anonymised
from coterie.data.answers import Answers, code_answers
from coterie.data.codes import Codes, count_pairs, encode
from coterie.data.columns import Asked, Columns, gold_like, place_of
from coterie.data.forms import Triples, read_triples
from coterie.data.gold import gold_of_rows, with_gold
from coterie.data.moments import read_times
from coterie.data.provenance import Export, Form, Gold, Provenance
from coterie.data.repeated import mark_repeated, repeats
from coterie.data.table import INDEX, Table, table_from
from coterie.data.times import FloatArray, Times, times_of
from coterie.data.warn import look_over, tally, warn_of_unsaid
from coterie.errors import Argument, DataError
from coterie.words.values import not_one_of
from coterie.words.visible import text_of

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
    export: Export | None = None,
    anonymise: bool = False,
    time: str | None = None,
) -> Annotations:
    """Make Annotations of a dataframe (pandas, polars, pyarrow) or of triples.

    The parameters are those of :func:`coterie.read`, which also takes files; here ``gold`` is a
    column's name, a mapping or Series item -> label, or a frame of items and labels, and
    ``export`` says what was read of a platform's export.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [0, 1, 1]})
    >>> annotations_from(frame, gold={2: 1})
    <Annotations: 2 items x 2 annotators, 3 labels, 2 classes, 25.0 % missing, 1 gold>
    """
    asked = Asked(item, annotator, label)
    if isinstance(data, Annotations):
        declared = {"classes": classes, "extra_answers": extra_answers, "time": time}
        made = _as_they_are(data, asked._asdict() | declared, gold)
        return anonymised(made) if anonymise else made
    if text_of(duplicates) not in DUPLICATES:
        raise DataError([Argument("duplicates", duplicates), not_one_of(duplicates, DUPLICATES)])
    table = table_from(data)
    place = place_of(table, gold, "gold") if isinstance(gold, str) else None
    columns, triples, known = read_triples(table, asked, place)
    answers = code_answers(table, triples, classes, extra_answers)
    moments = None if time is None else _moments(table, triples, time)
    kept = _kept(table, triples, answers, duplicates, moments)
    annotations = Annotations(
        triples.item.values,
        triples.annotator.values,
        answers.classes,
        answers.extra_answers,
        _encoded(triples, answers, kept),
        provenance=replace(
            _taken(table, columns),
            duplicates=duplicates,
            classes=None if classes is None else tuple(answers.classes.tolist()),
            extra_answers=None if extra_answers is None else tuple(answers.extra_answers.tolist()),
            export=export,
        ),
        times=None if moments is None else _timed(triples, answers, kept, moments),
    )
    tallies = [tally(coded) for coded in triples[:3]]
    known_words = {*(answers.classes if classes else ()), *answers.extra_answers}
    look_over(table, tallies, len(triples.item.values), known_words)
    warn_of_unsaid(table, tallies[2], answers.extra_answers.tolist())
    if known is not None and place is not None:
        source = Gold(column=table.columns[place])
        annotations = gold_of_rows(table, annotations, triples.item_of_row, known, source)
    elif gold is not None:
        annotations = with_gold(annotations, gold)
    if anonymise:
        annotations = anonymised(annotations)
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


def _parts(triples: Triples, answers: Answers, kept: Array | None) -> list[Array]:
    """Give the codes of items, annotators and answers of the labels that are kept."""
    parts = [triples.item.codes, triples.annotator.codes, answers.codes]
    return parts if kept is None else [part[kept] for part in parts]


def _encoded(triples: Triples, answers: Answers, kept: Array | None) -> Codes:
    """Encode the labels that are kept."""
    n_classes = len(answers.classes)
    sizes = (
        len(triples.item.values),
        len(triples.annotator.values),
        n_classes,
        n_classes + len(answers.extra_answers),
    )
    return encode(*_parts(triples, answers, kept), sizes=sizes)


def _kept(
    table: Table, triples: Triples, answers: Answers, duplicates: str, moments: FloatArray | None
) -> Array | None:
    """Mark which labels to keep, None for all; repeated ones are the user's choice."""
    codes = _encoded(triples, answers, None)
    if duplicates == "keep" or count_pairs(codes) == len(answers.codes):
        return None
    order = None if moments is None else np.argsort(moments, kind="stable")
    repeated = mark_repeated(triples, "last" if duplicates == "last" else "first", order)
    if duplicates == "error":
        raise repeats(table, triples, repeated)
    return ~repeated


def _moments(table: Table, triples: Triples, time: str) -> FloatArray:
    """Read when every label was given."""
    if triples.row is not None:
        raise DataError(
            [Argument("time", time), " needs one row per label, and a row here has several"]
        )
    return read_times(table, place_of(table, time, "time"))


def _timed(triples: Triples, answers: Answers, kept: Array | None, moments: FloatArray) -> Times:
    """Sort the labels that are kept by annotator and time."""
    item, annotator, answer = _parts(triples, answers, kept)
    time = moments if kept is None else moments[kept]
    return times_of(item, annotator, answer, time, len(triples.annotator.values))


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
