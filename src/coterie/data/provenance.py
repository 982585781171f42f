"""Where annotations come from, and what was asked of the reader: enough to make the call again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum

from coterie.words.values import written


class Format(StrEnum):
    """What kind of thing was read."""

    TEXT = "text"
    PARQUET = "parquet"
    JSONL = "jsonl"
    FRAME = "frame"
    TRIPLES = "triples"
    MAPPING = "mapping"
    CODES = "codes"


class Form(StrEnum):
    """How labels lie in a table: one row per label, or one row per item."""

    LONG = "long"
    WIDE = "wide"


@dataclass(frozen=True)
class Source:
    """One thing that was read.

    Parameters
    ----------
    name
        What to call it in a sentence: "labels.csv", "the frame".
    format
        What kind of thing it is.
    path
        The file as the user named it, "-" for standard input; None for what was in memory.
    note
        What else was found out about the file, such as its delimiter; may be empty.
    """

    name: str
    format: Format
    path: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Gold:
    """Where known labels come from: a column of the labels' own table, or a source of theirs."""

    column: Hashable | None = None
    source: Source | None = None


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

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no")]
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

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns taken: item (unless it is the index), annotators, label if there is one."""
        item = () if self.item is None else (self.item,)
        label = () if self.form is Form.WIDE else (self.label,)
        return (*item, *self.annotators, *label)

    def sentence(self) -> str:
        """Say in one line what was read and which columns were taken."""
        taken = "item the index" if self.item in (None, "") else f"item {self.item!r}"
        if self.form is Form.WIDE:
            taken += f", one column per annotator: {written(self.annotators)}"
        else:
            taken += f", annotator {self.annotators[0]!r}, label {self.label!r}"
        if self.gold is not None and self.gold.source is None:
            taken += f", gold {self.gold.column!r}"
        elif self.gold is not None and self.gold.source and self.gold.source.path is not None:
            taken += f", gold from {self.gold.source.name}"
        if self.unread and self.gold is None:
            taken += f" (not read: {written(self.unread)}, named like known labels)"
        return f"{self.source.name}{self.source.note}: {taken}"
