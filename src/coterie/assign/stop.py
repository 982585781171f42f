"""When to stop: which items are settled, which are not worth a label, which need an expert.

A few labels are looked ahead: one alone may change no label, and yet several may. Labels of one
item overlap, so that what one label in full would tell takes several. Of an item that has n labels
the next ones are worth ease / (1 + overlap n), ease / (1 + overlap (n + 1)), and so on, and as many
are needed as add up to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from coterie.arguments import checked
from coterie.assign.belief import (
    Belief,
    belief_of,
    expect_answers,
    usual_information,
    without_noise,
    worth_of,
)
from coterie.assign.draws import SHARED, own_spread, wrong_quantile
from coterie.assign.people import a_share, at_least_zero
from coterie.numeric import FloatArray
from coterie.posterior import Posterior
from coterie.words.numbers import be, count, tenths

SETTLED, ASK, LEAVE, EXPERT = DECISIONS = ("settled", "ask", "leave", "expert")
EXPERT_COST = 5.0
"""Labels that an expert's answer costs, unless the user says what it costs."""
KNOWN = 1e-6
"""A smaller share of wrong labels is that of known ones."""
SURE = 0.95
"""Probability of the risk statement."""
AHEAD, STATES = 5, 32
"""Labels in full that are looked ahead, and states of belief of one item that are told apart: with
two answers, all."""
FAR = 2**17
"""Labels beyond which none is counted on."""
AT_ONCE = 2**20
"""Numbers in the states of all items that are looked at together."""


@dataclass(frozen=True, eq=False)
class Stop:
    """What is done, what is not, and how wrong the whole may be.

    Parameters
    ----------
    items
        One row per item: item, label, probability, gain_per_label (expected, of the next labels of
        the best of these people), decision. "settled": the label is sure enough. "ask": another
        label is expected to gain more than it costs. "leave": it is not, and neither is an expert.
        "expert": it is not, but an expert's answer is worth its price.
    expected_wrong
        Share of the labels that is expected to be wrong.
    at_most_wrong
        Share that is not exceeded with probability 0.95, if annotators share no more mistakes than
        in other data: no label shows one that most of them make.
    shared_mistakes
        The deviation of what they may share, as it was given.
    price
        What a label costs in errors: those that it must be expected to prevent.
    """

    items: pd.DataFrame
    expected_wrong: float
    at_most_wrong: float
    shared_mistakes: float = SHARED
    price: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """Items of each decision."""
        found = self.items["decision"].value_counts()
        return {name: int(found.get(name, 0)) for name in DECISIONS}

    @property
    def sentence(self) -> str:
        """What it says, for a person."""
        if len(self.items) == 0:
            return "There are no items."
        done, (settled, ask, leave, expert) = "All items are settled", self.counts.values()
        if settled < len(self.items):
            done = (
                f"{settled:,} of {count(len(self.items), 'item')} {be(settled)} settled, {ask:,}"
                f" {be(ask)} worth another label, {leave:,} {be(leave)} not, {expert:,} should go"
                " to an expert"
            )
        unless = ", unless most annotators make the same mistake, which only true labels show"
        return (
            f"{done}; as they stand, {tenths(self.expected_wrong)} of the labels are expected to be"
            f" wrong, and at most {tenths(self.at_most_wrong)} with 95 % probability"
            f"{unless if self.shared_mistakes > 0 and self.at_most_wrong > KNOWN else ''}."
        )

    def __str__(self) -> str:
        return self.sentence


@checked
def stop(
    posterior: Posterior,
    target: float = 0.95,
    cost_of_error: float | None = None,
    cost_of_label: float | None = None,
    *,
    cost_of_expert: float | None = None,
    shared_mistakes: float = SHARED,
) -> Stop:
    """Say which items are settled, which are not worth another label, which need an expert.

    Parameters
    ----------
    posterior
        The result so far.
    target
        An item whose label has this probability is settled.
    cost_of_error, cost_of_label
        What a wrong label costs, and what asking for one costs. By default a label costs as much
        as one can at most be expected to gain for an item at the target: who calls that settled
        does not pay so much, and pays anything less.
    cost_of_expert
        What an answer costs that can be relied on; by default as much as five labels.
    shared_mistakes
        Standard deviation of the log odds by which all labels may be off together; 0 if annotators
        are known to share no mistakes.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=40, annotators=8, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> found = coterie.assign.stop(posterior, target=0.9)
    >>> sum(found.counts.values()), found.expected_wrong < found.at_most_wrong
    (40, True)
    """
    target = a_share(target)
    at_least_zero(
        cost_of_error=cost_of_error, cost_of_label=cost_of_label, cost_of_expert=cost_of_expert,
        shared_mistakes=shared_mistakes,
    )  # fmt: skip
    belief = belief_of(posterior)
    a, code = posterior.annotations, posterior.label_code
    known = a.codes.gold >= 0
    p = belief.items[np.arange(a.n_items), code] if a.n_classes else np.ones(a.n_items)
    labelled = a.labels_per_annotator > 0
    able = belief.matrix[:-1][labelled] if labelled.any() else belief.matrix[-1:]
    best = able[int(usual_information(posterior.class_balance, able).argmax())]
    gain = gain_per_label(belief, best)
    price, label, error = price_at(target, belief, best), cost_of_label, cost_of_error
    if error is None:  # what is not said follows from the rest
        error = 1.0 if label is None else label / max(price, 1e-12)
    label = error * price if label is None else label
    expert = EXPERT_COST * label if cost_of_expert is None else cost_of_expert
    decision = np.select(
        [known | (p >= target), gain * error > label, (1 - p) * error > expert],
        [SETTLED, ASK, EXPERT],
        LEAVE,
    )
    table = pd.DataFrame(
        {
            "item": a.items,
            "label": a.classes[code] if a.n_classes else np.full(a.n_items, None),
            "probability": p,
            "gain_per_label": gain,
            "decision": decision,
        }
    )
    expected = float((1 - p).mean()) if len(p) else 0.0
    spread = math.hypot(shared_mistakes, own_spread(posterior))
    at_most = wrong_quantile(p, SURE, spread)
    return Stop(table, expected, at_most, float(shared_mistakes), label / max(error, 1e-300))


