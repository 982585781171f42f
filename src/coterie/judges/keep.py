"""Which judges to keep: the cheapest panel whose consensus is still that of all."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coterie.errors import DataError
from coterie.metrics.matching import right_shares
from coterie.metrics.scores import chance_interval
from coterie.numeric import FloatArray, LongArray
from coterie.posterior import Posterior

EXACT = 12
"""Judges up to which all panels are tried; of more, one at a time is added and taken away."""


@dataclass(frozen=True)
class Kept:
    """A smaller panel, and how far its consensus is that of all judges."""

    judges: tuple[Any, ...]
    price: float  # what it costs,
    whole: float  # and what all of them do
    agreement: float  # share of items on which its consensus is that of all judges,
    low: float  # with its 95 % interval
    high: float
    right: float | None  # shares of known items that it, and the whole panel, gets right, ties
    right_whole: float | None  # shared; None without any
    tolerance: float  # what it may lose of each
    found: bool  # whether a panel that is smaller than the whole loses no more


def keep(
    posterior: Posterior,
    *,
    known: LongArray,
    prices: Mapping[Any, float] | None = None,
    tolerance: float = 0.05,
) -> Kept:
    """Find the cheapest panel whose consensus agrees with that of all judges.

    All judges' consensus is what is reported. A panel's is the class with the most weight: class
    proportions times its members' matrices, which are those of the whole fit. With known labels it
    must also get as many of them right as the whole does, less the tolerance.

    Parameters
    ----------
    posterior
        The result of the whole panel.
    known
        The known class of each item, -1 where unknown, beyond the classes where the true label is
        none of them, shape (items,).
    prices
        What each judge costs; one each by default.
    tolerance
        The share of items that may change.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=100, annotators=6, classes=2, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> found = keep(posterior, known=np.full(100, -1), tolerance=0.1)
    >>> len(found.judges) < 6, found.agreement >= 0.9
    (True, True)
    """
    names = posterior.annotations.annotators.tolist()
    price = np.ones(len(names))
    for l, name in enumerate(names if prices is not None else ()):
        told = prices.get(name, prices.get(str(name))) if prices is not None else None
        if told is None or not told >= 0:
            raise DataError(f"prices must have a number for every judge; {name!r} has {told!r}")
        price[l] = told
    trial = Trial(posterior, known, tolerance)
    members = _all_panels(trial, price) if len(names) <= EXACT else _greedy(trial, price)
    agreement, right = trial.score(members)
    low, high = chance_interval(pd.DataFrame({"items": [trial.counted], "accuracy": [agreement]}))
    return Kept(
        judges=tuple(names[l] for l in members),
        price=float(price[list(members)].sum()),
        whole=float(price.sum()),
        agreement=agreement,
        low=float(low[0]),
        high=float(high[0]),
        right=right,
        right_whole=trial.right_whole,
        tolerance=tolerance,
        found=len(members) < len(names) and trial.passes(members),
    )


class Trial:
    """The consensus of any panel, beside that of all judges."""

    def __init__(self, posterior: Posterior, known: LongArray, tolerance: float) -> None:
        a, codes = posterior.annotations, posterior.annotations.codes
        logs = np.log(np.maximum(posterior.confusion_mean, 1e-6))
        # log psi[l](t, y) of every label, shape (judges, items, classes)
        self.evidence = np.zeros((a.n_annotators, a.n_items, a.n_classes))
        who, answer = codes.item_annotator, codes.item_answer
        np.add.at(self.evidence, (who, a.item_of_label), logs[who, :, answer])
        self.balance = np.log(np.maximum(posterior.class_balance, 1e-12))
        (self.known,) = np.nonzero(known >= 0)
        self.truth, self.tolerance = known[self.known], tolerance
        self.labelled = a.labels_per_item > 0
        self.counted = int(self.labelled.sum())
        together, gold = self.weigh(range(a.n_annotators)), codes.gold >= 0
        # Where gold is, the consensus is what was told.
        self.whole = np.where(gold, together.argmax(axis=1), posterior.label_code)
        own = np.where(gold[:, None], together, posterior.item_probability)
        self.right_whole = self._right(own)

    def weigh(self, members: Sequence[int]) -> FloatArray:
        """Give the consensus of some judges: log weights of the classes, shape (items, classes)."""
        return np.asarray(self.balance + self.evidence[list(members)].sum(axis=0))

    def _right(self, weight: FloatArray) -> float | None:
        if not len(self.known):
            return None
        return float(right_shares(weight[self.known], self.truth).mean())

    def score(self, members: Sequence[int]) -> tuple[float, float | None]:
        """Give the agreement with all judges, and the share of known items that is right."""
        weight = self.weigh(members)
        same = (weight.argmax(axis=1) == self.whole)[self.labelled]
        return float(same.mean()) if self.counted else 1.0, self._right(weight)

    def loss(self, members: Sequence[int]) -> float:
        """Give by how much a panel misses what is asked; nothing if it passes."""
        same, right = self.score(members)
        loss = max(0.0, 1 - self.tolerance - same)
        if right is not None and self.right_whole is not None:
            loss = max(loss, self.right_whole - self.tolerance - right)
        return loss

    def passes(self, members: Sequence[int]) -> bool:
        """Say whether a panel loses no more than is tolerated."""
        return self.loss(members) <= 1e-12


def _all_panels(trial: Trial, price: FloatArray) -> tuple[int, ...]:
    """Try every panel, the cheapest first; of equally cheap ones the smallest, then the best."""
    n = len(price)
    panels = [p for k in range(1, n + 1) for p in itertools.combinations(range(n), k)]
    panels.sort(key=lambda p: (price[list(p)].sum(), len(p)))
    best: tuple[int, ...] | None = None
    for panel in panels:
        if best is None:
            best = panel if trial.passes(panel) else None
        elif price[list(panel)].sum() > price[list(best)].sum() + 1e-12:
            break
        elif len(panel) <= len(best) and trial.passes(panel):
            (same, right), (as_same, as_right) = trial.score(panel), trial.score(best)
            if len(panel) < len(best) or (right or 0.0, same) > (as_right or 0.0, as_same):
                best = panel
    return best if best is not None else tuple(range(n))


def _greedy(trial: Trial, price: FloatArray) -> tuple[int, ...]:
    """Add who helps most for the price until the panel passes, then drop who is not needed."""
    chosen: list[int] = []
    left = set(range(len(price)))
    while left and not (chosen and trial.passes(chosen)):
        now = trial.loss(chosen) if chosen else 1.0
        gain = {l: (now - trial.loss([*chosen, l])) / max(price[l], 1e-9) for l in sorted(left)}
        best = max(gain, key=lambda l: (gain[l], trial.score([*chosen, l])[0]))
        chosen.append(best)
        left.remove(best)
    for l in sorted(chosen, key=lambda l: -price[l]):
        fewer = [m for m in chosen if m != l]
        if fewer and trial.passes(fewer):
            chosen = fewer
    return tuple(sorted(chosen))
