"""Priors: what is believed before any label is seen, as explicit objects.

Every field may be given in short (one number for all classes); ``resolve`` writes it out in full
for a given number of classes ``T`` and of possible answers ``C``, and checks it. All Gammas are
(shape, rate). The names and the paper's symbols:

==================  =====================  ======================================================
field               symbol                 what it is
==================  =====================  ======================================================
``mean``            eta (gamma in hcBCC)   mean confusion matrix, true class by given answer
``strength``        beta                   how many labels that mean is worth, a class
``mean_strength``   phi                    the same, one level up (hcBCC)
``class_weights``   epsilon * mu           pseudo-counts of the classes
``concentration``   alpha                  of the Chinese restaurant process over annotators
``auxiliaries``     h                      empty clusters of the Reuse algorithm
==================  =====================  ======================================================
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError

FloatArray = NDArray[np.float64]
Numbers = float | Sequence[Any] | FloatArray

ROW_SUM_TOLERANCE = 1e-8


class _ByValue:
    """Equality and hash of frozen dataclasses whose fields may be arrays."""

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
    return value._key() if isinstance(value, _ByValue) else (np.shape(value), *np.ravel(value))


@dataclass(frozen=True, eq=False)
class Gamma(_ByValue):
    """A Gamma distribution with mean ``shape / rate``.

    Parameters
    ----------
    shape, rate
        One number, or one a class, shape (T,).

    Examples
    --------
    >>> Gamma(20, 2) == Gamma(20.0, 2.0)
    True
    """

    shape: Numbers
    rate: Numbers

    def resolve(self, owner: str, n_classes: int | None = None) -> Gamma:
        """Write out shape and rate: one a class, or one number if ``n_classes`` is None."""
        return Gamma(
            _per_class(self.shape, f"{owner}.shape", n_classes),
            _per_class(self.rate, f"{owner}.rate", n_classes),
        )


class _Prior(_ByValue, ABC):
    """What the three priors share."""

    @abstractmethod
    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""

    @classmethod
    def paper(cls, n_classes: int, n_answers: int) -> Self:
        """Give the paper's prior, written out for these numbers of classes and answers."""
        return cls().resolve(n_classes, n_answers)


@dataclass(frozen=True, eq=False)
class IBCCPrior(_Prior):
    """Psi[l, t] ~ Dir(strength[t] * mean[t]) for every annotator l; tau ~ Dir(class_weights).

    Parameters
    ----------
    mean
        eta: the probability of a class's own answer, the rest shared evenly by the other C - 1
        answers; or the whole matrix, shape (T, C), rows summing to one.
    strength
        beta: one number, or one a class, shape (T,).
    class_weights
        epsilon * mu: one number, or one a class, shape (T,).

    Examples
    --------
    >>> IBCCPrior(mean=0.8).resolve(n_classes=2, n_answers=3).mean
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1]])
    """

    mean: Numbers = 0.7
    strength: Numbers = 3.0
    class_weights: Numbers = 1.0

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        return type(self)(
            mean=_mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            strength=_per_class(self.strength, f"{name}.strength", n_classes),
            class_weights=_per_class(self.class_weights, f"{name}.class_weights", n_classes),
        )


@dataclass(frozen=True, eq=False)
class CBCCPrior(_Prior):
    """Clusters ~ CRP(concentration); Psi[m, t] ~ Dir(strength[t] * mean[t]) for every cluster m.

    Parameters
    ----------
    mean, strength, class_weights
        eta, beta, epsilon * mu, as in :class:`IBCCPrior`.
    concentration
        alpha: a fixed number, or its Gamma prior.

    Examples
    --------
    >>> CBCCPrior(concentration=0.5).resolve(2, 2).strength
    array([3., 3.])
    """

    mean: Numbers = 0.7
    strength: Numbers = 3.0
    class_weights: Numbers = 1.0
    concentration: float | Gamma = Gamma(1.0, 10.0)

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        return type(self)(
            mean=_mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            strength=_per_class(self.strength, f"{name}.strength", n_classes),
            class_weights=_per_class(self.class_weights, f"{name}.class_weights", n_classes),
            concentration=_concentration(self.concentration, f"{name}.concentration"),
        )


