"""Values as text: JSON that every program reads, and JSON from which they come back, types and all.

What JSON knows stays as it is; of the latter anything else is an object with one key, a ``$`` and
the kind of value, from the fixed list in this file: nothing that a file says is run. Priors are
known by the names of their classes, those of other packages too, once they are imported.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import json
import math
import re
import uuid
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from coterie.priors.base import BY_VALUE
from coterie.words.visible import quoted, text_of

KINDS = "biufMmU"
"""Kinds of numpy scalars and arrays that are kept: booleans, numbers, dates, text."""
NUMBER = r"(?:-?\d[\d.eE+-]*|null)"
NUMBERS = re.compile(rf"\[\s+({NUMBER}(?:,\s+{NUMBER})*)\s+\]")
"""A list of numbers in indented JSON."""


class Unkept(TypeError):
    """A value's type is not one that a file keeps."""


class UnknownPrior(ValueError):
    """A file holds a prior whose class no imported module defines."""


class Shown(str):
    """How a value was written that a file cannot keep: its text, and no longer the value."""

    __slots__ = ()


def as_json(content: Mapping[str, Any]) -> str:
    """Write JSON, one field per line, lists of numbers on one.

    Examples
    --------
    >>> print(as_json({"name": "x", "row": [1, 2.5, None]}), end="")
    {
     "name": "x",
     "row": [1, 2.5, null]
    }
    """
    text = json_text(content, indent=1) + "\n"
    return NUMBERS.sub(lambda found: "[" + re.sub(r"\s+", " ", found[1]) + "]", text)


def json_text(content: Any, **layout: Any) -> str:
    """Write anything as JSON that every program reads: what is not a number is null.

    ``layout`` is what ``json.dumps`` knows of it: ``indent``, ``separators``.

    Examples
    --------
    >>> print(json_text({"a": np.array([1.5, np.nan]), ("b", 1): np.int8(2), "c": float("inf")}))
    {"a": [1.5, null], "('b', 1)": 2, "c": null}
    """
    return json.dumps(_plain(content), ensure_ascii=False, allow_nan=False, **layout)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        names = (key if isinstance(key, str | int) else text_of(key) for key in value)
        return dict(zip(names, map(_plain, value.values()), strict=True))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return text_of(value)


def to_json(value: Any, *, or_text: bool = False) -> Any:
    """Give JSON from which a value comes back: text, numbers, dates, numpy's, priors, in any nest.

    Of any other value it keeps, if so told, how it is written (it comes back as :class:`Shown`),
    or raises Unkept.

    Examples
    --------
    >>> to_json({"a": (1, 2.5), "b": np.int8(3)})
    {'a': {'$tuple': [1, 2.5]}, 'b': {'$numpy': ['|i1', 3]}}
    """
    kind = type(value)
    if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    if kind in (list, tuple):
        inside = [to_json(one, or_text=or_text) for one in value]
        return inside if kind is list else {"$tuple": inside}
    if kind is dict and all(type(key) is str and key[:1] != "$" for key in value):
        return {key: to_json(one, or_text=or_text) for key, one in value.items()}
    if kind is dict:
        return {"$dict": [to_json(list(pair), or_text=or_text) for pair in value.items()]}
    if BY_VALUE.get(kind.__name__) is kind:
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"$prior": [kind.__name__, to_json(fields, or_text=or_text)]}
    if kind in _PLAIN:
        return {f"${_PLAIN[kind][0]}": _PLAIN[kind][1](value)}
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in KINDS:
        code = value.dtype.str if value.dtype.kind != "U" else "U"
        if value.dtype.kind == "f" and value.dtype.itemsize > 8:
            raise Unkept(f"{quoted(value)} has type {value.dtype}")
        if value.dtype.kind in "Mm":
            value = value.astype(np.int64)
        if isinstance(value, np.ndarray):
            return {"$array": [code, list(value.shape), to_json(value.ravel().tolist())]}
        return {"$numpy": [code, to_json(value.item())]}
    if or_text:
        return {"$text": str(value) if isinstance(value, PurePath) else repr(value)}
    raise Unkept(f"{quoted(value)} has type {kind.__name__}")


def from_json(found: Any) -> Any:
    """Give the value that :func:`to_json` was given; ValueError or the like if there is none.

    Examples
    --------
    >>> from coterie.priors import Gamma
    >>> from_json(to_json({"a": (1, float("inf")), "b": Gamma(20, 2)}))
    {'a': (1, inf), 'b': Gamma(shape=20, rate=2)}
    """
    if isinstance(found, list):
        return [from_json(one) for one in found]
    if not isinstance(found, dict):
        return found
    if not any(key.startswith("$") for key in found):
        return {key: from_json(one) for key, one in found.items()}
    ((key, inside),) = found.items()
    if key not in _READERS:
        raise ValueError(f"unknown kind of value {quoted(key)}")
    return _READERS[key](inside)


def _prior(name: Any, fields: Any) -> Any:
    if name not in BY_VALUE:
        raise UnknownPrior(str(name))
    if not dataclasses.is_dataclass(BY_VALUE[name]):
        raise ValueError(f"{name} is what priors are derived from")
    return BY_VALUE[name](**from_json(fields))


def _dtype(code: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(code))
    if dtype.kind not in KINDS:
        raise ValueError(f"unknown type {quoted(code)}")
    # The length of text is the value's, not the file's.
    return np.dtype("U") if dtype.kind == "U" else dtype


_PLAIN: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    float: ("float", repr, float),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    datetime.date: ("date", datetime.date.isoformat, datetime.date.fromisoformat),
    datetime.datetime: ("datetime", datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    pd.Timestamp: (
        "timestamp",
        lambda value: [value.isoformat(), value.unit],
        lambda inside: pd.Timestamp(inside[0]).as_unit(inside[1]),
    ),
    decimal.Decimal: ("decimal", str, decimal.Decimal),
    uuid.UUID: ("uuid", str, uuid.UUID),
    Shown: ("text", str, Shown),
}
"""What a value's type is called, how it is written, how it is read."""

_READERS: dict[str, Callable[[Any], Any]] = {
    **{f"${name}": read for name, _, read in _PLAIN.values()},
    "$tuple": lambda inside: tuple(from_json(inside)),
    "$dict": lambda inside: dict(from_json(inside)),
    "$prior": lambda inside: _prior(*inside),
    "$numpy": lambda inside: np.array(from_json(inside[1]), _dtype(inside[0]))[()],
    "$array": lambda inside: np.array(from_json(inside[2]), _dtype(inside[0])).reshape(inside[1]),
}
