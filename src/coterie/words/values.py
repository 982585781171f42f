"""Values from the data, as they are written in Python, in the middle of a sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from coterie.words.visible import quoted, text_of

_LISTED = 12  # names or classes listed in a sentence


def join(words: Sequence[str], last: str = "and") -> str:
    """Join words as in a sentence: a, b and c."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def written(values: Iterable[Any], brackets: str = "") -> str:
    """Write values as in Python, separated by commas; the first dozen if there are many."""
    values = list(values)
    if not values and not brackets:
        return "none"
    shown = [quoted(value) for value in values[:_LISTED]]
    if len(values) > _LISTED:
        shown.append(f"... ({len(values) - _LISTED:,} more)")
    return f"{brackets[:1]}{', '.join(shown)}{brackets[1:]}"


def not_one_of(asked: object, names: Iterable[object]) -> str:
    """Say what may be chosen, to be put behind what was asked for.

    Examples
    --------
    >>> not_one_of("lst", ["first", "last"])
    " is not one of 'first', 'last' (did you mean 'last'?)"
    """
    every = list(names)
    return f" is not one of {written(every)}{did_you_mean(asked, every)}"


def did_you_mean(name: object, names: Iterable[object]) -> str:
    """Ask for the one that is written nearly so, to be put behind a sentence; else nothing."""
    known = {one.casefold(): one for one in names if isinstance(one, str)}
    near = difflib.get_close_matches(text_of(name).casefold(), known, n=1)
    return f" (did you mean {quoted(known[near[0]])}?)" if near else ""
