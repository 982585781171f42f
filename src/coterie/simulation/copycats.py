"""Annotators who say what another says: whom, how often, and what that makes of their matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.simulation.crowd import Copycats, FloatArray, People

IntArray = NDArray[np.int64]


def find_sources(copies: FloatArray, members: list[int], rng: np.random.Generator) -> Copycats:
    """Draw whom each group copies, among those who copy nobody.

    Parameters
    ----------
    copies
        How often each annotator copies, shape (annotators,).
    members
        The sizes of the groups, which follow each other.
    rng
        The source of randomness.

    Examples
    --------
    >>> find_sources(np.array([0.0, 0.0, 0.5]), [2, 1], np.random.default_rng(0)).source.tolist()
    [-1, -1, 1]
    """
    (models,) = np.nonzero(copies == 0)
    if not len(models):
        raise DataError(
            "somebody must copy nobody",
            argument="scenario",
            remedy="add a group with copies=0, such as 'novice'",
        )
    drawn = np.repeat(rng.choice(models, size=len(members)), members)
    return Copycats(np.where(copies > 0, drawn, -1), copies)


def draw_answers(
    confusion: FloatArray, annotator: IntArray, truth: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw each label's answer from its annotator's row of the truth, shape (labels,)."""
    below = np.cumsum(confusion, axis=2)
    u = rng.random(len(annotator))
    answer = np.zeros(len(annotator), np.int64)
    # A loop over answers: one column in memory at a time, not labels x answers.
    for c in range(confusion.shape[2] - 1):
        answer += u >= below[annotator, truth, c]
    return answer


def copy_answers(
    labels: tuple[IntArray, IntArray, IntArray],
    truth: IntArray,
    people: People,
    rng: np.random.Generator,
) -> IntArray:
    """Put what the source says, or would say, in place of own answers, shape (labels,).

    Parameters
    ----------
    labels
        Item, annotator and own answer of each label.
    truth
        The class of each item, shape (items,).
    people
        The annotators, among them copycats.
    rng
        The source of randomness.
    """
    item, annotator, answer = labels
    assert people.copycats is not None
    source, share = people.copycats
    copied = rng.random(len(answer)) < share[annotator]
    for s in np.unique(source[source >= 0]):
        said = draw_answers(people.confusion, np.full(len(truth), s), truth, rng)
        given = annotator == s
        said[item[given]] = answer[given]
        answer = np.where(copied & (source[annotator] == s), said[item], answer)
    return answer


def matrices_of_all(people: People) -> FloatArray:
    """Give the matrices of all answers: copies Psi[source] + (1 - copies) Psi[own]."""
    if people.copycats is None:
        return people.confusion
    source, share = people.copycats
    weight = share[:, None, None]
    return weight * people.confusion[source] + (1 - weight) * people.confusion


def copied_by_name(copycats: Copycats | None, annotators: NDArray[np.object_]) -> pd.Series | None:
    """Say who copies whom, by name; None where nobody copies."""
    if copycats is None:
        return None
    index = pd.Index(annotators, name="annotator")
    named = pd.Series(annotators[copycats.source], index, name="copied")
    return named.where(copycats.source >= 0)
