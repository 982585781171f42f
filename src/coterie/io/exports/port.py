"""The port of a format: tell it from its content, and give what was submitted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from coterie.io.exports.part import Part
    from coterie.io.reading import Reading

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Other(StrEnum):
    """An answer that is no choice among few, by what its question does."""

    SPANS = "spans"
    REGIONS = "regions"
    PER_REGION = "answers per region"
    TEXT = "free text"
    RANKING = "ranking"
    RELATIONS = "relations"
    NUMBER = "number"
    SCORE = "score"


class Ticked(list[Hashable]):
    """Options ticked in a question that allows several, even where nobody ticked two."""


class Submission(NamedTuple):
    """What somebody handed in about one item.

    Parameters
    ----------
    item, annotator
        The platform's own ids.
    answers
        The answer to each question: a value is a single choice, a list are the options ticked
        (a question whose lists never hold two is a single choice, unless they are
        :class:`Ticked`), a mapping option -> word is
        a group of check boxes, an :class:`Other` is no choice, None is no answer.
    status
        Why it does not count, in the platform's word ("skipped"); empty if it counts.
    gold
        It is a reference: its answers are known labels.
    known
        Known labels of the item, by question.
    time
        When it was submitted, as the platform writes it.
    seconds
        How long it took.
    fields
        The item's own data, for those who want another item id or a column of gold.
    asks_all
        Every question of the export was asked: one that is not answered was left blank.
    """

    item: Hashable
    annotator: Hashable
    answers: Mapping[str, Any]
    status: str = ""
    gold: bool = False
    known: Mapping[str, Any] = NOTHING
    time: Any = None
    seconds: Any = None
    fields: Mapping[str, Any] = NOTHING
    asks_all: bool = True


Read = Callable[[Sequence["Part"], "Reading"], Iterable[Submission]]


@dataclass(frozen=True)
class ExportFormat:
    """One platform's export.

    Parameters
    ----------
    title
        What people call it: "Label Studio".
    recognise
        Tells whether a file is one, from its first bytes and its first record.
    read
        Gives what was submitted in the files.
    item, annotator
        What it takes for items and annotators, in the platform's words.
    stray
        The share of answers with several options below which they are slips of a single choice,
        left out and counted; above it the question is a multi-select.
    notes
        What a person must know who reads such an export, in a sentence.
    taken
        What these files, or what was asked for, make of ``item`` and ``annotator``, where that is
        something else.
    """

    title: str
    recognise: Callable[[Part], bool]
    read: Read
    item: str = "id"
    annotator: str = "annotator"
    stray: float = 0.0
    notes: Callable[[Sequence[Part], Reading], Sequence[str]] = lambda parts, options: ()
    taken: Callable[[Sequence[Part], Reading], Mapping[str, str]] = lambda parts, options: NOTHING