def gain_per_label(belief: Belief, matrix: FloatArray, ahead: int = AHEAD) -> FloatArray:
    """Give the expected gain in accuracy per label of each item's next labels, at its best.

    Parameters
    ----------
    belief
        What is believed.
    matrix
        How those answer who would be asked, shape (classes, answers).
    ahead
        Labels in full to look ahead; the number of them that gains most per label counts.

    Returns
    -------
    Array of shape (items,).
    """
    n_items, n_classes = belief.items.shape
    gain = np.zeros(n_items)
    n, room = belief.n_labels, max(STATES, matrix.shape[1])
    told = np.cumsum(worth_of(np.arange(n.max(initial=0) + FAR), belief.overlap))
    told = np.append(0.0, told)  # by so many labels
    step = max(AT_ONCE // (room * max(n_classes, 1)), 1)
    for some in (slice(k, k + step) for k in range(0, n_items if n_classes > 1 else 0, step)):
        states, weights = belief.items[some, None], np.ones((len(gain[some]), 1))
        for k in range(ahead):
            states, weights = _spread(states, weights, matrix, room)
            after = (weights * states.max(axis=2)).sum(axis=1) - belief.items[some].max(axis=1)
            wanted = told[n[some]] + (k + 1 - 1e-9) / np.maximum(belief.ease[some], 1e-9)
            last = np.searchsorted(told, wanted)
            per_label = np.where(last < len(told), after / (last - n[some]), 0.0)
            gain[some] = np.maximum(gain[some], per_label)
    return without_noise(gain)


def _spread(
    states: FloatArray, weights: FloatArray, matrix: FloatArray, room: int
) -> tuple[FloatArray, FloatArray]:
    """Give what each item's states become with every answer, the most probable first.

    Where there is no room for all of them, the answers of the least probable states are left open,
    which keeps the mean of belief. Shapes are (items, states, classes) and (items, states).
    """
    n_items, n, n_classes = states.shape
    k = min(n, (room - n) // max(matrix.shape[1] - 1, 1))  # whose answers there is room for
    chance = expect_answers(states[:, :k], matrix)[..., None]
    ratio = np.divide(
        matrix.T, chance, out=np.ones((*chance.shape[:3], n_classes)), where=chance > 0
    )
    after = (states[:, :k, None] * ratio).reshape(n_items, -1, n_classes)
    weight = (weights[:, :k, None] * chance[..., 0]).reshape(n_items, -1)
    states, weights = np.hstack([after, states[:, k:]]), np.hstack([weight, weights[:, k:]])
    order = np.argsort(-weights, axis=1, kind="stable")
    return np.take_along_axis(states, order[..., None], 1), np.take_along_axis(weights, order, 1)


def price_at(target: float, belief: Belief, matrix: FloatArray) -> float:
    """Give the most that a label of an item at the target can gain: of one that has none yet.

    Whoever calls such an item settled does not pay so much for a label, and pays anything less.

    Parameters
    ----------
    target
        Probability of one class, whichever labels gain most for; the others share the rest.
    belief, matrix
        Those of :func:`gain_per_label`: how much labels of one item overlap.

    Examples
    --------
    >>> one = {"matrix": np.zeros((1, 2, 2)), "n_labels": np.zeros(1, int), "ease": np.ones(1)}
    >>> belief = Belief(items=np.full((1, 2), 0.5), overlap=0.0, **one)
    >>> [round(price_at(0.95, belief, np.array([[a, 1 - a], [1 - a, a]])), 4) for a in (0.9, 0.8)]
    [0.0155, 0.0061]
    >>> alike = replace(belief, overlap=0.5)
    >>> round(price_at(0.95, alike, np.array([[0.9, 0.1], [0.1, 0.9]])), 4)
    0.0103
    """
    n = len(matrix)
    if n < 2:
        return 0.0
    items = np.full((n, n), (1 - target) / (n - 1))
    np.fill_diagonal(items, target)
    ease = np.full(n, belief.ease.max(initial=0.0))
    lone = replace(belief, items=items, n_labels=np.zeros(n, np.int64), ease=ease)
    return float(gain_per_label(lone, matrix).max())
