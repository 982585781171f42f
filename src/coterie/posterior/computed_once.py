"""Results that are computed once: what they come from never changes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import pandas as pd

P = ParamSpec("P")
T = TypeVar("T")


class Remembers(Protocol):
    """Something immutable that has a place for what was computed from it."""

    @property
    def _computed(self) -> dict[tuple[Any, ...], Any]: ...


S = TypeVar("S", bound=Remembers)


def once(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Compute what a method gives once per object and arguments, which must be hashable.

    Tables are given as copies: whoever changes theirs changes nobody else's.

    Examples
    --------
    >>> class Squares:
    ...     def __init__(self):
    ...         self._computed = {}
    ...     @once
    ...     def of(self, x=2):
    ...         print("computing")
    ...         return x * x
    >>> squares = Squares()
    >>> squares.of(), squares.of(x=2)
    computing
    (4, 4)
    """
    signature = inspect.signature(method)

    @functools.wraps(method)
    def remembered(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, *values = bound.arguments.values()
        key = (method.__name__, *values)
        if key not in self._computed:
            self._computed[key] = method(self, *args, **kwargs)
        found: T = self._computed[key]
        return cast(T, found.copy()) if isinstance(found, pd.DataFrame) else found

    return cast(Callable[Concatenate[S, P], T], remembered)
