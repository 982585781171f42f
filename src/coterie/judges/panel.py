"""What a person who runs a panel asks, gathered from one result."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coterie.data import truth_for
from coterie.data.annotations import Annotations
from coterie.data.table import look_up
from coterie.judges.bias import (
    Worth,
    column_table,
    copies,
    effective_number,
    first_class,
    position_table,
)
from coterie.judges.keep import Kept, keep
from coterie.metrics import Score
from coterie.metrics.scores import chance_interval
from coterie.models.majority import score_beside_vote
from coterie.numeric import LongArray
from coterie.posterior import Posterior
from coterie.posterior.dependence import known_dependence

ENOUGH = 50
"""Known items from which on who errs with whom is told by them alone."""
TOLERANCE = 0.05
"""Share of items that a smaller panel may change."""
SURE, DOUBTFUL = 0.95, 0.8
"""Probabilities above which labels are counted as sure, and below which one is for a person."""
SETTLED = 19.0
"""Odds of one reading to the other at which they are decided: 95 to 5."""


@dataclass(frozen=True, eq=False)
class Trust:
    """What the reported probabilities, and the chains behind them, say of the consensus."""

    items: int  # that have labels and are not known
    sure: float  # share with a probability of at least 95 %
    wrong: float  # labels, as expected from the probabilities
    doubtful: pd.DataFrame  # below 80 %, the least sure first: item, label, probability, runner_up
    readings: pd.DataFrame | None  # side by side, where chains split between two
    gold_needed: int | None  # of those items, on average, for odds of 19 to 1
    sentence: str  # what the chains say of the labels


@dataclass(frozen=True, eq=False)
class Panel:
    """A panel of judges, looked at. Made by :func:`look_at`.

    Parameters
    ----------
    posterior
        The consensus it was read off.
    worth, worth_known
        How many independent judges the panel is worth, by all items, and by known ones alone;
        None where no item has two labels, or none is known.
    judges
        One row per judge: judge, n_labels, right, low, high (of the model), and on known items
        known, known_right, known_low, known_high.
    dependence, copies
        Who errs with whom, and the sets of those who surely do so more than not; by known items
        alone, where there are at least 50.
    position, first
        What the order does to each judge, and the verdict for what is shown first.
    columns
        How far verdicts go with numbers of the items; None if there are none.
    kept
        The cheapest panel that is as good, to the tolerance.
    trust
        How far the consensus can be trusted.
    score, vote
        How right the consensus is, and the vote; None without a truth that the fit has not seen.
    """

    posterior: Posterior
    worth: Worth | None
    worth_known: Worth | None
    judges: pd.DataFrame
    dependence: pd.DataFrame
    copies: list[list[Any]]
    position: pd.DataFrame
    first: Hashable | None
    columns: pd.DataFrame | None
    kept: Kept
    trust: Trust
    score: Score | None
    vote: Score | None


def look_at(
    posterior: Posterior,
    *,
    truth: Any = None,
    prices: Mapping[Any, float] | None = None,
    tolerance: float = TOLERANCE,
    columns: pd.DataFrame | None = None,
    first: Hashable | None = None,
) -> Panel:
    """Look at a panel of judges: its worth, copies, biases, whom to keep, how far to trust it.

    Parameters
    ----------
    posterior
        The consensus of the panel, :func:`coterie.aggregate`.
    truth
        Known labels that the fit has not seen (Series or dict, item -> label); gold counts too. A
        label that is no class is a miss of everybody; if none is a class, that is an error, as in
        :meth:`coterie.Posterior.score`.
    prices
        What each judge costs; one each by default.
    tolerance
        Share of items that a smaller panel may change.
    columns
        Numbers of the items, indexed by item, such as the first answer's length less the second's.
    first
        The verdict for the answer that is shown first; by default the lower of the two that are
        no tie.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("copycats", items=120, annotators=6, classes=2, random_state=1)
    >>> panel = look_at(coterie.QuickConsensus().fit(crowd.annotations).posterior_)
    >>> panel.judges.columns.tolist()
    ['judge', 'n_labels', 'right', 'low', 'high']
    """
    a = posterior.annotations
    told = None if truth is None else truth_for(a, truth)
    scored = None if told is None else score_beside_vote(posterior, told)
    score, vote = (None, None) if scored is None or not scored.own.items else scored
    known = _known_codes(a, told)
    classes = np.where(known < a.n_classes, known, -1)  # who errs together, given a class
    dependence = (
        known_dependence(posterior, classes)
        if np.count_nonzero(classes >= 0) >= ENOUGH
        else posterior.dependence(by="annotator")
    )
    first = first_class(a) if first is None else first
    return Panel(
        posterior=posterior,
        worth=effective_number(posterior),
        worth_known=effective_number(posterior, classes) if (classes >= 0).any() else None,
        judges=_judge_table(posterior, known),
        dependence=dependence.sort_values("dependence", ascending=False, kind="stable"),
        copies=copies(dependence),
        position=position_table(a, first),
        first=first,
        columns=None if columns is None else column_table(a, columns, first),
        kept=keep(posterior, known=known, prices=prices, tolerance=tolerance),
        trust=_trust_in(posterior),
        score=score,
        vote=vote,
    )


def _known_codes(a: Annotations, truth: pd.Series | None) -> LongArray:
    """Give the known class of each item, by gold or truth, -1 where neither says.

    A true label that is no class has a code beyond those of all answers.
    """
    known = a.codes.gold.astype(np.int64)
    if truth is not None:
        item = look_up(truth.index.to_numpy(), a.items)
        label = look_up(truth.to_numpy(), a.classes)
        told = np.full(a.n_items, -1, np.int64)
        told[item[item >= 0]] = np.where(label < 0, a.n_answers, label)[item >= 0]
        known = np.where(known < 0, told, known)
    return known


def _judge_table(posterior: Posterior, known: LongArray) -> pd.DataFrame:
    """Give how often each judge is right, by the model, and on known items."""
    people, a, codes = posterior.annotators(), posterior.annotations, posterior.annotations.codes
    table = pd.DataFrame(
        {
            "judge": people["annotator"],
            "n_labels": people["n_labels"],
            "right": people["accuracy"],
            "low": people.get("accuracy_low", np.nan),
            "high": people.get("accuracy_high", np.nan),
        }
    )
    if not (known >= 0).any():
        return table
    truth = known[codes.annotator_item]
    who = np.repeat(np.arange(a.n_annotators), a.labels_per_annotator)
    items = np.bincount(who[truth >= 0], minlength=a.n_annotators)
    hits = np.bincount(who[truth == codes.annotator_answer], minlength=a.n_annotators)
    share = np.divide(hits, items, out=np.full(len(items), np.nan), where=items > 0)
    low, high = chance_interval(pd.DataFrame({"items": items, "accuracy": share}))
    return table.assign(known=items, known_right=share, known_low=low, known_high=high)


def _trust_in(posterior: Posterior) -> Trust:
    """Gather what the probabilities, and the chains behind them, say."""
    labels, readings = posterior.labels(), posterior.readings()
    labels = labels[(labels["n_labels"] > 0) & (posterior.annotations.codes.gold < 0)]
    doubtful = labels[labels["probability"] < DOUBTFUL].sort_values("probability", kind="stable")
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
    one, other = (readings.iloc[:, k].to_numpy(float).clip(1e-6, 1 - 1e-6) for k in (2, 4))
    # The first reading says its label with p, the second's with at most 1 - p; and the other way.
    forth = one * np.log(one / (1 - other)) + (1 - one) * np.log((1 - one) / other)
    back = other * np.log(other / (1 - one)) + (1 - other) * np.log((1 - other) / one)
    moved = np.cumsum(np.sort(np.minimum(forth, back))[::-1])
    enough = int(np.searchsorted(moved, math.log(SETTLED))) + 1
    if enough <= len(moved):
        return enough
    return math.ceil(len(moved) * math.log(SETTLED) / max(float(moved[-1]), 1e-9))
