"""How much a confusion matrix tells about the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.errors import DataError
from coterie.words.visible import quoted


def informativeness(confusion: ArrayLike) -> NDArray[np.float64]:
    """Measure how far confusion matrices are from those of a spammer, 0 to 1.

    A spammer's rows are all equal: the matrix has rank one. With psi[t] the row of true class t
    and T classes, this is the squared distance to the nearest matrix of equal rows, divided by its
    largest value (Raykar and Yu, 2012, Journal of Machine Learning Research 13)::

        sum over t of |psi[t] - mean row|^2 / (T - 1)
            = sum over pairs t < t' of |psi[t] - psi[t']|^2 / (T (T - 1))

    It is 0 if and only if the answers carry no information on the truth, and 1 if and only if
    every class has one answer of its own: always right, or wrong in a way that can be undone.
    For two classes it is (sensitivity + specificity - 1)^2. Classes count alike, however rare.

    Parameters
    ----------
    confusion
        Matrices of shape (..., classes, answers); the rows are the true classes and sum to one.

    Returns
    -------
    array
        One number per matrix, shape (...).

    Examples
    --------
    >>> inverted = [[0, 1], [1, 0]]
    >>> spammer = [[0.2, 0.8], [0.2, 0.8]]
    >>> novice = [[0.7, 0.3], [0.3, 0.7]]
    >>> informativeness([inverted, spammer, novice]).round(2).tolist()
    [1.0, 0.0, 0.16]
    """
    try:
        matrix = np.asarray(confusion, np.float64)
    except (TypeError, ValueError, ArithmeticError):
        raise DataError(
            f"informativeness takes matrices, not {quoted(confusion)}", argument="confusion"
        ) from None
    if matrix.ndim < 2 or matrix.shape[-2] < 2:
        raise DataError(
            "informativeness needs matrices of shape (..., classes, answers) with at least "
            f"2 classes, got shape {matrix.shape}",
            argument="confusion",
        )
    sums = matrix.sum(axis=-1)
    if not np.allclose(sums, 1, atol=1e-3):
        raise DataError(
            "informativeness needs rows that sum to one (true classes in rows, answers in columns),"
            f" got a sum of {sums.flat[np.argmax(np.abs(sums - 1))]:.3g}",
            argument="confusion",
        )
    away = matrix - matrix.mean(axis=-2, keepdims=True)
    return np.asarray((away**2).sum(axis=(-2, -1)) / (matrix.shape[-2] - 1))
