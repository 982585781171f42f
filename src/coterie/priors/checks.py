"""Checks of what priors are given: numbers written out in full, or a sentence that says why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arguments import is_whole
from coterie.errors import DataError
from coterie.words.visible import quoted

FloatArray = NDArray[np.float64]
Numbers = float | Sequence[Any] | FloatArray

ROW_SUM_TOLERANCE = 1e-8
LEAST, MOST = 1e-100, 1e100
"""Of what a prior is given: products of two are still numbers, and so are their log-gammas."""


def mean_matrix(mean: Numbers, name: str, n_classes: int, n_answers: int) -> FloatArray:
    """Write a mean confusion matrix out in full, shape (T, C)."""
    matrix = as_numbers(mean, name)
    if matrix.ndim == 0:
        return _spread(float(matrix), name, n_classes, n_answers)
    if matrix.shape != (n_classes, n_answers):
        raise DataError(
            f"{name} has shape {matrix.shape}; give one number, or a matrix of true classes by "
            f"possible answers, shape {(n_classes, n_answers)}"
        )
    require_positive(matrix, name)
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
        return read_only(np.ones((n_classes, 1)))
    matrix = np.full((n_classes, n_answers), (1 - own) / (n_answers - 1))
    np.fill_diagonal(matrix, own)
    require_positive(matrix, name)
    return read_only(matrix)


def pseudo_counts(
    n_classes: int, n_answers: int, own: float = 4.0, other: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Give mean, shape (T, C), and strength, (T,), of rows with so many counts for each answer.

    Parameters
    ----------
    n_classes, n_answers
        T and C.
    own, other
        Pseudo-counts of a class's own answer, and of any other.
    """
    counts = np.full((n_classes, n_answers), float(other))
    np.fill_diagonal(counts, own)
    strength = counts.sum(axis=1)
    return counts / strength[:, None], strength


def per_class(value: Numbers, name: str, n_classes: int | None, each: str = "class") -> Any:
    """Write positive numbers out, one per class; one float if ``n_classes`` is None.

    ``each`` says in errors what there are ``n_classes`` of.
    """
    numbers = as_numbers(value, name)
    wanted = () if n_classes is None else (n_classes,)
    if numbers.shape not in ((), wanted):
        one_each = "" if n_classes is None else f", or one per {each}, shape {wanted}"
        raise DataError(f"{name} has shape {numbers.shape}; give one number{one_each}")
    require_positive(numbers, name)
    return float(numbers) if n_classes is None else read_only(np.full(n_classes, numbers))


def at_least_one(value: Any, name: str) -> int:
    """Give a whole number of at least one."""
    if not is_whole(value, 1):
        raise DataError(f"{name} is {quoted(value)}; give a whole number of at least 1")
    return int(value)


def as_numbers(value: Numbers, name: str) -> FloatArray:
    """Give a float64 copy that nobody can write to."""
    try:
        numbers = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{name} is {quoted(value)}; give a number or an array of numbers"
        ) from None
    return read_only(numbers)


def read_only(numbers: FloatArray) -> FloatArray:
    """Give the same array, which nobody can write to any more."""
    numbers.setflags(write=False)
    return numbers


def require_positive(numbers: FloatArray, name: str) -> None:
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
