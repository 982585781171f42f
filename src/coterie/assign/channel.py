"""One more answer about one item: what it tells, what it gains, and what is believed after it.

With belief p, matrix Psi and worth w, an answer c has the chance m[c] = sum over t of p[t] Psi[t,c]
and leaves the belief p[t] (w Psi[t,c] / m[c] + 1 - w): Bayes' rule with probability w, else nothing
new. On average that is p again, so that no answer is expected to move belief anywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

FloatArray = NDArray[np.float64]

NOISE = 1e-12
"""Gains up to this are those of rounding."""


def expect_answers(belief: FloatArray, matrix: FloatArray) -> FloatArray:
    """Give the chance of each answer, (..., answers), from (..., classes) and (..., classes, A)."""
    return np.asarray(np.einsum("...t,...tc->...c", belief, matrix))


def update_beliefs(
    belief: FloatArray, chance: FloatArray, worth: FloatArray, likely: FloatArray
) -> FloatArray:
    """Give beliefs after answers, (rows, classes); an answer that cannot be changes nothing.

    Parameters
    ----------
    belief, likely
        What was believed, and how often each class is answered so, shape (rows, classes).
    chance, worth
        Of the answers, shape (rows,).
    """
    ratio = np.divide(likely, chance[:, None], out=np.ones_like(likely), where=chance[:, None] > 0)
    return np.asarray(belief * (worth[:, None] * ratio + 1.0 - worth[:, None]))


def inform_all(items: FloatArray, worth: FloatArray, matrix: FloatArray) -> FloatArray:
    """Give what one more answer of each matrix about each item tells: information, and gain.

    Information, in bits about the class, is the sum over t, c of p[t] q[t,c] log2(q[t,c] / m[c])
    with q = w Psi + (1 - w) m; the gain is by how much the chance of a right label rises.

    Parameters
    ----------
    items, worth
        Belief, shape (items, classes), and what a label is worth, shape (items,).
    matrix
        Shape (people, classes, answers).

    Returns
    -------
    Array of shape (2, items, people).
    """
    w, p = worth[:, None, None, None], items[:, None]
    chance = expect_answers(p, matrix)[:, :, None]
    said = w * matrix + (1 - w) * chance
    bits = expect_answers(p, rel_entr(said, chance)).sum(axis=2) / np.log(2)
    after = (p[..., None] * said).max(axis=2, initial=0.0).sum(axis=2)
    return np.maximum([bits, after - p.max(axis=2, initial=0.0)], 0.0)


def without_noise(gain: FloatArray) -> FloatArray:
    """Give gains, 0 where there is only the error of rounding: no label changes.

    Examples
    --------
    >>> without_noise(np.array([2e-16, 0.01])).tolist()
    [0.0, 0.01]
    """
    return np.where(gain > NOISE, gain, 0.0)
