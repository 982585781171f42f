"""What the run notes of how far the chains agree: on labels, and on who belongs with whom."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.partition.cooccurrence import share_together
from coterie.posterior.draws import Draws
from coterie.posterior.verdicts import LIKE_PAIRS, ONE_LABEL

MOST_PEOPLE = 400
"""Annotators whose pairs are compared: so many, evenly spread, stand for all."""
MOST_NOTED = 1000
"""Items on which chains differ that are noted by their number."""


def note_labels(labels: NDArray[np.int64], places: NDArray[np.int64]) -> dict[str, Any]:
    """Note on how many items all chains give one label, and where they do not.

    Parameters
    ----------
    labels
        What each chain alone would say, shape (chains, items).
    places
        Which items those are, shape (items,).

    Examples
    --------
    >>> note_labels(np.array([[0, 1, 1], [0, 1, 0]]), np.array([4, 7, 8]))
    {'settled': False, 'chains': 2, 'one_label': 0.6666666666666666, 'n_differ': 1, 'differ': [8]}
    """
    same = (labels == labels[:1]).all(axis=0)
    share = float(same.mean()) if same.size else 1.0
    differ = places[~same]
    return {
        "settled": share >= ONE_LABEL,
        "chains": len(labels),
        "one_label": share,
        "n_differ": len(differ),
        "differ": differ[:MOST_NOTED].tolist(),
    }


def note_coteries(draws: Draws, labelled: NDArray[np.bool_]) -> dict[str, Any]:
    """Note how many coteries each chain has, and how far chains differ on who belongs together.

    Parameters
    ----------
    draws
        What the chains kept.
    labelled
        Who has labels, shape (annotators,).
    """
    assert draws.partition is not None  # the model finds coteries
    assert draws.n_coteries is not None
    (people,) = np.nonzero(labelled)
    if len(people) > MOST_PEOPLE:
        people = people[np.linspace(0, len(people) - 1, MOST_PEOPLE).astype(int)]
    together = [share_together(chain[:, people]) for chain in draws.partition]
    apart = [float(np.abs(a - b).mean()) for a, b in itertools.combinations(together, 2)]
    worst = max(apart, default=0.0)
    return {
        "settled": worst <= LIKE_PAIRS,
        "n_coteries": [float(x) for x in draws.n_coteries.mean(axis=1)],
        "pairs_apart": worst,
    }
