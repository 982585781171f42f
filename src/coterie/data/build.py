"""Table -> Annotations: vocabularies in order, every check, what was taken, and what works, but
that a person should look at.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from coterie.data.annotations import Annotations
from coterie.data.codes import (
    Array,
    IntArray,
    annotator_of,
    count_pairs,
    encode,
    times_of,
)  # fmt: skip
from coterie.data.columns import (
    ROLES,
    Asked,
    Columns,
    Triples,
    gold_like,
    place_of,
    read_times,
    read_triples,
)  # fmt: skip
from coterie.data.gold import gold_of_rows, with_gold
from coterie.data.provenance import Export, Form, Gold, Provenance
from coterie.data.table import (
    INDEX,
    Coded,
    Table,
    in_order,
    look_up,
    sort_order,
    table_from,
    value_array,
)  # fmt: skip
from coterie.errors import Argument, DataError, DataWarning, Words
from coterie.words.values import did_you_mean, not_one_of, written
from coterie.words.visible import quoted, text_of

DUPLICATES = ("error", "first", "last", "keep")
log = logging.getLogger("coterie")

HASHED = 6
"""Bytes of a hash: among a million annotators two are alike in one of five hundred calls."""


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
        for argument, value in (asked._asdict() | declared).items():
            if value is not None:
                raise DataError(
                    [Argument(argument), " cannot change Annotations that were already made"],
                    remedy=["pass ", Argument(argument), " where the labels are read"],
                )
        made = data if gold is None else with_gold(data, gold)
        return anonymised(made) if anonymise else made
    if text_of(duplicates) not in DUPLICATES:
        raise DataError([Argument("duplicates", duplicates), not_one_of(duplicates, DUPLICATES)])
    table = table_from(data)
    place = place_of(table, gold, "gold") if isinstance(gold, str) else None
    columns, triples, known = read_triples(table, asked, place)
    answers = _code_answers(table, triples, classes, extra_answers)
    moments = None
    if time is not None and triples.row is not None:
        raise DataError(
            [Argument("time", time), " needs one row per label, and a row here has several"]
        )
    if time is not None:
        moments = read_times(table, place_of(table, time, "time"))
    which, who, what = triples.item.codes, triples.annotator.codes, answers.codes
    n_classes, never = len(answers.classes), len(answers.extra_answers)
    items, annotators = triples.item.values, triples.annotator.values
    sizes = (len(items), len(annotators), n_classes, n_classes + never)
    codes = encode(which, who, what, sizes=sizes)
    if duplicates != "keep" and count_pairs(codes) < len(answers.codes):
        order = None if moments is None else np.argsort(moments, kind="stable")
        repeated = mark_repeated(triples, "last" if duplicates == "last" else "first", order)
        if duplicates == "error":
            raise _repeats(table, triples, repeated)
        which, who, what = which[~repeated], who[~repeated], what[~repeated]
        moments = None if moments is None else moments[~repeated]
        del codes  # before there are others
        codes = encode(which, who, what, sizes=sizes)
    annotations = Annotations(
        items,
        annotators,
        answers.classes,
        answers.extra_answers,
        codes,
        provenance=replace(
            _taken(table, columns),
            duplicates=duplicates,
            classes=None if classes is None else tuple(answers.classes.tolist()),
            extra_answers=None if extra_answers is None else tuple(answers.extra_answers.tolist()),
            export=export,
        ),
        times=None if moments is None else times_of(which, who, what, moments, len(annotators)),
    )
    tallies = [tally(coded) for coded in triples[:3]]
    told = answers.classes.tolist() if classes else []
    look_over(table.name, tallies, len(items), told, answers.extra_answers.tolist())
    if known is not None and place is not None:
        source = Gold(column=table.columns[place])
        annotations = gold_of_rows(table, annotations, triples.item_of_row, known, source)
    elif gold is not None:
        annotations = with_gold(annotations, gold)
    if anonymise:
        annotations = anonymised(annotations)
    log.info("%s", annotations.origin)
    return annotations


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


class Answers(NamedTuple):
    """The answers given, as codes, and the vocabulary behind them."""

    codes: IntArray  # (labels,), or one for each different label
    classes: Array  # (classes,)
    extra_answers: Array  # (answers - classes,)


Declared = Iterable[Hashable] | None


def _code_answers(table: Table, triples: Triples, classes: Declared, extra: Declared) -> Answers:
    """Code the labels by the declared classes, or by every label seen, in order."""
    label = triples.label
    words = code_words(table.name, label.values, classes, extra)
    if words.codes.min() < 0:
        (outside,) = np.nonzero(words.codes[label.codes] < 0)
        value = label.values.tolist()[label.codes[outside[0]]]
        row = table.rows(triples.rows_of(outside)[:1])
        raise never_declared(value, row, len(outside) - 1, words)
    return words._replace(codes=words.codes[label.codes])


def code_words(name: str, words: Array, classes: Declared, extra_answers: Declared) -> Answers:
    """Code the different labels that a table of this name holds; -1 for one not declared."""
    if not len(words):
        raise DataError(f"{name} holds no label, every cell is blank; expected some labels")
    extra = _declared(extra_answers, "extra_answers")
    if classes is None:  # every label that is no extra answer, in order
        truths = words[look_up(words, extra) < 0]
        truths = truths[sort_order(truths)]
    else:
        truths = _declared(classes, "classes")
    both = [x for x in extra.tolist() if x in truths.tolist()]
    if both:
        raise DataError(
            [
                f"{quoted(both[0])} is in ",
                *(Argument("classes"), " and in ", Argument("extra_answers")),
            ],
            remedy="an extra answer is never true, so keep it in one of them",
        )
    came = written(truths.tolist()) or "none"
    if len(truths) < 2 and classes is None:
        raise DataError(
            f"the only class among the labels of {name} is {came}, expected at least two",
            remedy=["pass ", Argument("classes"), " with every possible truth"],
        )
    if len(truths) < 2:
        raise DataError([Argument("classes"), f" needs at least two possible truths, got {came}"])
    codes, never_true = look_up(words, truths), look_up(words, extra)
    codes = np.where(never_true < 0, codes, len(truths) + never_true).astype(np.int32)
    return Answers(codes, truths, extra)


def _declared(values: Declared, argument: str) -> Array:
    """Give declared classes or extra answers as an array, in the order declared."""
    if isinstance(values, str):
        raise DataError(
            [Argument(argument, values), " is a text"],
            remedy=["pass a list, ", Argument(argument, several=True)],
        )
    try:
        array = value_array([] if values is None else values)
        counts = Counter(array.tolist())
    except TypeError as error:
        raise DataError(
            [Argument(argument), f" must be a list of text, numbers or the like ({error})"],
            remedy=["pass ", Argument(argument, several=True)],
        ) from error
    for value, n in counts.items():
        if n > 1:
            raise DataError(
                [Argument(argument), f" names {quoted(value)} {n} times"], remedy="name it once"
            )
    return array[sort_order(array)] if isinstance(values, (set, frozenset)) else array


def never_declared(value: Hashable, row: str, others: int, words: Answers) -> DataError:
    """Say which label, in which row, is neither a class nor an extra answer; others are counted."""
    truths, extra = words.classes.tolist(), words.extra_answers.tolist()
    more = f" (nor {'is' if others == 1 else 'are'} {others:,} more)" if others else ""
    allowed: list[str | Argument] = [Argument("classes", truths)]
    if extra:
        allowed += [" or ", Argument("extra_answers", extra)]
    asked = did_you_mean(value, [*truths, *extra])
    return DataError(
        [f"label {quoted(value)} in {row} is not one of ", *allowed, asked, more],
        remedy=[
            *("correct it, or add it to ", Argument("classes"), " if it can be the truth, "),
            *("to ", Argument("extra_answers"), " if it never is"),
        ],
    )


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


def _repeats(table: Table, triples: Triples, repeated: Array) -> DataError:
    """Say which rows repeat the item and annotator of an earlier label."""
    (again,) = np.nonzero(repeated)
    item, annotator = (x.values.tolist()[x.codes[again[0]]] for x in triples[:2])
    rows = np.unique(triples.rows_of(again))
    same = count_same(triples, again)
    return refused(table.rows(rows), len(rows), len(again), same, (item, annotator))


def refused(
    rows: str, n_rows: int, repeated: int, same: int, first: tuple[Hashable, Hashable]
) -> DataError:
    """Refuse repeated labels: their rows, how many say the same, the first item and annotator."""
    item, annotator = map(quoted, first)
    rule = {name: Argument("duplicates", name) for name in ("first", "last", "keep")}
    agree = f"{same:,} of which say the same" if same else "none of which says the same"
    if same == repeated:
        agree = "which say the same" if same > 1 else "which says the same"
    return DataError(
        f"{rows} {'repeats' if n_rows == 1 else 'repeat'} the item and annotator "
        f"of an earlier label ({repeated:,} in all, {agree}; first item {item}, annotator "
        f"{annotator})",
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


def anonymised(annotations: Annotations) -> Annotations:
    """Give the annotations with a salted hash for every annotator's id.

    The salt is drawn anew in every call and never written: nobody can try out names, and ids of
    two calls cannot be put together.
    """
    salt = secrets.token_bytes(16)
    names = [
        repr(name).encode("utf-8", "surrogatepass") for name in annotations.annotators.tolist()
    ]
    hashes = [hashlib.blake2b(name, key=salt).hexdigest()[: 2 * HASHED] for name in names]
    people = value_array([f"a-{digits}" for digits in hashes])
    rank, ordered = in_order(Coded(np.arange(len(people)), people))
    codes, found, times = annotations.codes, annotations.provenance, annotations.times
    sizes = (annotations.n_items, annotations.n_annotators, codes.n_classes, codes.n_answers)
    person = rank[codes.item_annotator]
    encoded = encode(
        annotations.item_of_label, person, codes.item_answer, sizes=sizes, gold=codes.gold
    )
    if found is not None:
        wide = tuple(ordered.tolist()) if found.form is Form.WIDE else found.annotators
        found = replace(found, annotators=wide, anonymised=True)
    if times is not None:
        who = rank[annotator_of(times)]
        times = times_of(times.item, who, times.answer, times.time, len(people))
    return replace(annotations, annotators=ordered, codes=encoded, provenance=found, times=times)


NOT_ANSWERS = {
    "unsure", "not sure", "skip", "skipped", "don't know", "dont know", "do not know", "dk", "idk",
    "i don't know", "i do not know", "can't tell", "cannot tell", "can't say", "cannot say", "n/a",
    "na", "nan", "none", "null", "nil", "unknown", "undecided", "unclear", "abstain", "abstained",
    "refuse", "refused", "no answer", "no response", "not answered", "not applicable",
    "no opinion", "prefer not to say", "?", "??", "-", "--", ".",
}  # fmt: skip
"""Labels, in lower case and without blanks around, that more often mean no answer than a class."""

FEW_LABELS, NEARLY_ALL = 20, 0.9
"""With so few labels in all nobody is warned; one annotator with this share is nearly everybody."""

MANY_CLASSES, FEW_EACH = 20, 3
"""So many classes with so few labels each, in the mean, are hardly categories."""

Warnings = Iterator[tuple[Words, Words]]


class Tally(NamedTuple):
    """The different values of a column, and how often each occurs: all that warnings look at."""

    values: Array  # (distinct,)
    counts: Array  # (distinct,)

    def by_value(self) -> dict[Any, int]:
        """Give how often each value occurs."""
        return dict(zip(self.values.tolist(), self.counts.tolist(), strict=True))


def tally(coded: Coded) -> Tally:
    """Count how often each value of a column occurs."""
    return Tally(coded.values, np.bincount(coded.codes, minlength=len(coded.values)))


def look_over(
    name: str, columns: Sequence[Tally], n_items: int, classes: list[Any], extra: list[Any]
) -> None:
    """Warn of what works, but a person should look at.

    Looked at are tallies of items, as far as they are given, annotators and labels; classes and
    extra answers are those that somebody declared.
    """
    item, annotator, label = columns
    found = [
        *_of_labels(name, label, {*classes, *extra}),
        *_of_people(name, item, annotator, n_items),
    ]
    for role, values in zip(ROLES, columns, strict=True):
        found += _of_types(name, role, values.values)
    for role, values in zip(ROLES[:2], columns, strict=False):
        found += _of_blanks(name, role, values.values)
    given = label.values.tolist()
    for answer in extra:
        if answer not in given and (asked := did_you_mean(answer, given)):
            said = f" names {quoted(answer)}, which nobody said{asked}"
            found.append(([Argument("extra_answers"), said], ""))
    for message, remedy in found:
        warnings.warn(DataWarning(message, remedy=remedy), stacklevel=2)


def _of_labels(name: str, label: Tally, declared: Collection[Any]) -> Warnings:
    counts = label.by_value()
    texts = sorted(value for value in counts if isinstance(value, str))
    groups = _alike(texts, lambda text: text.strip().casefold())
    if groups:
        shown = "; ".join(
            ", ".join(f"{quoted(text)} ({counts[text]:,})" for text in group)
            for group in groups[:3]
        )
        more = f"; and {len(groups) - 3} more groups" if len(groups) > 3 else ""
        yield (
            f"labels of {name} that differ only by case or surrounding blanks count as different "
            f"(how often): {shown}{more}; write them alike if they mean the same",
            "",
        )
    if len(counts) == 1:
        only = quoted(next(iter(counts)))
        yield f"every label of {name} is {only}; the other classes were never said", ""
    found = [
        v for v in counts if v not in declared and text_of(v).strip().casefold() in NOT_ANSWERS
    ]
    if found:
        shown = ", ".join(f"{quoted(value)} ({counts[value]:,})" for value in found)
        one, extra = len(found) == 1, Argument("extra_answers", found)
        yield (
            f"{'a label' if one else 'labels'} of {name} that {'reads' if one else 'read'} like "
            f"no answer {'counts as a class' if one else 'count as classes'} that an item can "
            f"truly have (how often): {shown}",
            [
                *("pass ", extra, " if the annotator did not know, "),
                *(Argument("classes"), " if it is one"),
            ],
        )
    if declared:
        return
    n_labels = int(label.counts.sum())
    if len(counts) >= MANY_CLASSES and n_labels < FEW_EACH * len(counts):
        said = list(map(text_of, counts))
        kind, remedy = "free text or ids", "name another column as the label"
        if all(x.strip().replace(".", "", 1).lstrip("+-").isdecimal() for x in said):
            fractions = any("." in text for text in said)
            kind = "numbers with fractions" if fractions else "numbers on a scale, or ids"
            remedy = "put them into a few bins" + ("" if fractions else f", or {remedy}")
        yield (
            f"{name} has {len(counts):,} different labels among {n_labels:,}: they look like "
            f"{kind}, and each counts as a class of its own; {remedy}",
            "",
        )
    found = [value for value in counts if _is_json(value)][:1]
    if found:
        yield (
            f"labels of {name} are JSON, such as {quoted(found[0])}, and each text counts as a "
            "class of its own; take the answers out of them",
            "",
        )


def _is_json(value: Any) -> bool:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return False
    with suppress(ValueError, RecursionError):
        json.loads(value)
        return True
    return False


def _of_people(name: str, item: Tally, annotator: Tally, n_items: int) -> Warnings:
    counts = annotator.by_value()
    if len(counts) == 1:
        yield (
            f"{name} has one annotator, {quoted(next(iter(counts)))}: with nobody to compare, a "
            "result can only repeat the labels",
            "",
        )
    if n_items == 1:
        yield (
            f"{name} has one item, {quoted(item.values.tolist()[0])}: nothing can be learnt of the "
            "annotators from it, and the result is little more than a vote",
            "",
        )
    n_labels = int(annotator.counts.sum())
    if len(counts) < 2 or n_labels < FEW_LABELS:
        return
    most = max(counts, key=lambda one: counts[one])
    if counts[most] >= NEARLY_ALL * n_labels:
        yield (
            f"{counts[most]:,} of {n_labels:,} labels of {name} are by one annotator, "
            f"{quoted(most)}: few others can say whether they are right",
            "",
        )
    elif n_items == n_labels:
        yield (
            f"every item of {name} has one label: annotators who label nothing in common cannot be "
            "compared, and a result can only repeat the labels; get a second label of some items",
            "",
        )


def _of_types(name: str, role: str, values: Array) -> Warnings:
    """Show values that are written alike and differ in type, such as 1 and '1'."""
    if values.dtype != object or all(type(value) is str for value in values):
        return
    groups = _alike(values.tolist(), str)
    if groups:
        pair = " and ".join(f"{quoted(value)} ({type(value).__name__})" for value in groups[0])
        more = f", and {len(groups) - 1:,} more such cases" if len(groups) > 1 else ""
        yield (
            f"the {role} column of {name} holds {pair}{more}, which count as different; give the "
            "column one type if they mean the same",
            "",
        )


def _of_blanks(name: str, role: str, values: Array) -> Warnings:
    """Show ids that differ only by blanks around them, and would be two."""
    texts = [value for value in values.tolist() if isinstance(value, str)]
    if not any(text != text.strip() for text in texts):
        return
    groups = _alike(sorted(texts), str.strip)
    if groups:
        shown = "; ".join(", ".join(map(repr, group)) for group in groups[:3])
        more = f"; and {len(groups) - 3:,} more" if len(groups) > 3 else ""
        yield (
            f"{role}s of {name} that differ only by blanks around them count as different: "
            f"{shown}{more}; remove the blanks if they are the same",
            "",
        )


def _alike(values: Iterable[Any], key: Callable[[Any], Any]) -> list[list[Any]]:
    groups = defaultdict(list)
    for value in values:
        groups[key(value)].append(value)
    return [group for group in groups.values() if len(group) > 1]
