"""What all priors share: equality by value, distributions as fields, numbers written out in full.

What a prior is given is written out and checked, or a sentence says by its name why not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from coterie.arguments import is_whole
from coterie.errors import CoterieError, DataError
from coterie.numeric import FloatArray
from coterie.words.visible import quoted

Numbers = float | Sequence[Any] | FloatArray

ROW_SUM_TOLERANCE = 1e-8
LEAST, MOST = 1e-100, 1e100
"""Of what a prior is given: products of two are still numbers, and so are their log-gammas."""
LEAST_SHAPE = 1e-10
"""Of the prior of a strength beta: log beta is about -1 / shape, beside which log eta must be seen,
to the digits that it has."""
BY_VALUE: dict[str, type[ByValue]] = {}
"""Everything that is equal by value, by the name of its class: what a file may hold."""


ROWS = {"write": lambda value, name, n, m: mean_matrix(value, name, n, m)}
"""Metadata of fields: what writes them out, (value, name, n_classes, n_answers) -> value."""
PER_CLASS = {"write": lambda value, name, n, _: per_class(value, name, n)}
PER_ANSWER = {"write": lambda value, name, _, n: per_class(value, name, n, "answer")}
NUMBER = {"write": lambda value, name, *_: per_class(value, name, None)}
WHOLE = {"write": lambda value, name, *_: at_least_one(value, name)}
CONCENTRATION = {"write": lambda value, name, *_: concentration(value, name)}


class ByValue:
    """Equality and hash of frozen dataclasses of arrays, which files know by the class's name."""

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
        values = (getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]
        return tuple(
            one._key() if isinstance(one, ByValue) else (np.shape(one), *np.ravel(one))
            for one in values
        )

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def checksum(self) -> str:
        """Give a checksum of every number, to the last bit."""
        return hashlib.sha256(repr(self._key()).encode()).hexdigest()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def _written(self, owner: str, n_classes: int | None, n_answers: int | None) -> Self:
        """Write every field out, as its metadata say, or raise DataError."""
        written = {}
        for one in fields(self):  # type: ignore[arg-type]
            if write := one.metadata.get("write"):
                value, name = getattr(self, one.name), f"{owner}.{one.name}"
                written[one.name] = write(value, name, n_classes, n_answers)
        return replace(self, **written)  # type: ignore[type-var]


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

    shape: Numbers = field(metadata=PER_CLASS)
    rate: Numbers = field(metadata=PER_CLASS)


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

    a: float = field(metadata=NUMBER)
    b: float = field(metadata=NUMBER)


class Prior(ByValue):
    """What all priors share: subclasses are frozen dataclasses, ``eq=False``, with defaults."""

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        return self._written(type(self).__name__, n_classes, n_answers)

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


def mean_matrix(mean: Numbers, name: str, n_classes: int, n_answers: int) -> FloatArray:
    """Write a mean confusion matrix out in full, shape (T, C).

    One number is the probability of a class's own answer; the others share the rest evenly.
    """
    matrix, wanted = as_numbers(mean, name), (n_classes, n_answers)
    if matrix.ndim == 0:
        own = float(matrix)
        if not 0 < own < 1:
            raise DataError(
                f"{name} is {own:g}; give a probability strictly between 0 and 1, "
                f"or a whole matrix of shape {wanted}"
            )
        if n_answers == 1:
            return _read_only(np.ones(wanted))
        matrix = np.full(wanted, (1 - own) / (n_answers - 1))
        np.fill_diagonal(matrix, own)
    if matrix.shape != wanted:
        raise DataError(
            f"{name} has shape {matrix.shape}; give one number, or a matrix of true classes by "
            f"possible answers, shape {wanted}"
        )
    _require_positive(matrix, name)
    sums = matrix.sum(axis=1)
    (off,) = np.nonzero(np.abs(sums - 1) > ROW_SUM_TOLERANCE)
    if len(off):
        raise DataError(
            f"row {off[0]} of {name} sums to {sums[off[0]]:.6g}; "
            "divide every row by its sum, so that it is a distribution over the answers"
        )
    return _read_only(matrix)


def per_class(value: Numbers, name: str, n_classes: int | None, each: str = "class") -> Any:
    """Write positive numbers out, one per class; one float if ``n_classes`` is None.

    ``each`` says in errors what there are ``n_classes`` of.
    """
    numbers = as_numbers(value, name)
    wanted = () if n_classes is None else (n_classes,)
    if numbers.shape not in ((), wanted):
        one_each = "" if n_classes is None else f", or one per {each}, shape {wanted}"
        raise DataError(f"{name} has shape {numbers.shape}; give one number{one_each}")
    _require_positive(numbers, name)
    return float(numbers) if n_classes is None else _read_only(np.full(n_classes, numbers))


def strength_prior(value: Gamma, name: str, n_classes: int | None = None) -> Gamma:
    """Write the Gamma prior of strengths out."""
    if not isinstance(value, Gamma):
        raise DataError(
            f"{name} must be a Gamma, got {quoted(value)}; "
            "give Gamma(shape, rate), for example Gamma(20, 2)"
        )
    full = value._written(name, n_classes, None)
    least = float(np.min(full.shape))
    if least < LEAST_SHAPE:
        raise DataError(f"{name}.shape is {least:g}; give at least {LEAST_SHAPE:g}")
    return full


def concentration(value: float | Gamma, name: str) -> float | Gamma:
    """Give a fixed number above zero, or its Gamma prior."""
    if isinstance(value, Gamma):
        return value._written(name, None, None)
    fixed: float = per_class(value, name, None)
    return fixed


def at_least_one(value: Any, name: str) -> int:
    """Give a whole number of at least one."""
    if not is_whole(value, 1):
        raise DataError(f"{name} is {quoted(value)}; give a whole number of at least 1")
    return int(value)


def as_numbers(value: Numbers, name: str) -> FloatArray:
    """Give a float64 copy that nobody can write to."""
    try:
        return _read_only(np.array(value, np.float64))
    except (TypeError, ValueError):
        raise DataError(
            f"{name} is {quoted(value)}; give a number or an array of numbers"
        ) from None


def _read_only(numbers: FloatArray) -> FloatArray:
    numbers.setflags(write=False)
    return numbers


def _require_positive(numbers: FloatArray, name: str) -> None:
    """Raise DataError unless every number is finite, above zero, and not at the edge of floats."""
    bad = ~((numbers >= LEAST) & (numbers <= MOST))
    if not np.any(bad):
        return
    where = tuple(int(k) for k in np.argwhere(bad)[0])
    place = f"{name}[{', '.join(map(str, where))}]" if where else name
    raise DataError(
        f"{place} is {numbers[where]:g}; give a finite number above zero"
        + (f", between {LEAST:g} and {MOST:g}" if 0 < numbers[where] < np.inf else "")
    )
