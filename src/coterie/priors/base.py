"""What all priors share: equality by value, and the distributions that their fields are."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from coterie.errors import CoterieError, DataError
from coterie.priors.checks import Numbers, per_class
from coterie.words.visible import quoted

BY_VALUE: dict[str, type[ByValue]] = {}
"""Everything that is equal by value, by the name of its class: what a file may hold."""


class ByValue:
    """Equality and hash of frozen dataclasses whose fields may be arrays.

    Subclasses register themselves by name, so that they can be saved and loaded.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        known = BY_VALUE.setdefault(cls.__name__, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise CoterieError(
                f"{known.__module__} defines a {cls.__name__} already, and files know it by that "
                f"name; call the one in {cls.__module__} otherwise"
            )
        BY_VALUE[cls.__name__] = cls  # a class that a notebook defines anew replaces itself

    def _key(self) -> tuple[Hashable, ...]:
        return tuple(_frozen(getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def checksum(self) -> str:
        """Give a checksum of every number, to the last bit."""
        return hashlib.sha256(repr(self._key()).encode()).hexdigest()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))


def _frozen(value: Any) -> Hashable:
    """Give something hashable that is equal when the value is."""
    return value._key() if isinstance(value, ByValue) else (np.shape(value), *np.ravel(value))


@dataclass(frozen=True, eq=False)
class Gamma(ByValue):
    """A Gamma distribution with mean ``shape / rate``.

    Parameters
    ----------
    shape, rate
        One number, or one per class, shape (T,).

    Examples
    --------
    >>> Gamma(20, 2) == Gamma(20.0, 2.0)
    True
    """

    shape: Numbers
    rate: Numbers

    def resolve(self, owner: str, n_classes: int | None = None) -> Gamma:
        """Write out shape and rate: one per class, or one number if ``n_classes`` is None."""
        return Gamma(
            per_class(self.shape, f"{owner}.shape", n_classes),
            per_class(self.rate, f"{owner}.rate", n_classes),
        )


@dataclass(frozen=True, eq=False)
class Beta(ByValue):
    """A Beta distribution with mean ``a / (a + b)``.

    Parameters
    ----------
    a, b
        One number each: pseudo-counts for and against.

    Examples
    --------
    >>> Beta(7, 3) == Beta(7.0, 3.0)
    True
    """

    a: float
    b: float

    def resolve(self, owner: str) -> Beta:
        """Give the same distribution with both numbers checked."""
        return Beta(
            per_class(self.a, f"{owner}.a", None),
            per_class(self.b, f"{owner}.b", None),
        )


class Prior(ByValue, ABC):
    """What all priors share: subclasses are frozen dataclasses, ``eq=False``, with defaults."""

    @abstractmethod
    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""

    @classmethod
    def named(cls) -> dict[str, Self]:
        """Give the priors that a model takes by name; the defaults of the fields are "paper"."""
        return {"paper": cls()}


class PaperPrior(Prior):
    """What the priors of the paper's models share."""

    @classmethod
    def paper(cls, n_classes: int, n_answers: int) -> Self:
        """Give the paper's prior, written out for these numbers of classes and answers."""
        return cls().resolve(n_classes, n_answers)


LEAST_SHAPE = 1e-10
"""Of the prior of a strength beta: log beta is about -1 / shape, beside which log eta must be seen,
to the digits that it has."""


def strength_prior(value: Gamma, name: str, n_classes: int | None = None) -> Gamma:
    """Give the Gamma prior of strengths, written out and checked."""
    if not isinstance(value, Gamma):
        raise DataError(
            f"{name} must be a Gamma, got {quoted(value)}; "
            "give Gamma(shape, rate), for example Gamma(20, 2)"
        )
    full = value.resolve(name, n_classes)
    least = float(np.min(full.shape))
    if least < LEAST_SHAPE:
        raise DataError(f"{name}.shape is {least:g}; give at least {LEAST_SHAPE:g}")
    return full


def concentration(value: float | Gamma, name: str) -> float | Gamma:
    """Give a fixed number above zero, or its Gamma prior."""
    if isinstance(value, Gamma):
        return value.resolve(name)
    fixed: float = per_class(value, name, None)
    return fixed
