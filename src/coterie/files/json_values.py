"""Python values as JSON and back, types and all, without running anything a file says.

What JSON knows stays as it is; anything else is an object with one key, a ``$`` and the kind of
value, from the fixed list in this file. Priors are known by the names of their classes, those of
other packages too, once they are imported.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import math
import uuid
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from coterie.priors.base import BY_VALUE
from coterie.words.visible import quoted

KINDS = "biufMmU"
"""Kinds of numpy scalars and arrays that are kept: booleans, numbers, dates, text."""


class Unkept(TypeError):
    """A value's type is not one that a file keeps."""


class UnknownPrior(ValueError):
    """A file holds a prior whose class no imported module defines."""


class Shown(str):
    """How a value was written that a file cannot keep: its text, and no longer the value."""

    __slots__ = ()


def to_json(value: Any, *, or_text: bool = False) -> Any:
    """Give what JSON can write for a value.

    Parameters
    ----------
    value
        Text, a number, a boolean, None, a date, a numpy scalar or array of numbers, a prior;
        or a list, tuple or mapping of them.
    or_text
        Keep how any other value is written (it comes back as :class:`Shown`), instead of raising
        Unkept.

    Examples
    --------
    >>> to_json({"a": (1, 2.5), "b": np.int8(3)})
    {'a': {'$tuple': [1, 2.5]}, 'b': {'$numpy': ['|i1', 3]}}
    """
    kind = type(value)
    if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    if kind is Shown:
        return {"$text": str(value)}
    if kind is list:
        return [to_json(one, or_text=or_text) for one in value]
    if kind is dict and all(type(key) is str and key[:1] != "$" for key in value):
        return {key: to_json(one, or_text=or_text) for key, one in value.items()}
    if kind is tuple:
        return {"$tuple": [to_json(one, or_text=or_text) for one in value]}
    if kind is dict:
        return {"$dict": [to_json(list(pair), or_text=or_text) for pair in value.items()]}
    if BY_VALUE.get(kind.__name__) is kind:
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"$prior": [kind.__name__, to_json(fields, or_text=or_text)]}
    if kind in _PLAIN:
        return {f"${_PLAIN[kind][0]}": _PLAIN[kind][1](value)}
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in KINDS:
        return _numpy_to_json(value)
    if or_text:
        return {"$text": str(value) if isinstance(value, PurePath) else repr(value)}
    raise Unkept(f"{quoted(value)} has type {kind.__name__}")


_PLAIN: dict[type, tuple[str, Callable[[Any], Any]]] = {
    float: ("float", repr),
    bytes: ("bytes", bytes.hex),
    datetime.date: ("date", datetime.date.isoformat),
    datetime.datetime: ("datetime", datetime.datetime.isoformat),
    pd.Timestamp: ("timestamp", lambda value: [value.isoformat(), value.unit]),
    decimal.Decimal: ("decimal", str),
    uuid.UUID: ("uuid", str),
}


def _numpy_to_json(value: Any) -> dict[str, Any]:
    code = value.dtype.str if value.dtype.kind != "U" else "U"
    if value.dtype.kind in "Mm":
        value = value.astype(np.int64)
    elif value.dtype.kind == "f" and value.dtype.itemsize > 8:
        raise Unkept(f"{quoted(value)} has type {value.dtype}")
    if isinstance(value, np.ndarray):
        return {"$array": [code, list(value.shape), to_json(value.ravel().tolist())]}
    return {"$numpy": [code, to_json(value.item())]}


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


def _read_prior(inside: Any) -> Any:
    name, fields = inside
    if name not in BY_VALUE:
        raise UnknownPrior(str(name))
    if not dataclasses.is_dataclass(BY_VALUE[name]):
        raise ValueError(f"{name} is what priors are derived from")
    return BY_VALUE[name](**from_json(fields))


def _read_numpy(inside: Any) -> Any:
    code, value = inside
    dtype = _dtype(code)
    return np.array(from_json(value), dtype)[()]


def _read_array(inside: Any) -> Any:
    code, shape, values = inside
    return np.array(from_json(values), _dtype(code)).reshape(shape)


def _dtype(code: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(code))
    if dtype.kind not in KINDS:
        raise ValueError(f"unknown type {quoted(code)}")
    return (
        np.dtype("U") if dtype.kind == "U" else dtype
    )  # its length is the value's, not the file's


_READERS: dict[str, Callable[[Any], Any]] = {
    "$tuple": lambda inside: tuple(from_json(inside)),
    "$dict": lambda inside: dict(from_json(inside)),
    "$text": Shown,
    "$prior": _read_prior,
    "$numpy": _read_numpy,
    "$array": _read_array,
    "$float": float,
    "$bytes": bytes.fromhex,
    "$date": datetime.date.fromisoformat,
    "$datetime": datetime.datetime.fromisoformat,
    "$timestamp": lambda inside: pd.Timestamp(inside[0]).as_unit(inside[1]),
    "$decimal": decimal.Decimal,
    "$uuid": uuid.UUID,
}
