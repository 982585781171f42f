"""JSON that people and programs can read: there is one way to write it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.words.visible import text_of

NUMBER = r"(?:-?\d[\d.eE+-]*|null)"
NUMBERS = re.compile(rf"\[\s+({NUMBER}(?:,\s+{NUMBER})*)\s+\]")
"""A list of numbers in indented JSON."""


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
    return json.dumps(plain(content), ensure_ascii=False, allow_nan=False, **layout)


def plain(value: Any) -> Any:
    """Give what JSON knows for what it does not: numpy's numbers and arrays, dates, priors."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_key(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return text_of(value)


def _key(key: Any) -> Any:
    return key if isinstance(key, str | int) else text_of(key)