@dataclass(frozen=True, eq=False)
class HCBCCPrior(_Prior):
    """Clusters ~ CRP(concentration); each has its own mean matrix and spread around it.

    Psi[l, t] ~ Dir(beta[m, t] * eta[m, t]) for every annotator l of cluster m, where
    beta[m, t] ~ ``strength`` and eta[m, t] ~ Dir(mean_strength[t] * mean[t]).

    Parameters
    ----------
    mean
        gamma: as ``mean`` in :class:`IBCCPrior`.
    mean_strength
        phi: one number, or one a class, shape (T,).
    strength
        Gamma(a, b), the prior of beta; a and b one number, or one a class, shape (T,).
    class_weights
        epsilon * mu: one number, or one a class, shape (T,).
    concentration
        alpha: a fixed number, or its Gamma prior.
    auxiliaries
        h: empty clusters that the Reuse algorithm keeps.

    Examples
    --------
    >>> HCBCCPrior().resolve(2, 2).strength
    Gamma(shape=array([20., 20.]), rate=array([2., 2.]))
    """

    mean: Numbers = 0.7
    mean_strength: Numbers = 3.0
    strength: Gamma = Gamma(20.0, 2.0)
    class_weights: Numbers = 1.0
    concentration: float | Gamma = Gamma(1.0, 10.0)
    auxiliaries: int = 10

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        if not isinstance(self.strength, Gamma):
            raise DataError(
                f"{name}.strength must be a Gamma, got {self.strength!r}; "
                "give Gamma(shape, rate), for example Gamma(20, 2)"
            )
        return type(self)(
            mean=_mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            mean_strength=_per_class(self.mean_strength, f"{name}.mean_strength", n_classes),
            strength=self.strength.resolve(f"{name}.strength", n_classes),
            class_weights=_per_class(self.class_weights, f"{name}.class_weights", n_classes),
            concentration=_concentration(self.concentration, f"{name}.concentration"),
            auxiliaries=_at_least_one(self.auxiliaries, f"{name}.auxiliaries"),
        )


def _mean_matrix(mean: Numbers, name: str, n_classes: int, n_answers: int) -> FloatArray:
    """Write a mean confusion matrix out in full, shape (T, C)."""
    matrix = _numbers(mean, name)
    if matrix.ndim == 0:
        return _spread(float(matrix), name, n_classes, n_answers)
    if matrix.shape != (n_classes, n_answers):
        raise DataError(
            f"{name} has shape {matrix.shape}; give one number, or a matrix of true classes by "
            f"possible answers, shape {(n_classes, n_answers)}"
        )
    _require_positive(matrix, name)
    sums = matrix.sum(axis=1)
    (off,) = np.nonzero(np.abs(sums - 1) > ROW_SUM_TOLERANCE)
    if len(off):
        raise DataError(
            f"row {off[0]} of {name} sums to {sums[off[0]]:.6g}; "
            "divide every row by its sum, so that it is a distribution over the answers"
        )
    return matrix


def _spread(own: float, name: str, n_classes: int, n_answers: int) -> FloatArray:
    """Give ``own`` to each class's own answer and share the rest evenly by the others."""
    if not 0 < own < 1:
        raise DataError(
            f"{name} is {own:g}; give a probability strictly between 0 and 1, "
            f"or a whole matrix of shape {(n_classes, n_answers)}"
        )
    if n_answers == 1:
        return _read_only(np.ones((n_classes, 1)))
    matrix = np.full((n_classes, n_answers), (1 - own) / (n_answers - 1))
    np.fill_diagonal(matrix, own)
    return _read_only(matrix)


def _per_class(value: Numbers, name: str, n_classes: int | None) -> Any:
    """Write positive numbers out, one a class; one float if ``n_classes`` is None."""
    numbers = _numbers(value, name)
    wanted = () if n_classes is None else (n_classes,)
    if numbers.shape not in ((), wanted):
        one_each = "" if n_classes is None else f", or one a class, shape {wanted}"
        raise DataError(f"{name} has shape {numbers.shape}; give one number{one_each}")
    _require_positive(numbers, name)
    return float(numbers) if n_classes is None else _read_only(np.full(n_classes, numbers))


def _concentration(value: float | Gamma, name: str) -> float | Gamma:
    if isinstance(value, Gamma):
        return value.resolve(name)
    fixed: float = _per_class(value, name, None)
    return fixed


def _at_least_one(value: Any, name: str) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise DataError(f"{name} is {value!r}; give a whole number of at least 1")
    return int(value)


def _numbers(value: Numbers, name: str) -> FloatArray:
    """Give a float64 copy that nobody can write to."""
    try:
        numbers = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} is {value!r}; give a number or an array of numbers") from None
    return _read_only(numbers)


def _read_only(numbers: FloatArray) -> FloatArray:
    numbers.setflags(write=False)
    return numbers


def _require_positive(numbers: FloatArray, name: str) -> None:
    bad = ~(np.isfinite(numbers) & (numbers > 0))
    if not np.any(bad):
        return
    where = tuple(int(k) for k in np.argwhere(bad)[0])
    place = f"{name}[{', '.join(map(str, where))}]" if where else name
    raise DataError(f"{place} is {numbers[where]:g}; give a finite number above zero")
