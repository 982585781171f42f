"""What the run notes of how far the chains agree: on labels, and on who belongs with whom."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.inference.modes import LEAST_DRAWS
from coterie.partition.cooccurrence import share_together
from coterie.posterior.draws import Draws
from coterie.posterior.verdicts import LIKE_PAIRS, ONE_LABEL

FloatArray = NDArray[np.float64]

MOST_PEOPLE = 400
"""Annotators whose pairs are compared: so many, evenly spread, stand for all."""
MOST_NOTED = 1000
"""Items on which chains differ that are noted by their number."""
MOST_DECIDING = 20
"""Items that would decide between two readings that are noted."""

SURE = 2 / 3
"""Probability that both readings must give their own label of some item: else chains only waver."""

Places = NDArray[np.int64]
Say = Callable[[Sequence[int]], FloatArray]
"""Gives the probabilities, shape (items, classes), that some chains report together."""


def note_labels(labels: Places, places: Places, sweeps: int) -> dict[str, Any]:
    """Note on how many items all chains give one label, and where they do not.

    Parameters
    ----------
    labels
        What each chain alone would say, shape (chains, items).
    places
        Which items those are, shape (items,).
    sweeps
        Sweeps after burn-in: chains that hardly moved from where they started show nothing.

    Examples
    --------
    >>> noted = note_labels(np.array([[0, 1, 1, 0], [0, 1, 0, 0]]), np.array([4, 7, 8, 9]), 100)
    >>> noted["settled"], noted["one_label"], noted["n_differ"], noted["differ"]
    (False, 0.75, 1, [8])
    """
    same = (labels == labels[:1]).all(axis=0)
    share = float(same.mean()) if same.size else 1.0
    differ = places[~same]
    return {
        "settled": share >= ONE_LABEL and sweeps >= LEAST_DRAWS,
        "chains": len(labels),
        "sweeps": sweeps,
        "one_label": share,
        "n_differ": len(differ),
        "differ": differ[:MOST_NOTED].tolist(),
    }


def note_readings(labels: Places, places: Places, say: Say) -> dict[str, Any] | None:
    """Note two readings of the labels, where the chains split between two; else None.

    Chains have one reading if they give one label on nearly all items. What would decide is gold of
    items on which both readings are sure of different labels: those come first. Where there are
    none, the chains know too little to have readings.

    Parameters
    ----------
    labels, places
        As for :func:`note_labels`.
    say
        What chains, by their place, report together of those items.

    Examples
    --------
    >>> said = {(0, 1): [[0.9, 0.1], [0.8, 0.2]], (2,): [[0.4, 0.6], [0.1, 0.9]]}
    >>> labels = np.array([[0, 0], [0, 0], [1, 1]])
    >>> found = note_readings(labels, np.array([4, 7]), lambda chains: np.array(said[*chains]))
    >>> found["chains"], found["n_differ"], found["items"], found["labels"]
    ([[0, 1], [2]], 2, [7, 4], [[0, 0], [1, 1]])
    """
    sides = _sides(labels)
    if len(sides) != 2:
        return None
    both = np.stack([say(chains) for chains in sides])  # (2, items, classes)
    chosen, sure = both.argmax(axis=2), both.max(axis=2)
    (differ,) = np.nonzero(chosen[0] != chosen[1])
    both_sure = sure[:, differ].min(axis=0)
    if not (both_sure >= SURE).any():
        return None
    order = differ[np.argsort(-both_sure, kind="stable")][:MOST_DECIDING]
    return {
        "chains": sides,
        "n_differ": len(differ),
        "items": places[order].tolist(),
        "labels": chosen[:, order].tolist(),
        "probability": sure[:, order].tolist(),
    }


def _sides(labels: Places) -> list[list[int]]:
    """Gather the chains that give one label on nearly all items."""
    sides: list[list[int]] = []
    for chain, said in enumerate(labels):
        for side in sides:
            if (said == labels[side]).all(axis=0).mean() >= ONE_LABEL:
                side.append(chain)
                break
        else:
            sides.append([chain])
    return sides


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
    pairs = max(len(people) * (len(people) - 1), 1)  # nobody is a pair with themselves
    apart = [float(np.abs(a - b).sum()) / pairs for a, b in itertools.combinations(together, 2)]
    worst = max(apart, default=0.0)
    return {
        "settled": len(together) > 1 and worst <= LIKE_PAIRS,
        "n_coteries": [float(x) for x in draws.n_coteries.mean(axis=1)],
        "pairs_apart": worst,
    }
