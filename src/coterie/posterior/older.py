"""Saved files of older versions, turned into what the newest version would hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.files.container import Content
from coterie.files.vocabulary import Arrays

NAMES = {"n_groups": "n_coteries"}
"""What version 1 called otherwise."""


def upgraded(content: Content) -> tuple[dict[str, Any], Arrays]:
    """Give the header and the arrays of a file as the newest version has them."""
    header, arrays = dict(content.header), dict(content.arrays)
    if content.version == 1:
        header["trace"] = _split_trace(header["trace"], arrays)
    return header, arrays


def _split_trace(names: Any, arrays: Arrays) -> list[str]:
    """Turn the one array of all traces into one array per name; give the names.

    Version 1 kept the rows of that array by text: "log_joint", and "class_total[0]",
    "class_total[1]" ... for what is one array now.
    """
    rows = list(arrays.pop("draws.trace", ()))
    if not isinstance(names, list) or len(set(map(str, names))) != len(rows):
        raise ValueError("the trace has not as many names as rows")
    several: dict[str, list[Any]] = {}
    for name, row in zip(names, rows, strict=True):
        start, indexed, _ = str(name).partition("[")
        if indexed:
            several.setdefault(start, []).append(row)
        else:
            arrays[f"draws.trace.{NAMES.get(start, start)}"] = row
    for name, each in several.items():
        arrays[f"draws.trace.{name}"] = np.stack(each, axis=-1)
    whole = [NAMES.get(str(name), str(name)) for name in names if "[" not in str(name)]
    return [*whole, *several]
