"""JSON that people can read and compare."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

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
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return NUMBERS.sub(lambda found: "[" + re.sub(r"\s+", " ", found[1]) + "]", text)
