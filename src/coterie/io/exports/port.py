"""The port of a format: tell it from its content, and give what was submitted.

Beside it the pieces of records that formats share.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
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


MISSING = object()


def as_map(value: Any) -> Mapping[str, Any]:
    """Give an object of a record; an empty one if it is something else."""
    return value if isinstance(value, Mapping) else NOTHING


def as_list(value: Any) -> list[Any]:
    """Give a list of a record; an empty one if it is something else."""
    return list(value) if isinstance(value, (list, tuple)) else []


def maps_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Give the objects in a list of a record."""
    return (entry for entry in as_list(value) if isinstance(entry, Mapping))


def scalar(value: Any) -> Any:
    """Give a text, number or boolean as it is; None for what is nested, blank or not a number."""
    if isinstance(value, str):
        return value if value.strip() else None
    return value if isinstance(value, (int, float)) and value == value else None


def is_true(value: Any) -> bool:
    """Tell whether a flag is set, written as JSON, as text or as a number."""
    return str(value).strip().lower() in ("true", "1", "yes")


def as_json(text: Any) -> Any:
    """Read JSON inside a text; :data:`MISSING` if it is none."""
    if not isinstance(text, (str, bytes)):
        return MISSING if text is None else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


def ticked(values: Any) -> list[Hashable]:
    """Give the options of a list that can be options: text and numbers."""
    return [option for option in map(scalar, as_list(values)) if option is not None]


def choice(value: Any) -> list[Any]:
    """Give the answer to what is known to be a single choice: a list of at most one option."""
    return ticked([value])


def typed(value: Any) -> Any:
    """Tell an answer that is a choice from spans, rankings and the like, by its shape.

    Examples
    --------
    >>> typed("yes"), typed(["a", "b"]), str(typed([{"start": 0, "end": 4, "label": "PER"}]))
    ('yes', ['a', 'b'], 'spans')
    """
    if not isinstance(value, (list, tuple)):
        return Other.REGIONS if isinstance(value, Mapping) else scalar(value)
    entries = list(maps_in(value))
    if any("rank" in entry for entry in entries):
        return Other.RANKING
    if any("start" in entry for entry in entries) or any(map(_is_span, value)):
        return Other.SPANS
    return Other.REGIONS if entries else ticked(value)


def _is_span(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 3 and isinstance(value[0], int)


def told_in(cell: Any) -> Any:
    """Give what a cell of a table says: JSON inside it is options, spans or regions.

    Examples
    --------
    >>> told_in("yes"), told_in('["a", "b"]'), str(told_in('[{"left": 1, "label": "car"}]'))
    ('yes', ['a', 'b'], 'regions')
    """
    if not isinstance(cell, str) or cell.lstrip()[:1] not in ("[", "{"):
        return cell
    found = as_json(cell)
    return typed(found) if isinstance(found, (list, Mapping)) else cell


def field_of(fields: Mapping[str, Any], name: str) -> Any:
    """Find a field of an item: by its name, by its path with dots, or by its name one level down.

    Examples
    --------
    >>> field_of({"data": {"Index": 3}}, "data.Index"), field_of({"data": {"Index": 3}}, "Index")
    (3, 3)
    """
    if name in fields:
        return fields[name]
    first, _, rest = name.partition(".")
    if rest and isinstance(fields.get(first), Mapping):
        return field_of(fields[first], rest)
    below = (cell for cell in fields.values() if isinstance(cell, Mapping) and name in cell)
    return next(below, {name: MISSING})[name]
