"""Things by short names, open to new ones; what is not asked for is not imported."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from coterie.errors import DataError
from coterie.words.values import did_you_mean
from coterie.words.visible import quoted

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A mapping from short names to things, in the order in which they joined.

    A thing may be given as ``"module:name"``: it is imported when it is first asked for. Installed
    packages add theirs by entry points, which are looked up when a name is not known yet, and when
    all names are asked for.

    ``what`` the things are is for sentences; ``built_in`` are their places, by short name, and
    ``entry_points`` is the group in which other packages name theirs.

    Examples
    --------
    >>> fruits = Registry[object]("fruit", {"pi": "math:pi"}, "example.fruits")
    >>> fruits.register("pear", "a pear")
    >>> list(fruits), fruits["pi"], fruits.find("math:e")
    (['pi', 'pear'], 3.141592653589793, 2.718281828459045)
    >>> fruits.find("fig")
    Traceback (most recent call last):
    coterie.errors.DataError: no fruit 'fig'; choose one of pi, pear, or give module:name
    """

    def __init__(self, what: str, built_in: Mapping[str, str], entry_points: str) -> None:
        self._what = what
        self._group = entry_points
        self._place: dict[str, str] = dict(built_in)
        self._thing: dict[str, T] = {}
        self._looked = False

    def register(self, name: str, thing: T) -> None:
        """Add a thing under a short name of letters, digits and underscores.

        The same class, defined anew in a notebook, replaces itself; another of that name is an
        error.
        """
        if not name.isidentifier():
            raise DataError(
                f"{name!r} is no short name of a {self._what}; give letters, digits, underscores"
            )
        place = repr(thing)
        if isinstance(thing, type):
            place = f"{thing.__module__}:{thing.__qualname__}"
        if name in self and self._place[name] != place:
            raise DataError(
                f"there is a {self._what} {name!r} already, {self._place[name]}; choose another"
                " short name"
            )
        self._place[name] = place
        self._thing[name] = thing

    def remove(self, name: str) -> None:
        """Forget a thing; there must be one."""
        del self._place[name]
        self._thing.pop(name, None)

    def find(self, name: object) -> T:
        """Give the thing of a short name, or at a place ``"module:name"``; DataError if none."""
        if isinstance(name, str) and ":" in name:
            return self._load(name)
        if not isinstance(name, str) or name not in self:
            known, near = ", ".join(self), ""
            if isinstance(name, str):  # or what its thing is called
                places = self._place.items()
                called = {place.rpartition(":")[2].casefold(): short for short, place in places}
                near = did_you_mean(called.get(name.casefold(), name), self)
            raise DataError(
                f"no {self._what} {quoted(name)}{near}",
                argument=self._what,
                remedy=f"choose one of {known}, or give module:name",
            )
        return self[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._thing:
            if name not in self._place:
                self._look()
            self._thing[name] = self._load(self._place[name])
        return self._thing[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._place:
            self._look()
        return name in self._place

    def __iter__(self) -> Iterator[str]:
        self._look()
        return iter(tuple(self._place))

    def __len__(self) -> int:
        self._look()
        return len(self._place)

    def _look(self) -> None:
        """Add what installed packages name; what is there already stays."""
        if not self._looked:
            from importlib.metadata import entry_points

            self._looked = True
            for one in entry_points(group=self._group):
                self._place.setdefault(one.name, one.value)

    def _load(self, place: str) -> T:
        module, _, name = place.partition(":")
        try:
            thing: T = getattr(importlib.import_module(module), name)
        except Exception as error:  # a package of others may fail in any way
            raise DataError(
                f"no {self._what} {place!r}: {error}; expected module:name of one that is installed"
            ) from error
        return thing
