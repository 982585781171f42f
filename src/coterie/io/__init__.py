"""Files in and out."""

from __future__ import annotations

from typing import Any

__all__ = ["read_truth"]


def __getattr__(name: str) -> Any:
    if name != "read_truth":  # the one public name: loaded when used, options alone are light
        raise AttributeError(f"module 'coterie.io' has no attribute {name!r}")
    from coterie.io.read import read_truth

    return read_truth
