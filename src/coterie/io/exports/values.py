"""Pieces of records that many formats share."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from coterie.io.exports.port import NOTHING, Other

MISSING = object()


def as_map(value: Any) -> Mapping[str, Any]:
    """Give an object of a record; an empty one if it is something else.

    Examples
    --------
    >>> as_map({"id": 1}), dict(as_map(None))
    ({'id': 1}, {})
    """
    return value if isinstance(value, Mapping) else NOTHING


def as_list(value: Any) -> list[Any]:
    """Give a list of a record; an empty one if it is something else."""
    return list(value) if isinstance(value, (list, tuple)) else []


def maps_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Give the objects in a list of a record."""
    return (entry for entry in as_list(value) if isinstance(entry, Mapping))


def scalar(value: Any) -> Any:
    """Give a text, number or boolean as it is; None for what is nested, blank or not a number.

    Examples
    --------
    >>> scalar("yes"), scalar(["yes"]), scalar("  "), scalar(float("nan"))
    ('yes', None, None, None)
    """
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
    """Give the options of a list that can be options: text and numbers.

    Examples
    --------
    >>> ticked(["a", None, {"b": 1}, 2])
    ['a', 2]
    """
    return [option for option in map(scalar, as_list(values)) if option is not None]


def choice(value: Any) -> list[Any]:
    """Give the answer to what is known to be a single choice: a list of at most one option.

    Examples
    --------
    >>> choice("yes"), choice(None)
    (['yes'], [])
    """
    said = scalar(value)
    return [] if said is None else [said]


def typed(value: Any) -> Any:
    """Tell an answer that is a choice from spans, rankings and the like, by its shape.

    Examples
    --------
    >>> typed("yes"), typed(["a", "b"]), str(typed([{"start": 0, "end": 4, "label": "PER"}]))
    ('yes', ['a', 'b'], 'spans')
    """
    if isinstance(value, (list, tuple)):
        entries = list(maps_in(value))
        if any("rank" in entry for entry in entries):
            return Other.RANKING
        if any("start" in entry for entry in entries) or any(map(_is_span, value)):
            return Other.SPANS
        return Other.REGIONS if entries else ticked(value)
    return Other.REGIONS if isinstance(value, Mapping) else scalar(value)


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


def _is_span(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 3 and isinstance(value[0], int)


def field_of(fields: Mapping[str, Any], name: str) -> Any:
    """Find a field of an item: by its name, by its path with dots, or by its name one level down.

    Examples
    --------
    >>> field_of({"data": {"Index": 3}}, "data.Index"), field_of({"data": {"Index": 3}}, "Index")
    (3, 3)
    >>> field_of({"Input.id": "t1"}, "Input.id"), field_of({}, "x") is MISSING
    ('t1', True)
    """
    if name in fields:
        return fields[name]
    first, _, rest = name.partition(".")
    if rest and isinstance(fields.get(first), Mapping):
        return field_of(fields[first], rest)
    below = [
        value[name] for value in fields.values() if isinstance(value, Mapping) and name in value
    ]
    return below[0] if below else MISSING
