"""Why a label is asked for, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.assign.belief import Belief
from coterie.assign.people import People
from coterie.posterior import Posterior
from coterie.words.numbers import hundredths
from coterie.words.visible import visible

IntArray = NDArray[np.int64]


def reasons(
    posterior: Posterior, belief: Belief, people: People, item: IntArray, person: IntArray
) -> list[str]:
    """Say for each pair what the doubt is, and what the answer is worth there.

    Parameters
    ----------
    posterior, belief, people
        The result, and who may be asked.
    item, person
        Codes of the items, and places of the people, each of shape (pairs,).
    """
    classes = [visible(name) for name in posterior.annotations.classes]
    if len(item) == 0 or len(classes) < 2:
        return ["the only class" for _ in item]
    p = belief.items[item]
    order = np.argsort(-p, axis=1, kind="stable")[:, :2]
    rows = np.arange(len(item))
    first, second = order[:, 0], order[:, 1]
    top, next_ = p[rows, first], p[rows, second]
    right = people.matrix[person, first, first], people.matrix[person, second, second]
    labels = belief.n_labels[item]
    return [
        f"{classes[a]} {hundredths(x)} %, {classes[b]} {hundredths(y)} % after {n:,}"
        f" label{'' if n == 1 else 's'}; answers {classes[a]} to {hundredths(u)} % and"
        f" {classes[b]} to {hundredths(v)} % of theirs"
        for a, b, x, y, u, v, n in zip(first, second, top, next_, *right, labels, strict=True)
    ]
