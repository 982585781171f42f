"""Values from the data, as they are written in Python, in the middle of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_LISTED = 12  # names or classes listed in a sentence


def join(words: Sequence[str], last: str = "and") -> str:
    """Join words as in a sentence: a, b and c."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def written(values: Iterable[Any], brackets: str = "") -> str:
    """Write values as in Python, separated by commas; the first dozen if there are many."""
    values = list(values)
    shown = [repr(value) for value in values[:_LISTED]]
    if len(values) > _LISTED:
        shown.append(f"... ({len(values) - _LISTED:,} more)")
    return f"{brackets[:1]}{', '.join(shown)}{brackets[1:]}"
