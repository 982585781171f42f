"""Input that works, but that a person should look at."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from coterie.data.annotations import Array
from coterie.data.columns import ROLES
from coterie.data.encoding import Coded
from coterie.data.table import Table
from coterie.errors import Argument, DataWarning, Words
from coterie.words.values import did_you_mean
from coterie.words.visible import quoted, text_of

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


def _warn(message: Words, remedy: Words = "") -> None:
    warnings.warn(DataWarning(message, remedy=remedy), stacklevel=2)


class Tally(NamedTuple):
    """The different values of a column, and how often each occurs: all that warnings look at."""

    values: Array  # (distinct,)
    counts: Array  # (distinct,)

    @property
    def total(self) -> int:
        """Number of cells."""
        return int(self.counts.sum())

    def by_value(self) -> dict[Any, int]:
        """Give how often each value occurs."""
        return dict(zip(self.values.tolist(), self.counts.tolist(), strict=True))


def tally(coded: Coded) -> Tally:
    """Count how often each value of a column occurs."""
    return Tally(coded.values, np.bincount(coded.codes, minlength=len(coded.values)))


def look_over(table: Table, columns: Sequence[Tally], n_items: int, declared: set[Any]) -> None:
    """Warn of what works, but a person should look at.

    Parameters
    ----------
    table
        Where the labels come from.
    columns
        Items, annotators and labels; items are looked at as far as they are given.
    n_items
        How many items there are.
    declared
        Labels of which somebody has said what they are.
    """
    item, annotator, label = columns
    warn_of_variants(table, label)
    warn_of_lone_label(table, label)
    warn_of_non_answers(table, label, declared)
    if not declared:
        warn_of_many_classes(table, label)
        warn_of_json(table, label)
    warn_of_lone_annotator(table, annotator)
    if n_items == 1:
        warn_of_lone_item(table, item)
    warn_of_one_for_all(table, n_items, annotator)
    for role, values in zip(ROLES, columns, strict=True):
        warn_of_mixed_types(table, role, values.values)
    for role, values in zip(ROLES[:2], columns, strict=False):
        warn_of_blanks(table, role, values.values)


def warn_of_json(table: Table, label: Tally) -> None:
    """Say that labels are texts of JSON, in which the answer is a part."""
    found = next(filter(_is_json, label.values.tolist()), None)
    if found is not None:
        _warn(
            f"labels of {table.name} are JSON, such as {quoted(found)}, and each text counts as a "
            "class of its own; take the answers out of them"
        )


def _is_json(value: Any) -> bool:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return False
    with suppress(ValueError, RecursionError):
        json.loads(value)
        return True
    return False


def warn_of_non_answers(table: Table, label: Tally, declared: Collection[Any]) -> None:
    """Ask about labels that read like no answer, unless somebody has said what they are."""
    counts = label.by_value()
    found = [
        v for v in counts if v not in declared and text_of(v).strip().casefold() in NOT_ANSWERS
    ]
    if not found:
        return
    shown = ", ".join(f"{quoted(value)} ({counts[value]:,})" for value in found)
    one = len(found) == 1
    extra = Argument("extra_answers", found)
    _warn(
        f"{'a label' if one else 'labels'} of {table.name} that {'reads' if one else 'read'} like "
        f"no answer {'counts as a class' if one else 'count as classes'} that an item can truly "
        f"have (how often): {shown}",
        ["pass ", extra, " if the annotator did not know, ", Argument("classes"), " if it is one"],
    )


def warn_of_many_classes(table: Table, label: Tally) -> None:
    """Say that labels hardly ever come back: numbers or free text, not categories."""
    n_classes, n_labels = len(label.values), label.total
    if n_classes < MANY_CLASSES or n_labels >= FEW_EACH * n_classes:
        return
    texts = [text_of(value) for value in label.values.tolist()]
    numbers, fractions = all(map(_is_number, texts)), any("." in text for text in texts)
    kind, remedy = "free text or ids", "name another column as the label"
    if numbers:
        kind = "numbers with fractions" if fractions else "numbers on a scale, or ids"
        remedy = "put them into a few bins" + ("" if fractions else f", or {remedy}")
    _warn(
        f"{table.name} has {n_classes:,} different labels among {n_labels:,}: they look like "
        f"{kind}, and each counts as a class of its own; {remedy}"
    )


def _is_number(text: str) -> bool:
    return text.strip().replace(".", "", 1).lstrip("+-").isdecimal()


def warn_of_blanks(table: Table, role: str, values: Array) -> None:
    """Show ids that differ only by blanks around them, and would be two."""
    texts = [value for value in values.tolist() if isinstance(value, str)]
    if not any(text != text.strip() for text in texts):
        return
    groups = _alike(sorted(texts), str.strip)
    if groups:
        shown = "; ".join(", ".join(map(repr, group)) for group in groups[:3])
        more = f"; and {len(groups) - 3:,} more" if len(groups) > 3 else ""
        _warn(
            f"{role}s of {table.name} that differ only by blanks around them count as different: "
            f"{shown}{more}; remove the blanks if they are the same"
        )


def warn_of_lone_item(table: Table, item: Tally) -> None:
    """Say that one item teaches nothing of the annotators."""
    _warn(
        f"{table.name} has one item, {quoted(item.values.tolist()[0])}: nothing can be learnt "
        "of the annotators from it, and the result is little more than a vote"
    )


def _alike(values: list[Any], key: Any) -> list[list[Any]]:
    groups = defaultdict(list)
    for value in values:
        groups[key(value)].append(value)
    return [group for group in groups.values() if len(group) > 1]


def warn_of_variants(table: Table, label: Tally) -> None:
    """Show labels that differ only by case or surrounding blanks."""
    texts = [value for value in label.values.tolist() if isinstance(value, str)]
    groups = _alike(sorted(texts), lambda text: text.strip().casefold())
    if not groups:
        return
    counts = label.by_value()
    shown = "; ".join(
        ", ".join(f"{quoted(text)} ({counts[text]:,})" for text in group) for group in groups[:3]
    )
    more = f"; and {len(groups) - 3} more groups" if len(groups) > 3 else ""
    _warn(
        f"labels of {table.name} that differ only by case or surrounding blanks count as different "
        f"(how often): {shown}{more}; write them alike if they mean the same"
    )


def warn_of_mixed_types(table: Table, role: str, values: Array) -> None:
    """Show values that are written alike and differ in type, such as 1 and '1'."""
    if values.dtype != object or all(type(value) is str for value in values):
        return
    groups = _alike(values.tolist(), str)
    if groups:
        pair = " and ".join(f"{quoted(value)} ({type(value).__name__})" for value in groups[0])
        more = f", and {len(groups) - 1:,} more such cases" if len(groups) > 1 else ""
        _warn(
            f"the {role} column of {table.name} holds {pair}{more}, which count as different; "
            "give the column one type if they mean the same"
        )


def warn_of_lone_annotator(table: Table, annotator: Tally) -> None:
    """Say that a single annotator cannot be compared with anybody."""
    if len(annotator.values) == 1:
        _warn(
            f"{table.name} has one annotator, {quoted(annotator.values.tolist()[0])}: with nobody "
            "to compare, a result can only repeat the labels"
        )


def warn_of_one_for_all(table: Table, n_items: int, annotator: Tally) -> None:
    """Say that one annotator is nearly the whole file, or that nobody labels what another does."""
    counts, n_labels = annotator.by_value(), annotator.total
    if len(counts) < 2 or n_labels < FEW_LABELS:
        return
    name = max(counts, key=lambda one: counts[one])
    if counts[name] >= NEARLY_ALL * n_labels:
        _warn(
            f"{counts[name]:,} of {n_labels:,} labels of {table.name} are by one annotator, "
            f"{quoted(name)}: few others can say whether they are right"
        )
    elif n_items == n_labels:
        _warn(
            f"every item of {table.name} has one label: annotators who label nothing in common "
            "cannot be compared, and a result can only repeat the labels; get a second label of "
            "some items"
        )


def warn_of_unsaid(table: Table, label: Tally, extra: Collection[Any]) -> None:
    """Ask about an extra answer that nobody gave, if a label is written nearly so."""
    given = label.values.tolist()
    for answer in extra:
        if answer not in given and (asked := did_you_mean(answer, given)):
            _warn([Argument("extra_answers"), f" names {quoted(answer)}, which nobody said{asked}"])


def warn_of_lone_label(table: Table, label: Tally) -> None:
    """Say that every label is the same, though more classes were declared."""
    if len(label.values) == 1:
        _warn(
            f"every label of {table.name} is {quoted(label.values.tolist()[0])}; "
            "the other classes were never said"
        )
