"""Where annotations come from, and what was asked of the reader: enough to make the call again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from coterie.words.numbers import count
from coterie.words.values import written
from coterie.words.visible import quoted, visible


class Format(StrEnum):
    """What kind of thing was read."""

    TEXT = "text"
    PARQUET = "parquet"
    JSONL = "jsonl"
    JSON = "json"
    FRAME = "frame"
    TRIPLES = "triples"
    MAPPING = "mapping"
    CODES = "codes"
    EXCEL = "excel"
    EXPORT = "export"


class Form(StrEnum):
    """How labels lie in a table: one row per label, or one row per item."""

    LONG = "long"
    WIDE = "wide"


@dataclass(frozen=True)
class Source:
    """One thing that was read: what a sentence calls it, such as "labels.csv", and its kind."""

    name: str
    format: Format
    path: str | None = None  # as the user named it, "-" for standard input; None if in memory
    note: str = ""  # what else was found out about the file, such as its delimiter


@dataclass(frozen=True)
class Gold:
    """Where known labels come from: a column of the labels' own table, or a source of theirs."""

    column: Hashable | None = None
    source: Source | None = None


OWN_GOLD = "gold of the export"
"""The column of known labels that an export brings itself."""


@dataclass(frozen=True)
class Export:
    """What was read of the export of an annotation platform, and what was left out.

    Examples
    --------
    >>> Export("prodigy", "Prodigy", "SPAM", "single choice", left_out=(("ignore", 3),)).sentence()
    "Prodigy export, question 'SPAM' (single choice), item 'id'; left out: ignore 3"
    """

    format: str  # the short name, as ``format=`` takes it
    title: str  # what people call the platform
    question: str
    kind: str  # the question's type
    option: str | None = None  # of a multi-select, read as yes or no
    left_out: tuple[tuple[str, int], ...] = ()  # why, and how many submissions
    kept: tuple[tuple[str, int], ...] = ()  # why they would not count unless asked for
    gold: int = 0  # items with a known label
    told: tuple[tuple[str, Any], ...] = ()  # what else was asked of the reader, by argument
    item: str = "id"  # what was taken for items and annotators, in the platform's words
    annotator: str = ""
    notes: tuple[str, ...] = ()  # what a person should know of this kind of export
    paths: tuple[str, ...] = ()  # as the user named them, where there are several

    def sentence(self) -> str:
        """Say in one line what was read and left out."""
        option = "" if self.option is None else f", option {quoted(self.option)}"
        said = f"{self.title} export, question {quoted(self.question)} ({self.kind}){option}"
        said += f", item {quoted(self.item)}"
        said += f", annotator {quoted(self.annotator)}" if self.annotator else ""
        for what, counts in (("kept", self.kept), ("left out", self.left_out)):
            if counts:
                said += f"; {what}: " + ", ".join(f"{why} {n:,}" for why, n in counts)
        return "; ".join([said, *self.notes])


@dataclass(frozen=True)
class Provenance:
    """What annotations were read from, and how.

    Parameters
    ----------
    source
        What was read.
    form
        Long or wide.
    item
        The column of the items; None if they are the index.
    annotators
        The column of the annotators; in the wide form one column per annotator.
    label
        The column of the labels; None in the wide form.
    gold
        Where known labels come from; None if there are none.
    duplicates
        What was done with an annotator's repeated labels of an item.
    classes, extra_answers
        Those that were declared; None if they were not.
    unread
        Columns that are named like known labels and were not read.
    export
        What was read of a platform's export; None for plain tables.
    anonymised
        The annotators' ids were replaced by salted hashes.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q2", "bob", "no")]
    >>> found = coterie.read(rows, duplicates="first").provenance
    >>> found.source.name, found.form.value, found.duplicates
    ('the list of triples', 'long', 'first')
    >>> found.sentence()
    "the list of triples: item 'item', annotator 'annotator', label 'label'"
    """

    source: Source
    form: Form
    item: Hashable | None
    annotators: tuple[Hashable, ...]
    label: Hashable | None = None
    gold: Gold | None = None
    duplicates: str = "error"
    classes: tuple[Hashable, ...] | None = None
    extra_answers: tuple[Hashable, ...] | None = None
    unread: tuple[Hashable, ...] = ()
    export: Export | None = None
    anonymised: bool = False

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns taken: item (unless it is the index), annotators, label if there is one."""
        item = () if self.item is None else (self.item,)
        label = () if self.form is Form.WIDE else (self.label,)
        return (*item, *self.annotators, *label)

    def sentence(self) -> str:
        """Say in one line what was read and which columns were taken."""
        hidden = "; anonymised" if self.anonymised else ""
        gold, export = self.gold, self.export
        elsewhere = gold.source if gold is not None else None
        if export is not None:
            known = ""
            if gold is not None and elsewhere is not None:
                known = f"; gold from {elsewhere.name}"
            elif gold is not None:
                name = "" if gold.column in (None, OWN_GOLD) else f" {quoted(gold.column)}"
                known = f"; gold{name} of {count(export.gold, 'item')}"
            return visible(f"{self.source.name}: {export.sentence()}{hidden}{known}")
        taken = "item the index" if self.item in (None, "") else f"item {quoted(self.item)}"
        if self.form is Form.WIDE:
            taken += f", one column per annotator: {written(self.annotators)}"
        else:
            taken += f", annotator {quoted(self.annotators[0])}, label {quoted(self.label)}"
        if gold is not None and elsewhere is None:
            taken += f", gold {quoted(gold.column)}"
        elif elsewhere is not None and elsewhere.path is not None:
            taken += f", gold from {elsewhere.name}"
        if self.unread and gold is None:
            taken += f" (not read: {written(self.unread)}, named like known labels)"
        return visible(f"{self.source.name}{self.source.note}: {taken}{hidden}")
