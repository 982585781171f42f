"""How far a consensus can be trusted: what is expected wrong, what a person should see."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coterie.posterior import Posterior

SURE = 0.95
DOUBTFUL = 0.8
"""Below this probability an item is for a person."""
SETTLED = 19.0
"""Odds of one reading to the other at which they are decided: 95 to 5."""


@dataclass(frozen=True)
class Trust:
    """What the reported probabilities say of the consensus.

    Parameters
    ----------
    items
        How many have labels.
    sure
        Share with a probability of at least 95 %.
    wrong
        How many labels are wrong, as expected from the probabilities.
    doubtful
        Items below 80 %, the least sure first: item, label, probability, runner_up.
    readings
        Two readings of the labels side by side, where chains split between two.
    gold_needed
        How many of those items must be known, on average, for odds of 19 to 1; None if there are
        no two readings.
    sentence
        What the chains say of the labels.
    """

    items: int
    sure: float
    wrong: float
    doubtful: pd.DataFrame
    readings: pd.DataFrame | None
    gold_needed: int | None
    sentence: str


def trust_in(posterior: Posterior) -> Trust:
    """Gather what the probabilities, and the chains behind them, say."""
    labels = posterior.labels()
    labels = labels[(labels["n_labels"] > 0) & (posterior.annotations.codes.gold < 0)]
    doubtful = labels[labels["probability"] < DOUBTFUL].sort_values("probability", kind="stable")
    readings = posterior.readings()
    return Trust(
        items=len(labels),
        sure=float((labels["probability"] >= SURE).mean()) if len(labels) else 1.0,
        wrong=float((1 - labels["probability"]).sum()),
        doubtful=doubtful[["item", "label", "probability", "runner_up"]].reset_index(drop=True),
        readings=readings,
        gold_needed=None if readings is None else gold_needed(readings),
        sentence=posterior.verdicts.labels.sentence,
    )


def gold_needed(readings: pd.DataFrame) -> int:
    """Count the known labels that decide between two readings, whichever holds.

    A known label of an item is expected to move the log odds by the divergence of what the two
    readings say of it; the smaller of both directions counts, the surest items come first.

    Parameters
    ----------
    readings
        As :meth:`coterie.Posterior.readings` gives it: the item, then label and probability twice.

    Examples
    --------
    >>> two = pd.DataFrame({"item": [1, 2, 3], "chain 1": "a", "p": 0.9, "chain 2": "b", "q": 0.8})
    >>> gold_needed(two)
    3
    """
    one, other = (readings.iloc[:, k].to_numpy(float) for k in (2, 4))
    one, other = np.clip(one, 1e-6, 1 - 1e-6), np.clip(other, 1e-6, 1 - 1e-6)
    # The first reading says its label with p, the second's with at most 1 - p; and the other way.
    forth = one * np.log(one / (1 - other)) + (1 - one) * np.log((1 - one) / other)
    back = other * np.log(other / (1 - one)) + (1 - other) * np.log((1 - other) / one)
    moved = np.cumsum(np.sort(np.minimum(forth, back))[::-1])
    enough = int(np.searchsorted(moved, math.log(SETTLED))) + 1
    if enough <= len(moved):
        return enough
    return math.ceil(len(moved) * math.log(SETTLED) / max(float(moved[-1]), 1e-9))
